// Altered bodies are noted, whatever log they are read from.
import { expect, test } from "vitest";
import { AlteredNote, notingAltered } from "./altered-note.js";
import type { EntryLog } from "./port.js";

test("a frozen log notes its altered bodies too, and has what it had", async () => {
  const bare = { read: async () => [{ position: 7, flaw: "hash" }, undefined], head: async () => ({ position: 9 }) };
  const note = new AlteredNote();
  const log = notingAltered(Object.freeze(bare) as unknown as EntryLog, note);
  expect(note.position).toBeUndefined();
  await log.read({ after: 0, limit: 10 } as never);
  expect(note.position).toBe(7);
  expect(await log.head()).toEqual({ position: 9 });
  expect(["read" in log, "erase" in log]).toEqual([true, false]);
});
