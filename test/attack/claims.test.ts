// Claims decide what may happen only once. Whoever plants, moves or deletes one is found out, on every engine alike.
import { describe, expect, test } from "vitest";
import type { LogEntry } from "../../src/log/port.js";
import { verify } from "../../src/log/verify.js";
import { claimKey } from "../../src/model/claims.js";
import { newEntry } from "../conformance/suites/log-entries.js";
import { type AttackedLog, attackedEngines, engineNames } from "./attacked-log.js";

const UUID = "01a1e151-5bab-7a32-be7a-92ea2e8602c1";
/** Entries 1 and 2 are erased, 3 to 5 are there; 2 and 5 are responses, which take two claims. */
const entries: readonly LogEntry[] = [
  newEntry("gone"),
  response("gone-response", "i1"),
  newEntry("kept"),
  newEntry(UUID),
  response("response", "i2"),
  newEntry("redaction", { kind: "redaction", body: Buffer.from('{"id":"redaction","positions":[1,2]}') }),
];

type Attack = (log: AttackedLog) => string;
const insert =
  (claim: string, at: number): Attack =>
  ({ bytes }) =>
    `INSERT INTO {claims} (claim, position) VALUES (${bytes(claimKey(claim))}, ${at})`;
const remove =
  (claim: string): Attack =>
  ({ bytes }) =>
    `DELETE FROM {claims} WHERE claim = ${bytes(claimKey(claim))}`;
const move =
  (claim: string, to: number): Attack =>
  ({ bytes }) =>
    `UPDATE {claims} SET position = ${to} WHERE claim = ${bytes(claimKey(claim))}`;
const exchange =
  (old: string, other: string): Attack =>
  ({ bytes }) =>
    `UPDATE {claims} SET claim = ${bytes(claimKey(other))} WHERE claim = ${bytes(claimKey(old))}`;

const attacks: { readonly [what: string]: readonly [position: number, attack: Attack] } = {
  "an id that is still to come, leading to an erased entry": [1, insert("id:future", 1)],
  "the same, leading to an entry that is there": [3, insert("id:future", 3)],
  "a completion that never was": [3, insert("completes:other", 3)],
  "the id of an erased entry exchanged for another": [1, exchange("id:gone", "id:future")],
  "the id of an erased entry deleted": [1, remove("id:gone")],
  "the completion of an erased response deleted": [2, remove("completes:i1")],
  "the completion of an erased response moved to another erased entry": [1, move("completes:i1", 1)],
  "an id that is a UUID deleted": [4, remove(`id:${UUID}`)],
  "an id moved to another entry": [3, move("id:kept", 4)],
  "a completion moved to another entry": [4, move("completes:i2", 4)],
  "a completion deleted": [5, remove("completes:i2")],
};

describe.each(engineNames)("on %s verify finds", (engine) => {
  test.each(Object.keys(attacks))("%s", async (what) => {
    const attacked = await attackedEngines[engine]();
    await attacked.log.append([entries]);
    expect(await verify(attacked.log)).toMatchObject({ ok: true, erased: 2 });
    const [position, attack] = attacks[what] as readonly [number, Attack];
    await attacked.edit(attack(attacked));
    expect(await verify(attacked.log)).toMatchObject({ ok: false, position });
  });
});

function response(id: string, interaction: string): LogEntry {
  const body = Buffer.from(JSON.stringify({ id, interaction_id: interaction, response: "r" }));
  return newEntry(id, { kind: "response", body, claims: [`completes:${interaction}`] });
}
