// Reading in this thread: some questions do not index first, and texts are indexed in addition to rows.
import { expect, test } from "vitest";
import { repeatableContext } from "../../test/support/write-context.js";
import { MemoryIndex } from "../engines/memory/index.js";
import { MemoryLog } from "../engines/memory/log.js";
import { noMask } from "../model/mask.js";
import { calls as callTable } from "../operations/calls.js";
import { readersOf } from "../operations/readers.js";
import { bindCalls } from "./call-table.js";
import { LocalReading } from "./local-reading.js";

const { randomBytes } = repeatableContext();
const entry = (id: string) => ({
  kind: "error",
  recorded_at: "2026-11-15T06:39:37.123Z",
  recorded_by: "",
  salt: randomBytes(16),
  body: Buffer.from(JSON.stringify({ id, error: "e" })),
  claims: [`id:${id}`],
});

function openReading(parts: { readonly log: MemoryLog; readonly index: MemoryIndex }) {
  const reading = new LocalReading({ ...parts, mask: noMask, calls: callTable, readersOf });
  return { reading, calls: bindCalls(callTable, (name, query) => reading.ask(name, query)) };
}

test("the number of waiting candidates comes from an index far behind as it is, and from a near one after it catches up", async () => {
  const [log, index] = [new MemoryLog(), new MemoryIndex()];
  const { calls } = openReading({ log, index });
  const append = async (count: number, name: string): Promise<void> => {
    await log.append(Array.from({ length: count }, (_, nth) => [entry(`${name}-${nth}`)]));
  };
  await append(1, "first");
  expect(await calls.pendingMemories()).toBe(0);
  await append(1_000, "few");
  expect(await calls.pendingMemories()).toBe(0);
  expect(await index.checkpoint()).toBe(1_001);
  await append(1_001, "many");
  expect(await calls.pendingMemories()).toBe(0);
  expect(await index.checkpoint()).toBe(1_001);
});

test("texts get their turn while there are always new rows", async () => {
  const [log, index] = [new MemoryLog(), new MemoryIndex()];
  const { reading } = openReading({ log, index });
  for (let turn = 0; turn < 20; turn += 1) {
    await log.append(Array.from({ length: 50 }, (_, nth) => [entry(`e-${turn}-${nth}`)]));
    await reading.indexStep();
  }
  expect(await index.checkpoint()).toBe(1_000);
  expect(await index.textCheckpoint()).toBeGreaterThan(900);
});
