// A log on PostgreSQL whose end was cut off behind its back: its index remembers, until a person accepts it.
import { expect, onTestFinished, test } from "vitest";
import { type EntryInput, openRecorder, type Recorder } from "../../src/index.js";
import { inspectStore } from "../../src/recorder/inspect-store.js";
import { serverOfTest } from "../support/postgres.js";

const FIRST = 20;
const ALL = 50;

/** As the owner of the database can: drop the triggers first. */
const CUT_SQL = `
  ALTER TABLE hansard_head DISABLE TRIGGER USER;
  ALTER TABLE hansard_entries DISABLE TRIGGER USER;
  ALTER TABLE hansard_bodies DISABLE TRIGGER USER;
  ALTER TABLE hansard_claims DISABLE TRIGGER USER;
  DELETE FROM hansard_bodies WHERE position > ${FIRST};
  DELETE FROM hansard_claims WHERE position > ${FIRST};
  UPDATE hansard_head SET position = ${FIRST}, hash = (SELECT hash FROM hansard_entries WHERE position = ${FIRST});
  DELETE FROM hansard_entries WHERE position > ${FIRST};
  ALTER TABLE hansard_head ENABLE TRIGGER USER;
  ALTER TABLE hansard_entries ENABLE TRIGGER USER;
  ALTER TABLE hansard_bodies ENABLE TRIGGER USER;
  ALTER TABLE hansard_claims ENABLE TRIGGER USER;
`;

test("a truncation is known through rebuilds and new entries, explained, and accepted in the record", async () => {
  const server = await serverOfTest();
  const data = await server.createDatabase("cut");
  const first = await openedIn(data);
  await first.append(decisions(ALL, "decided"));
  expect(await first.count()).toMatchObject({ entries: ALL });
  await first.close();
  await server.execute(CUT_SQL, "cut");
  const cutOff = { ok: false, reason: "cut_off", known: { by: "index", position: ALL } };
  const recorder = await openedIn(data);
  expect(await recorder.verify()).toMatchObject({ ...cutOff, position: FIRST + 1 });
  expect(await recorder.health()).toMatchObject({ status: "degraded", warnings: ["cut_off"] });
  await recorder.append(decisions(ALL, "later"));
  expect(await recorder.count()).toMatchObject({ entries: FIRST + ALL });
  await recorder.rebuildIndex();
  expect(await recorder.verify()).toMatchObject(cutOff);
  const { ok, findings } = await inspectStore({ data });
  expect(ok).toBe(false);
  expect(findings).toContainEqual(expect.objectContaining({ level: "fail", check: "evidence" }));
  expect(await recorder.acceptLog({ actor: "anna" })).toMatchObject({ known: cutOff.known });
  expect(await recorder.verify()).toMatchObject({ ok: true });
  expect(await inspectStore({ data })).toMatchObject({ ok: true });
});

async function openedIn(data: string): Promise<Recorder> {
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  return recorder;
}

function decisions(count: number, says: string): readonly EntryInput[] {
  return Array.from({ length: count }, (_, nth) => ({ kind: "decision", decision: `${says} ${nth}` }));
}
