// Capture: a repeated entry is acknowledged, other content under the same id is a conflict, and a batch is all or
// nothing.
import { beforeEach, describe, expect, test } from "vitest";
import { repeatableContext } from "../../../test/support/write-context.js";
import { MemoryLog } from "../../engines/memory/log.js";
import type { AppendOutcome, AppendUnit } from "../port.js";
import { Capture, type CapturedItem } from "./capture.js";
import { type Draft, type Packed, pack, parseDraft } from "./draft.js";
import { GroupCommit } from "./group-commit.js";

let log: MemoryLog;
let capture: Capture;

beforeEach(() => {
  log = new MemoryLog();
  capture = newCapture(log);
});

describe("the same entry again", () => {
  const entry = { kind: "interaction", id: "i", prompt: "p", memories_used: ["7"], context_pack: { a: 1, b: [2] } };

  test.each([
    ["the same content", entry],
    [
      "keys in another order",
      { context_pack: { b: [2], a: 1 }, prompt: "p", id: "i", memories_used: ["7"], kind: "interaction" },
    ],
    ["absent fields given as what they read as", { ...entry, response: "", chunks_used: [], usage: {}, model: null }],
    ["references that become the same text", { ...entry, memories_used: [7] }],
    ["labels given as empty", { ...entry, project: "", session_id: null }],
    ["an empty extra", { ...entry, extra: {} }],
  ])("with %s is acknowledged and stored once", async (_, again) => {
    const [first] = await captured([entry]);
    const [second] = await captured([again]);
    const { stored: _stored, ...receipt } = first as CapturedItem;
    expect(second).toEqual({ ...receipt, status: "already_recorded" });
    expect((await log.head()).position).toBe(1);
  });

  test.each([
    ["another prompt", { ...entry, prompt: "P" }],
    ["another kind", { kind: "error", id: "i", error: "p" }],
    ["one field more", { ...entry, model: "m" }],
    ["a project", { ...entry, project: "p" }],
    ["a time of its own", { ...entry, created_at: "2026-11-15" }],
    ["something extra", { ...entry, note: 1 }],
    ["references in another order", { ...entry, memories_used: ["7", "8"] }],
  ])("with %s is a conflict, and nothing is stored", async (_, other) => {
    await captured([entry]);
    expect(await capture.append([other])).toMatchObject({ code: "id_conflict", field: "id", index: 0 });
    expect((await log.head()).position).toBe(1);
  });

  test("with its time in another time zone is recognised", async () => {
    await captured([{ ...entry, created_at: "2026-11-15T06:39:37Z" }]);
    const [again] = await captured([{ ...entry, created_at: "2026-11-15 08:39:37.000+02:00" }]);
    expect(again).toMatchObject({ status: "already_recorded", created_at: "2026-11-15T06:39:37.000Z" });
  });

  test("with values that only JSON makes equal is recognised", async () => {
    const extra = { at: new Date(0), nothing: undefined };
    await captured([{ ...entry, extra }]);
    expect(await captured([{ ...entry, extra }])).toMatchObject([{ status: "already_recorded" }]);
    expect(await captured([{ ...entry, extra: { at: "1970-01-01T00:00:00.000Z" } }])).toMatchObject([
      { status: "already_recorded" },
    ]);
  });

  test("from many callers at once is stored once", async () => {
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await captured([entry]))[0]?.status));
    expect(statuses.toSorted()).toEqual([...new Array(19).fill("already_recorded"), "recorded"]);
    expect((await log.head()).position).toBe(1);
  });
});

