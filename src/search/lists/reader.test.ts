// The reader: pages that lead to everything once, interactions with their responses, and what is not there.
import { beforeEach, describe, expect, test } from "vitest";
import { fill } from "../../../test/support/fill-index.js";
import { type MemoryRecorder, memoryRecorder } from "../../../test/support/memory-recorder.js";
import { MemoryIndex } from "../../engines/memory/index.js";
import { MemoryLog } from "../../engines/memory/log.js";
import { noMask } from "../../model/mask.js";
import { EntryReader } from "./entry-reader.js";
import { Reader } from "./reader.js";

let recorder: MemoryRecorder["recorder"];

beforeEach(() => {
  ({ recorder } = memoryRecorder());
});

describe("pages", () => {
  test("reach everything exactly once, newest first, also while entries arrive", async () => {
    await record(25);
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await recorder.listInteractions({ limit: 4, cursor });
      seen.push(...page.interactions.map(({ id }) => id));
      cursor = page.next_cursor;
      await recorder.recordInteraction({ id: `late-${seen.length}`, prompt: "newer than the page" });
    } while (cursor !== null);
    expect(seen).toEqual(Array.from({ length: 25 }, (_, nth) => `i-${24 - nth}`));
  });

  test("end with null, also where the last page is full", async () => {
    await record(4);
    const first = await recorder.listInteractions({ limit: 2 });
    const second = await recorder.listInteractions({ limit: 2, cursor: first.next_cursor });
    expect([first.next_cursor === null, second.next_cursor]).toEqual([false, null]);
    expect(second.interactions.map(({ id }) => id)).toEqual(["i-1", "i-0"]);
  });

  test("of no rows are empty and the last", async () => {
    expect(await recorder.listInteractions()).toEqual({ interactions: [], next_cursor: null });
    await record(1);
    expect(await recorder.listEntries({ limit: 0 })).toEqual({ entries: [], next_cursor: null });
    expect(await recorder.listEntries({ limit: -3 })).toEqual({ entries: [], next_cursor: null });
    expect(await recorder.listEntries({ project: "nowhere" })).toEqual({ entries: [], next_cursor: null });
  });

  test("end early once they hold 16 MiB, and the cursor leads on", async () => {
    const text = "x".repeat(6 * 1024 * 1024);
    for (let nth = 0; nth < 7; nth += 1) await recorder.append({ kind: "error", id: `e-${nth}`, error: text });
    const pages: (readonly string[])[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await recorder.listEntries({ cursor });
      pages.push(page.entries.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(pages.flat()).toEqual(["e-6", "e-5", "e-4", "e-3", "e-2", "e-1", "e-0"]);
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages) expect(page.length).toBeLessThanOrEqual(3);
  });

  test("that are asked for with no filter hold every kind", async () => {
    await record(1);
    await recorder.append({ kind: "error", id: "e", error: "e" });
    expect((await recorder.listEntries()).entries.map(({ kind }) => kind)).toEqual(["error", "interaction"]);
    expect((await recorder.listEntries({ kind: "error" })).entries.map(({ id }) => id)).toEqual(["e"]);
    expect((await recorder.listInteractions()).interactions.map(({ id }) => id)).toEqual(["i-0"]);
  });
});

describe("an interaction that was completed later", () => {
  beforeEach(async () => {
    await recorder.recordInteraction({ id: "i", prompt: "p", project: "atlas", memories_used: ["m1"] });
    await recorder.recordInteraction({ id: "other", prompt: "p", project: "atlas" });
    await recorder.completeInteraction("i", { id: "r", response: "answer🙂", memories_used: ["m2"], model: "m" });
  });

  const completed = { id: "i", position: 1, memories_used: ["m1", "m2"], model: "m", response_id: "r" };

  test("has its response in every view", async () => {
    for (const id of ["i", "1", 1])
      expect(await recorder.getEntry(id)).toMatchObject({ ...completed, response: "answer🙂" });
    expect(await recorder.getInteraction("i")).toMatchObject({ ...completed, response: "answer🙂" });
    const { interactions } = await recorder.listInteractions();
    expect(interactions).toMatchObject([
      { id: "other", response_chars: 0 },
      { ...completed, response_chars: 7 },
    ]);
    const { entries } = await recorder.listEntries({ kind: "interaction" });
    expect(entries.find(({ id }) => id === "i")).toMatchObject({ ...completed, response_chars: 7 });
  });

  test("is found by what either named, and the response is not", async () => {
    for (const memory of ["m1", "m2"]) {
      const { interactions } = await recorder.listInteractions({ memory });
      expect(interactions.map(({ id }) => id)).toEqual(["i"]);
    }
  });

  test("keeps its place in the order, and the response is an entry of its own", async () => {
    const { entries } = await recorder.listEntries({ project: "atlas" });
    expect(entries.map(({ id }) => id)).toEqual(["r", "other", "i"]);
    expect(await recorder.getEntry("r")).toMatchObject({ kind: "response", interaction_id: "i", response: "answer🙂" });
  });
});

test("what is not there is undefined", async () => {
  await record(1);
  for (const id of ["nobody", "2", 2, 0, -1, 1.5, "", "99999999999999999999", "\ud800"]) {
    expect(await recorder.getEntry(id)).toBeUndefined();
  }
  await recorder.append({ kind: "error", id: "e", error: "e" });
  expect(await recorder.getInteraction("e")).toBeUndefined();
});

test("an erased entry is read as its envelope, and lists leave it out", async () => {
  class ErasedLog extends MemoryLog {
    override async get(positions: readonly number[]) {
      return (await super.get(positions)).map((stored) => {
        if (stored?.position !== 1) return stored;
        const { body: _, salt: __, ...rest } = stored;
        return rest;
      });
    }
  }
  const log = new ErasedLog();
  const index = new MemoryIndex();
  const entry = {
    kind: "error",
    recorded_at: "2026-11-15T06:39:37.123Z",
    recorded_by: "",
    salt: Buffer.alloc(16),
  };
  await log.append([
    ["a", "b"].map((id) => ({ ...entry, body: Buffer.from(JSON.stringify({ id })), claims: [`id:${id}`] })),
  ]);
  const row = { kind: "error", created_ms: 1, session_id: "", project: "", client: "", references: [] };
  await fill(index, { rows: [1, 2].map((position) => ({ ...row, position })), through: 2 });
  const reader = new Reader({ log, index, mask: noMask });
  const entries = new EntryReader({ log, mask: noMask });
  expect(await entries.getById("a")).toMatchObject({ id: "a", position: 1, erased: true });
  expect(await entries.getByPosition(1)).toMatchObject({ id: "", position: 1, erased: true });
  const page = await reader.listEntries({ filter: {}, limit: 10, fingerprint: "" });
  expect(page.entries.map(({ id }) => id)).toEqual(["b"]);
});

async function record(count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1)
    await recorder.recordInteraction({ id: `i-${nth}`, prompt: `prompt ${nth}` });
}
