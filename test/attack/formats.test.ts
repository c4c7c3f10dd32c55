// Nobody makes an entry look as if it were of the first format, whose hash covers neither claims nor who brought it.
import { describe, expect, test } from "vitest";
import type { StoredEntry } from "../../src/log/port.js";
import { verify } from "../../src/log/verify.js";
import { chainHash } from "../../src/model/chain.js";
import { newEntries, newEntry } from "../conformance/suites/log-entries.js";
import { type AttackedLog, attackedEngines, engineNames } from "./attacked-log.js";

async function recorded(engine: (typeof engineNames)[number]): Promise<AttackedLog> {
  const attacked = await attackedEngines[engine]();
  await attacked.log.append([[newEntry("first", { recorded_by: "key-1" }), ...newEntries("entry", 2)]]);
  expect(await verify(attacked.log)).toMatchObject({ ok: true, entries: 3 });
  return attacked;
}

describe.each(engineNames)("on %s verify finds", (engine) => {
  test.each([
    ["an entry without who brought it and what it claims", 2, "recorded_by = NULL, claims_digest = NULL"],
    ["an entry without who brought it", 2, "recorded_by = NULL"],
    ["an entry without what it claims", 2, "claims_digest = NULL"],
    ["another one who brought it", 1, "recorded_by = 'key-2'"],
    ["no recorder named", 1, "recorded_by = ''"],
  ])("%s", async (_, position, change) => {
    const attacked = await recorded(engine);
    await attacked.edit(`UPDATE {entries} SET ${change} WHERE position = ${position}`);
    expect(await verify(attacked.log)).toMatchObject({ ok: false, position });
  });

  test("other bytes in the place of what it claims", async () => {
    const attacked = await recorded(engine);
    const digest = attacked.bytes(Buffer.alloc(32, 1));
    await attacked.edit(`UPDATE {entries} SET claims_digest = ${digest} WHERE position = 3`);
    expect(await verify(attacked.log)).toMatchObject({ ok: false, position: 3 });
  });

  test("the newest entry in the first format with a hash that fits", async () => {
    const attacked = await recorded(engine);
    const [before, last] = (await attacked.log.get([2, 3])) as [StoredEntry, StoredEntry];
    const older = { ...last, recorded_by: undefined, claims_digest: undefined, previous: before.hash };
    const hash = attacked.bytes(chainHash(older));
    await attacked.edit(`UPDATE {entries} SET recorded_by = NULL, claims_digest = NULL, hash = ${hash}
      WHERE position = 3`);
    const reason = expect.stringMatching(/older format/);
    expect(await verify(attacked.log)).toMatchObject({ ok: false, position: 3, reason });
  });

  test("and the database itself takes no entry of the first format any more", async () => {
    const attacked = await recorded(engine);
    const row = `(4, 'error', '', ${attacked.bytes(Buffer.alloc(32))}, ${attacked.bytes(Buffer.alloc(32))})`;
    const insert = `INSERT INTO {entries} (position, kind, recorded_at, commitment, hash) VALUES ${row}`;
    await expect(attacked.execute(insert)).rejects.toThrow("older format");
  });
});
