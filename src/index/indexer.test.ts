// The indexer: every entry once and in order, in bounded batches, past erased and damaged ones.
import { beforeEach, describe, expect, test } from "vitest";
import { fill } from "../../test/support/fill-index.js";
import { repeatableContext } from "../../test/support/write-context.js";
import { MemoryIndex } from "../engines/memory/index.js";
import { MemoryLog } from "../engines/memory/log.js";
import type { LogEntry } from "../log/port.js";
import { Indexer } from "./indexer.js";
import type { IndexBatch } from "./port.js";

class CountingIndex extends MemoryIndex {
  readonly batches: number[] = [];
  override apply(batch: IndexBatch): Promise<boolean> {
    this.batches.push(batch.rows.length);
    return super.apply(batch);
  }
}

let log: MemoryLog;
let index: CountingIndex;
let indexer: Indexer;

beforeEach(() => {
  log = new MemoryLog();
  index = new CountingIndex();
  indexer = new Indexer({ log, index });
});

test("a step applies one batch, and says when there was nothing left", async () => {
  expect(await indexer.step()).toBe(false);
  await append(errors(3));
  expect(await indexer.step()).toBe(true);
  expect(await indexer.step()).toBe(false);
  expect(await index.checkpoint()).toBe(3);
});

test("batches are bounded in entries", async () => {
  await append(errors(6_000));
  await indexer.catchUp();
  expect(Math.max(...index.batches)).toBeLessThanOrEqual(2_000);
  expect(await index.count()).toMatchObject({ entries: 6_000 });
});

test("batches are bounded in bytes", async () => {
  const large = Array.from({ length: 12 }, (_, nth) => bodyOf({ id: `e-${nth}`, error: "x".repeat(1_500_000) }));
  await append(large);
  await indexer.catchUp();
  expect(Math.max(...index.batches)).toBeLessThanOrEqual(6);
  expect(await positions()).toHaveLength(large.length);
});

test("a log that claims more than it holds is a fault, not a wait without end", async () => {
  await append(errors(2));
  const { position, ...head } = await log.head();
  log.head = async () => ({ ...head, position: position + 1 });
  await expect(indexer.catchUp()).rejects.toMatchObject({ code: "store_corrupt" });
});

test("catching up reaches what is in the log now, and applies nothing twice", async () => {
  await append(errors(5));
  await Promise.all([indexer.catchUp(), indexer.catchUp(), indexer.catchUp()]);
  expect(await index.count()).toMatchObject({ entries: 5 });
  const before = index.batches.length;
  await indexer.catchUp();
  expect(index.batches).toHaveLength(before);
});

test("it goes on where another instance stopped", async () => {
  await append(errors(4));
  await indexer.catchUp();
  await append(errors(3, 4));
  await new Indexer({ log, index }).catchUp();
  expect(await positions()).toEqual([7, 6, 5, 4, 3, 2, 1]);
});

test("a response counts for its interaction, in whichever batch either comes", async () => {
  await append([bodyOf({ id: "i-1", prompt: "p" }, "interaction"), bodyOf({ id: "i-2", prompt: "p" }, "interaction")]);
  await indexer.catchUp();
  await append([
    bodyOf({ id: "r-1", interaction_id: "i-1", memories_used: ["m"] }, "response"),
    bodyOf({ id: "i-3", prompt: "p" }, "interaction"),
    bodyOf({ id: "r-3", interaction_id: "i-3", memories_used: ["m"] }, "response"),
  ]);
  await indexer.catchUp();
  const used = await index.list({ filter: { references: [{ what: "memory", reference: "m" }] }, limit: 10 });
  expect(used.map(({ position }) => position).toSorted()).toEqual([1, 4]);
});

describe("what is known of sessions from the batch before", () => {
  const said = (id: string, title: string): LogEntry => bodyOf({ id, session_id: "s", title }, "session_info");
  const titleOf = async (): Promise<unknown> => {
    const [session] = await index.getDocuments({ collection: "sessions", keys: ["s"] });
    return session?.body.title;
  };

  test("is not read again until another process advances the index", async () => {
    let reads = 0;
    class ReadIndex extends MemoryIndex {
      override getDocuments(query: Parameters<MemoryIndex["getDocuments"]>[0]) {
        if (query.keys.length > 0) reads += 1;
        return super.getDocuments(query);
      }
    }
    indexer = new Indexer({ log, index: new ReadIndex() });
    for (const id of ["a", "b", "c"]) {
      await append([said(id, id)]);
      await indexer.catchUp();
    }
    // Once for the session, and once for the outlines in this range of positions.
    expect(reads).toBe(2);
  });

  test("is read again once another process has moved it on", async () => {
    const other = new Indexer({ log, index });
    for (const [at, id] of ["a", "b", "c", "d", "e"].entries()) {
      await append([said(id, id), bodyOf({ id: `${id}-more`, session_id: "s", error: "e" })]);
      await (at % 2 === 0 ? indexer : other).catchUp();
    }
    expect(await titleOf()).toBe("e");
    const [session] = await index.getDocuments({ collection: "sessions", keys: ["s"] });
    expect(session?.body.by_kind).toEqual({ session_info: 5, error: 5 });
  });

  test("is dropped if the batch was skipped, because another process may have known less", async () => {
    await append([said("a", "forgotten meanwhile")]);
    let isLate = false;
    class LateIndex extends MemoryIndex {
      override async apply(batch: IndexBatch): Promise<boolean> {
        if (batch.put?.[0]?.body.title === "forgotten meanwhile") {
          // Another process, which has read the log after the entry was erased, gets ahead.
          await super.apply({ after: batch.after, rows: [], through: batch.through });
          isLate = true;
        }
        return super.apply(batch);
      }
    }
    const shared = new LateIndex();
    indexer = new Indexer({ log, index: shared });
    await indexer.catchUp();
    expect(isLate).toBe(true);
    await append([bodyOf({ id: "b", session_id: "s", error: "e" })]);
    await indexer.catchUp();
    const [session] = await shared.getDocuments({ collection: "sessions", keys: ["s"] });
    expect(session?.body).toMatchObject({ title: "", by_kind: { error: 1 } });
  });
});

