// What protects the log's rows: missing triggers are told and put back, and what is not ours is never ok.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verify } from "../../src/log/verify.js";
import { newEntries } from "../conformance/suites/log-entries.js";
import { editLog, sampleStore, withRecorder } from "../crash/sample-store.js";
import { readJson, runCli } from "../e2e/cli-run.js";
import { type AttackedLog, attackedEngines, engineNames } from "./attacked-log.js";

async function recorded(engine: (typeof engineNames)[number]): Promise<AttackedLog> {
  const attacked = await attackedEngines[engine]();
  await attacked.log.append([newEntries("entry", 3)]);
  const found = await verify(attacked.log);
  expect(found).toMatchObject({ ok: true, entries: 3 });
  expect(found).not.toHaveProperty("warnings");
  return attacked;
}

const dropped = {
  sqlite: [
    "DROP TRIGGER entries_never_updated",
    "DROP TRIGGER bodies_only_erased",
    "DROP TRIGGER claims_never_replaced",
  ],
  postgres: [
    "DROP TRIGGER hansard_entries_never_updated ON hansard_entries",
    "DROP TRIGGER hansard_bodies_never_deleted ON hansard_bodies",
    "DROP TRIGGER hansard_bodies_1_never_truncated ON hansard_bodies_1",
    "DROP TRIGGER hansard_head_forward ON hansard_head",
    "ALTER TABLE hansard_claims DISABLE TRIGGER hansard_claims_never_deleted",
    "ALTER TABLE hansard_erasures DISABLE TRIGGER ALL",
  ],
};

const hostile = {
  sqlite: [
    "CREATE TRIGGER harmless AFTER INSERT ON claims BEGIN DELETE FROM claims WHERE claim = NEW.claim; END",
    "CREATE TRIGGER quiet BEFORE INSERT ON entries WHEN NEW.kind = 'error' BEGIN SELECT RAISE(IGNORE); END",
    "DROP TRIGGER entries_never_updated; CREATE TRIGGER entries_never_updated BEFORE UPDATE ON entries BEGIN SELECT 1; END",
    "CREATE UNIQUE INDEX quick ON entries (recorded_at, kind, position)",
  ],
  postgres: [
    `CREATE FUNCTION quiet() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER quiet BEFORE INSERT ON hansard_claims FOR EACH ROW EXECUTE FUNCTION quiet()`,
    `CREATE FUNCTION quiet() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER quiet BEFORE INSERT ON hansard_bodies_1 FOR EACH ROW EXECUTE FUNCTION quiet()`,
    "CREATE OR REPLACE FUNCTION hansard_refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "CREATE RULE quiet AS ON INSERT TO hansard_erasures DO INSTEAD NOTHING",
    "ALTER TABLE hansard_entries ENABLE ROW LEVEL SECURITY",
    `DROP TRIGGER hansard_entries_never_updated ON hansard_entries;
      CREATE TRIGGER hansard_entries_never_updated BEFORE UPDATE ON hansard_entries FOR EACH ROW
      WHEN (NEW.kind = 'nothing') EXECUTE FUNCTION hansard_refuse()`,
  ],
};

describe.each(engineNames)("on %s", (engine) => {
  test.each(dropped[engine])(
    "%s is reported, restored by the next writer that opens the log, and reported by that one too",
    async (sql) => {
      const attacked = await recorded(engine);
      await attacked.execute(sql);
      expect(await verify(attacked.log)).toMatchObject({ ok: true, warnings: ["trigger_missing"] });
      const reader = await attacked.reopened("read");
      expect(await verify(reader)).toMatchObject({ ok: true, warnings: ["trigger_missing"] });
      const writer = await attacked.reopened("write");
      expect(await verify(writer)).toMatchObject({ ok: true, warnings: ["trigger_missing"] });
      expect(await verify(await attacked.reopened("read"))).not.toHaveProperty("warnings");
      expect(await verify(await attacked.reopened("write"))).not.toHaveProperty("warnings");
    },
  );

  test.each(hostile[engine])("%s is not ok, and stays so", async (sql) => {
    const attacked = await recorded(engine);
    await attacked.execute(sql);
    const flaw = { ok: false, position: 0, reason: expect.stringMatching(/were changed/) };
    expect(await verify(attacked.log)).toMatchObject(flaw);
    expect(await verify(await attacked.reopened("write"))).toMatchObject(flaw);
  });
});

const store = sampleStore();

test("a recorder reports triggers that it restored when it opened, for as long as it is open", async () => {
  const data = await store.copy();
  editLog(data, (db) => db.exec("DROP TRIGGER claims_never_deleted"));
  await withRecorder(data, async (recorder) => {
    expect(await recorder.verify()).toMatchObject({ ok: true, warnings: ["trigger_missing"] });
    expect(await recorder.verify()).toMatchObject({ ok: true, warnings: ["trigger_missing"] });
  });
  expect(await withRecorder(data, (recorder) => recorder.verify())).not.toHaveProperty("warnings");
});

test("the command line reports both, with the right exit status", async () => {
  const data = await store.copy();
  editLog(data, (db) => db.exec("DROP TRIGGER claims_never_deleted"));
  const { findings } = await readJson(["doctor"], { data });
  const warned = { level: "warn", check: "chain", message: expect.stringMatching(/^triggers .* are missing$/) };
  expect(findings).toContainEqual(expect.objectContaining(warned));
  expect(await readJson(["verify"], { data })).toMatchObject({ ok: true, warnings: ["trigger_missing"] });
  editLog(data, (db) => db.exec("CREATE TRIGGER quiet BEFORE INSERT ON claims BEGIN SELECT RAISE(IGNORE); END"));
  const { status, stdout } = await runCli(["verify"], { data });
  expect([status, stdout.includes("quiet")]).toEqual([1, true]);
  const backup = await runCli(["backup", join(data, "..", "copy.db")], { data });
  expect(backup.status).toBe(1);
});