describe("a batch", () => {
  const errorOf = (id: string | undefined, error = `error of ${id}`) => ({ kind: "error", id, error });

  test("is appended in order", async () => {
    const items = await captured(["a", "b", "c"].map((id) => errorOf(id)));
    expect(items.map(({ id, position, status }) => [id, position, status])).toEqual([
      ["a", 1, "recorded"],
      ["b", 2, "recorded"],
      ["c", 3, "recorded"],
    ]);
  });

  test("with an invalid item is refused as a whole, and the answer says which item", async () => {
    const batch = [errorOf("a"), errorOf("b"), { kind: "error", error: 5 }, { kind: "verdict" }];
    expect(await capture.append(batch)).toMatchObject({ code: "field_invalid", field: "error", index: 2 });
    expect((await log.head()).position).toBe(0);
    expect(await log.find(["id:a"])).toEqual([undefined]);
  });

  test("with an item that cannot be written as JSON is refused as a whole", async () => {
    const batch = [errorOf("a"), { kind: "tool_call", tool: "t", result: 1n }];
    expect(await capture.append(batch)).toMatchObject({ code: "field_invalid", index: 1 });
    expect((await log.head()).position).toBe(0);
  });

  test("with an item that conflicts is refused as a whole", async () => {
    await captured([errorOf("b")]);
    const refused = await capture.append([errorOf("a"), errorOf("b", "other"), errorOf("c")]);
    expect(refused).toMatchObject({ code: "id_conflict", index: 1 });
    expect((await log.head()).position).toBe(1);
    expect(await log.find(["id:a", "id:c"])).toEqual([undefined, undefined]);
  });

  test("sent again is acknowledged; if entries were added, only those are new", async () => {
    await captured([errorOf("a"), errorOf("c")]);
    const items = await captured([errorOf("a"), errorOf("b"), errorOf("c"), errorOf("d")]);
    expect(items.map(({ position, status }) => [position, status])).toEqual([
      [1, "already_recorded"],
      [3, "recorded"],
      [2, "already_recorded"],
      [4, "recorded"],
    ]);
  });

  test("may contain an id twice with the same content, and stores it once", async () => {
    const items = await captured([errorOf("a"), errorOf("b"), errorOf("a")]);
    expect(items.map(({ id, position, status }) => [id, position, status])).toEqual([
      ["a", 1, "recorded"],
      ["b", 2, "recorded"],
      ["a", 1, "already_recorded"],
    ]);
    expect((await log.head()).position).toBe(2);
  });

  test("that contains an id twice with different content is a conflict", async () => {
    expect(await capture.append([errorOf("a"), errorOf("a", "other")])).toMatchObject({
      code: "id_conflict",
      index: 1,
    });
    expect((await log.head()).position).toBe(0);
  });

  test("stores equal entries without an id as often as they are sent", async () => {
    const items = await captured([errorOf(undefined), errorOf(undefined)]);
    expect(items.map(({ status }) => status)).toEqual(["recorded", "recorded"]);
    expect(new Set(items.map(({ id }) => id)).size).toBe(2);
  });

  test("continues if another caller takes one of its ids meanwhile", async () => {
    const racing = new RacingLog([errorOf("b"), errorOf("c")]);
    const items = await newCapture(racing).append([errorOf("a"), errorOf("b"), errorOf("c")]);
    expect(items).toMatchObject([
      { id: "a", status: "recorded" },
      { id: "b", status: "already_recorded" },
      { id: "c", status: "already_recorded" },
    ]);
  });
});

describe("completing an interaction", () => {
  const asked = { kind: "interaction", id: "i", prompt: "p", session_id: "s", project: "atlas", client: "cli" };
  const answer = { kind: "response", interaction_id: "i", response: "r" };

  test("inherits session, project and client, whatever the caller gives", async () => {
    await captured([asked]);
    await captured([{ ...answer, session_id: "other", project: "other" }]);
    const [, stored] = await log.read({ after: 0, limit: 10 });
    expect(JSON.parse(Buffer.from(stored?.body ?? []).toString())).toMatchObject({
      session_id: "s",
      project: "atlas",
      client: "cli",
      response: "r",
    });
  });

  test("that does not exist is refused", async () => {
    await captured([{ kind: "error", id: "e", error: "e" }]);
    for (const interaction_id of ["i", "e", "", "\ud800"]) {
      expect(await capture.append([{ ...answer, interaction_id }])).toMatchObject({
        code: "interaction_not_found",
        field: "interaction_id",
        index: 0,
      });
    }
  });

  test("twice is refused, unless the content is the same", async () => {
    await captured([asked]);
    const [first] = await captured([answer]);
    expect(await captured([answer])).toMatchObject([{ status: "already_recorded", id: first?.id, position: 2 }]);
    expect(await capture.append([{ ...answer, response: "R" }])).toMatchObject({ code: "already_completed", index: 0 });
    expect((await log.head()).position).toBe(2);
  });

  test("is refused if it was recorded with a response", async () => {
    await captured([{ ...asked, response: "there already" }]);
    expect(await capture.append([answer])).toMatchObject({ code: "already_completed" });
  });

  test("with the id of another entry is an id conflict", async () => {
    await captured([asked, { kind: "error", id: "e", error: "e" }]);
    expect(await capture.append([{ ...answer, id: "e" }])).toMatchObject({ code: "id_conflict" });
  });

  test("works in the batch that records it, if it comes later", async () => {
    expect(await capture.append([answer, asked])).toMatchObject({ code: "interaction_not_found", index: 0 });
    expect(await captured([asked, answer])).toMatchObject([{ position: 1 }, { position: 2 }]);
    expect(await captured([asked, answer])).toMatchObject([
      { status: "already_recorded" },
      { status: "already_recorded" },
    ]);
  });

  test("twice in one batch stores one, or is refused if they differ", async () => {
    await captured([asked]);
    expect(await capture.append([answer, { ...answer, response: "R" }])).toMatchObject({
      code: "already_completed",
      index: 1,
    });
    expect(await captured([answer, answer])).toMatchObject([{ status: "recorded" }, { status: "already_recorded" }]);
  });

  test("by many callers at once with different answers has one winner", async () => {
    await captured([asked]);
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, nth) => capture.append([{ ...answer, response: `answer ${nth}` }])),
    );
    expect(outcomes.filter((outcome) => Array.isArray(outcome))).toHaveLength(1);
    expect(outcomes.filter((outcome) => "code" in outcome && outcome.code === "already_completed")).toHaveLength(9);
  });
});

