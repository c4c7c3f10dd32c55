// Reading in this thread: what only looks in does not index first.
import { expect, test } from "vitest";
import { repeatableSurroundings } from "../../test/support/surroundings.js";
import { MemoryIndex } from "../engines/memory/index.js";
import { MemoryLog } from "../engines/memory/log.js";
import { noMask } from "../ports/mask.js";
import { LocalReading } from "./local.js";

const { randomBytes } = repeatableSurroundings();
const entry = (id: string) => ({
  ...{ kind: "error", recorded_at: "2026-11-15T06:39:37.123Z", recorded_by: "", salt: randomBytes(16) },
  ...{ body: Buffer.from(JSON.stringify({ id, error: "e" })), claims: [`id:${id}`] },
});

test("how many candidates wait is told from an index that is far behind as it stands, and from a near one as of now", async () => {
  const [log, index] = [new MemoryLog(), new MemoryIndex()];
  const reading = new LocalReading({ log, index, mask: noMask });
  const append = async (count: number, name: string): Promise<void> => {
    await log.append(Array.from({ length: count }, (_, nth) => [entry(`${name}-${nth}`)]));
  };
  await append(1, "first");
  expect(await reading.ask("pendingMemories")).toBe(0);
  await append(1_000, "few");
  expect(await reading.ask("pendingMemories")).toBe(0);
  expect(await index.checkpoint()).toBe(1_001);
  await append(1_001, "many");
  expect(await reading.ask("pendingMemories")).toBe(0);
  expect(await index.checkpoint()).toBe(1_001);
});
