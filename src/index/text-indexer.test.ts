// The text indexer: every text once and in order, never ahead of the rows, and again from where the index says.
import { beforeEach, expect, test } from "vitest";
import { repeatableContext } from "../../test/support/write-context.js";
import { MemoryIndex } from "../engines/memory/index.js";
import { MemoryLog } from "../engines/memory/log.js";
import { Indexer, TextIndexer } from "./indexer.js";
import type { EntryTexts } from "./port.js";

/** Holds texts back until told to write them, as an engine may. */
class HoldingIndex extends MemoryIndex {
  readonly given: number[] = [];
  held = 0;
  merges = 0;
  answer: number | undefined;
  override async applyTexts(batch: { readonly texts: readonly EntryTexts[]; readonly through: number }) {
    this.given.push(...batch.texts.map(({ position }) => position));
    const { answer } = this;
    this.answer = undefined;
    this.held = answer ?? batch.through;
    return this.held;
  }
  async mergeTexts(): Promise<boolean> {
    this.merges += 1;
    await super.applyTexts({ texts: [], through: this.held });
    return true;
  }
}

let log: MemoryLog;
let index: HoldingIndex;
let rows: Indexer;
let texts: TextIndexer;
/** It advances by this much with every call. */
const LOOK_MS = 5;

beforeEach(() => {
  log = new MemoryLog();
  index = new HoldingIndex();
  rows = new Indexer({ log, index });
  let now = 0;
  texts = new TextIndexer({ log, index, nowMs: () => (now += LOOK_MS) });
});

test("texts are given in order and once, though the index holds them back", async () => {
  await append(300);
  await rows.catchUp();
  await texts.catchUp();
  expect(index.given).toEqual(Array.from({ length: 300 }, (_, at) => at + 1));
  expect(await texts.step()).toBe(false);
});

test("what the index holds back is written as soon as there is nothing left to give, and once", async () => {
  await append(300);
  await rows.catchUp();
  while (index.given.length < 300) {
    expect(await texts.step()).toBe(true);
    expect(index.merges).toBe(0);
  }
  for (let nth = 0; nth < 3; nth += 1) expect(await texts.step()).toBe(false);
  expect(index.merges).toBe(1);
  expect(await index.textCheckpoint()).toBe(300);
});

test("texts of entries without a row yet are not given", async () => {
  await append(5);
  expect(await texts.step()).toBe(false);
  await rows.catchUp();
  await append(5);
  await texts.catchUp();
  expect(index.given).toEqual([1, 2, 3, 4, 5]);
});

test("where the index goes back, the texts are given again from there", async () => {
  await append(5);
  await rows.catchUp();
  index.answer = 2;
  await texts.catchUp();
  expect(index.given).toEqual([1, 2, 3, 4, 5, 3, 4, 5]);
});

test("steps that are asked for at the same time are one", async () => {
  await append(100);
  await rows.catchUp();
  await Promise.all([texts.catchUp(), texts.catchUp(), texts.help()]);
  expect(index.given).toHaveLength(100);
});

test("a search helps only where much is missing, and only for a while", async () => {
  await append(50);
  await rows.catchUp();
  await texts.help();
  expect(index.given).toEqual([]);
  await append(450);
  await rows.catchUp();
  await texts.help();
  // One step of 128 entries keeps up with those who record.
  expect(index.given).toHaveLength(128);
  await append(9_000);
  await rows.catchUp();
  await texts.help();
  // That one and twelve more.
  expect(index.given).toHaveLength(1_664);
});

async function append(count: number): Promise<void> {
  const { randomBytes } = repeatableContext();
  const { position } = await log.head();
  const units = Array.from({ length: count }, (_, at) => {
    const id = `e-${position + at}`;
    const body = Buffer.from(JSON.stringify({ id, error: `error ${at}` }));
    const salt = randomBytes(16);
    const recorded_at = "2026-11-15T06:39:37.123Z";
    return [{ kind: "error", recorded_at, recorded_by: "", salt, body, claims: [`id:${id}`] }];
  });
  await log.append(units);
}