describe("number of JSON values", () => {
  const wide = (values: number) => ({ kind: "tool_call", tool: "t", result: Array<number>(values - 3).fill(0) });

  test("in an entry is limited, wherever they are", async () => {
    expect(await capture.record(wide(250_000))).toMatchObject([{ status: "recorded" }]);
    expect(await capture.record(wide(250_001))).toMatchObject({ code: "too_many_values" });
    expect(await capture.record([wide(9), wide(250_001)])).toMatchObject({ code: "too_many_values", index: 1 });
    const [nested, once] = [Array<object>(500).fill({ a: Array<number>(500).fill(0) }), new Date()];
    expect(await capture.record({ ...wide(9), nested })).toMatchObject({ code: "too_many_values" });
    expect(await capture.record({ ...wide(250_000), once })).toMatchObject({ code: "too_many_values" });
  });

  test("in one append is limited, and nothing of it is stored", async () => {
    const batch = Array.from({ length: 5 }, () => wide(200_000));
    expect(await capture.record([...batch, wide(9)])).toMatchObject({ code: "too_many_values" });
    expect((await log.head()).position).toBe(0);
    expect(await capture.record(batch)).toHaveLength(5);
  });
});

test("a batch of thousands yields to other work, and is stored as it was when it was given", async () => {
  const batch: object[] = Array.from({ length: 20_000 }, (_, nth) => ({ kind: "error", error: `e ${nth}` }));
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const recording = capture.record(batch);
  batch.push({ kind: "error", error: "too late" });
  expect(await recording).toHaveLength(20_000);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);
});

test("the id of an erased entry stays taken: acknowledged, nothing stored", async () => {
  class ErasedLog extends MemoryLog {
    override async getBodies(positions: readonly number[]) {
      return (await super.getBodies(positions)).map((stored) => {
        if (stored === undefined) return undefined;
        const { body: _, ...rest } = stored;
        return rest;
      });
    }
  }
  const erased = new ErasedLog();
  const capturing = newCapture(erased);
  await capturing.append([{ kind: "error", id: "e", error: "secret" }]);
  const again = await capturing.append([{ kind: "error", id: "e", error: "something else" }]);
  expect(again).toMatchObject([{ status: "already_recorded", id: "e", position: 1 }]);
  expect((await erased.head()).position).toBe(1);
});

/** A log to which another process appends an entry right before each of our first attempts. */
class RacingLog extends MemoryLog {
  readonly #others: object[];

  constructor(others: readonly object[]) {
    super();
    this.#others = [...others];
  }

  override async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    const other = this.#others.shift();
    if (other !== undefined) {
      const { entry } = pack(parseDraft(other) as Draft, repeatableContext(1)) as Packed;
      await super.append([[entry]]);
    }
    return super.append(units);
  }
}

function newCapture(to: MemoryLog): Capture {
  return new Capture({ log: to, commit: new GroupCommit(to), writeContext: repeatableContext() });
}

async function captured(inputs: readonly unknown[]) {
  const items = await capture.append(inputs);
  if ("code" in items) throw new Error(`refused: ${items.message}`);
  return items;
}