test("an erased entry has no row, and the index follows past it", async () => {
  class ErasedLog extends MemoryLog {
    override async read(range: Parameters<MemoryLog["read"]>[0]) {
      return (await super.read(range)).map((stored) => {
        if (stored.position !== 2 && stored.position !== 3) return stored;
        const { body: _, salt: __, ...rest } = stored;
        return rest;
      });
    }
  }
  log = new ErasedLog();
  indexer = new Indexer({ log, index });
  await append(errors(3));
  await indexer.catchUp();
  expect(await positions()).toEqual([1]);
  expect(await index.checkpoint()).toBe(3);
});

describe("an index that was made from", () => {
  const startsOver = async (log_id: string, hash: string): Promise<boolean> => {
    await append(errors(3));
    const row = { kind: "error", created_ms: 1, session_id: "", project: "", client: "", references: [] };
    await fill(index, { rows: [{ ...row, position: 1 }], through: 2, source: { log_id, position: 2, hash } });
    await indexer.catchUp();
    // Of the first two only one had a row; starting over brings the other.
    return (await positions()).length === (await log.head()).position;
  };

  test("this log as it is now is kept", async () => {
    await append(errors(2, 10));
    const { log_id, hash } = await log.head();
    expect(await startsOver(log_id, Buffer.from(hash).toString("hex"))).toBe(false);
  });

  test("another log is started over", async () => {
    await append(errors(2, 10));
    const { hash } = await log.head();
    expect(await startsOver("another", Buffer.from(hash).toString("hex"))).toBe(true);
  });

  test("this log as it was before it was put back is started over", async () => {
    const { log_id } = await log.head();
    expect(await startsOver(log_id, "00")).toBe(true);
  });

  test("this log, and is being filled by another process at this very moment, is kept", async () => {
    let resets = 0;
    class BusyIndex extends MemoryIndex {
      /** Between any two calls another process has applied one more entry. */
      async #advance(): Promise<void> {
        const after = await super.revision();
        const [next] = await log.read({ after: after.position, limit: 1 });
        if (next === undefined) return;
        const { log_id } = await log.head();
        const source = { log_id, position: next.position, hash: Buffer.from(next.hash).toString("hex") };
        await super.apply({ after, rows: [], through: next.position, source });
      }
      override async source() {
        const source = await super.source();
        await this.#advance();
        return source;
      }
      override async checkpoint() {
        const checkpoint = await super.checkpoint();
        await this.#advance();
        return checkpoint;
      }
      override async reset() {
        resets += 1;
        await super.reset();
      }
    }
    await append(errors(20));
    const busy = new BusyIndex();
    await busy.source();
    await new Indexer({ log, index: busy }).catchUp();
    expect(resets).toBe(0);
  });
});

describe("a damaged body keeps no other entry out of the lists:", () => {
  test.each([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["no id", '{"error":"e"}'],
    ["a time that is none", '{"id":"e-1","created_at":"9999999"}'],
    ["a time that is no text", '{"id":"e-1","created_at":5}'],
    ["a label that is no text", '{"id":"e-1","project":{"a":1}}'],
    ["references that are no list", '{"id":"e-1","memories_used":5}'],
    ["references that are no texts", '{"id":"e-1","memories_used":[{},null]}'],
  ])("%s", async (_, text) => {
    const [first, , last] = errors(3) as [LogEntry, LogEntry, LogEntry];
    await append([first, withBody("e-1", Buffer.from(text), "interaction"), last]);
    await indexer.catchUp();
    expect(await index.checkpoint()).toBe(3);
    const kept = await positions();
    expect(kept).toEqual(expect.arrayContaining([1, 3]));
    for (const { created_ms } of await index.list({ filter: {}, limit: 10 }))
      expect(created_ms).toEqual(expect.any(Number));
  });
});

test("a fault of the log stops the indexer loudly", async () => {
  class BrokenLog extends MemoryLog {
    override read(): never {
      throw new Error("the disk is gone");
    }
  }
  log = new BrokenLog();
  await append(errors(1));
  await expect(new Indexer({ log, index }).catchUp()).rejects.toThrow("the disk is gone");
  expect(await index.checkpoint()).toBe(0);
});

function errors(count: number, from = 0): readonly LogEntry[] {
  return Array.from({ length: count }, (_, nth) => bodyOf({ id: `e-${from + nth}`, error: "e" }));
}

function bodyOf(body: { readonly id: string; readonly [field: string]: unknown }, kind = "error"): LogEntry {
  return withBody(body.id, Buffer.from(JSON.stringify(body)), kind);
}

const writeContext = repeatableContext();

function withBody(id: string, body: Uint8Array, kind: string): LogEntry {
  const salt = writeContext.randomBytes(16);
  const recorded_at = new Date(writeContext.nowMs()).toISOString();
  return { kind, recorded_at, recorded_by: "", salt, body, claims: [`id:${id}`] };
}

async function append(entries: readonly LogEntry[]): Promise<void> {
  await log.append([entries]);
}

async function positions(): Promise<readonly number[]> {
  return (await index.list({ filter: {}, limit: 1_000 })).map(({ position }) => position);
}
