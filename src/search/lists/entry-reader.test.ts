// Pages of entries: no more responses are held at once than fit, however many interactions a page has.
import { expect, test } from "vitest";
import { MemoryLog } from "../../engines/memory/log.js";
import { noMask } from "../../model/mask.js";
import { EntryReader } from "./entry-reader.js";

test("a page reads the responses that completed its interactions a few at a time, since each may be large", async () => {
  const log = new MemoryLog();
  const head = { recorded_at: "2026-11-15T06:39:37.123Z", recorded_by: "", salt: Buffer.alloc(16) };
  for (let at = 0; at < 100; at += 1) {
    const asked = Buffer.from(JSON.stringify({ id: `i${at}`, prompt: "p" }));
    const answered = Buffer.from(JSON.stringify({ id: `r${at}`, interaction_id: `i${at}`, response: "yes" }));
    await log.append([[{ ...head, kind: "interaction", body: asked, claims: [`id:i${at}`] }]]);
    await log.append([[{ ...head, kind: "response", body: answered, claims: [`id:r${at}`, `completes:i${at}`] }]]);
  }
  const read = log.getBodies.bind(log);
  const asked: number[] = [];
  log.getBodies = (positions, bytes_max) => {
    if (bytes_max === undefined) asked.push(positions.length);
    return read(positions, bytes_max);
  };
  const interactions = Array.from({ length: 100 }, (_, at) => at * 2 + 1);
  const { rows } = await new EntryReader({ log, mask: noMask }).page(interactions);
  expect(rows.map((row) => ("response_chars" in row ? row.response_chars : 0))).toEqual(interactions.map(() => 3));
  expect(Math.max(...asked)).toBeLessThanOrEqual(16);
});
