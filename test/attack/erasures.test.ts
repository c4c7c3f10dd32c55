// What was erased stays erased and stays told; what the log wrote about itself is never erased. On every engine alike.
import { describe, expect, test } from "vitest";
import { verify } from "../../src/log/verify.js";
import { newEntry } from "../conformance/suites/log-entries.js";
import { type AttackedLog, attackedEngines, engineNames } from "./attacked-log.js";

const body = Buffer.from('{"id":"gone","error":"to be forgotten"}');
const gone = newEntry("gone", { body });
const audit = newEntry("audit", { kind: "audit", body: Buffer.from('{"id":"audit","action":"forget","actor":"a"}') });
const redaction = (id: string, positions: readonly number[]) =>
  newEntry(id, { kind: "redaction", body: Buffer.from(JSON.stringify({ id, positions })) });

/** Entry 1 was erased by 3; 4 is the audit entry about it. */
async function forgotten(engine: (typeof engineNames)[number]): Promise<AttackedLog> {
  const attacked = await attackedEngines[engine]();
  await attacked.log.append([[gone, newEntry("kept")]]);
  await attacked.log.append([[redaction("redaction", [1]), audit], [newEntry("later")]]);
  expect(await verify(attacked.log)).toMatchObject({ ok: true, entries: 5, erased: 1 });
  return attacked;
}

describe.each(engineNames)("on %s verify finds", (engine) => {
  test.each([
    ["a note of an erasure that never was", 2, "INSERT INTO {erasures} (position, redaction) VALUES (2, 3)"],
    ["one of the newest entry", 5, "INSERT INTO {erasures} (position, redaction) VALUES (5, 3)"],
    ["one by a redaction that is still to come", 2, "INSERT INTO {erasures} (position, redaction) VALUES (2, 9)"],
    ["one by an entry that is no redaction", 2, "INSERT INTO {erasures} (position, redaction) VALUES (2, 4)"],
    ["one behind the last entry", 9, "INSERT INTO {erasures} (position, redaction) VALUES (9, 3)"],
    ["one before the first entry", 0, "INSERT INTO {erasures} (position, redaction) VALUES (0, 3)"],
    ["a note deleted", 1, "DELETE FROM {erasures}"],
    ["a note of another redaction", 1, "UPDATE {erasures} SET redaction = 4"],
    ["an audit entry without its body", 4, "DELETE FROM {bodies} WHERE position = 4"],
    ["a redaction without its body", 1, "DELETE FROM {bodies} WHERE position = 3"],
  ])("%s", async (_, position, sql) => {
    const attacked = await forgotten(engine);
    await attacked.edit(sql);
    expect(await verify(attacked.log)).toMatchObject({ ok: false, position });
  });

  test("an erased body that was put back", async () => {
    const attacked = await forgotten(engine);
    const { bytes } = attacked;
    const row = `(1, ${bytes(gone.salt)}, 0, ${bytes(gone.body)})`;
    await attacked.edit(`DELETE FROM {bodies} WHERE position = 1;
      INSERT INTO {bodies} (position, salt, encoding, body) VALUES ${row}`);
    expect(await verify(attacked.log)).toMatchObject({
      ok: false,
      position: 1,
      reason: expect.stringMatching(/again/),
    });
  });

  test("the body of an audit entry or a redaction that a forged redaction names", async () => {
    const attacked = await forgotten(engine);
    await attacked.log.append([[redaction("forged", [3, 4])]]);
    expect(await verify(attacked.log)).toMatchObject({ ok: true, entries: 6, erased: 1 });
    await attacked.edit(`INSERT INTO {erasures} (position, redaction) VALUES (4, 6);
      DELETE FROM {bodies} WHERE position = 4`);
    expect(await verify(attacked.log)).toMatchObject({ ok: false, position: 4 });
    await attacked.edit(
      "INSERT INTO {erasures} (position, redaction) VALUES (3, 6); DELETE FROM {bodies} WHERE position = 3",
    );
    expect(await verify(attacked.log)).toMatchObject({ ok: false, position: 1 });
  });

  test("and the database itself refuses to note an audit entry or a redaction as erased", async () => {
    const attacked = await forgotten(engine);
    for (const position of [3, 4]) {
      const note = `INSERT INTO {erasures} (position, redaction) VALUES (${position}, 6)`;
      await expect(attacked.execute(note)).rejects.toThrow("about itself is not erased");
    }
  });
});

test("text that was left in a body which counts as erased is found", async () => {
  const attacked = await forgotten("sqlite");
  await attacked.edit(`UPDATE bodies SET body = ${attacked.bytes(body)} WHERE position = 1`);
  expect(await verify(attacked.log)).toMatchObject({ ok: false, position: 1 });
});
