// Logs written by every version there was: opened by this one, every entry reads as it did, and the chain goes on.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { Database } from "../../src/engines/sqlite/driver.js";
import { logMigrations } from "../../src/engines/sqlite/log-schema.js";
import { type JsonObject, openRecorder, type Recorder } from "../../src/index.js";
import { fillFields } from "../../src/model/body.js";
import { sampleEntries } from "../support/sample-entries.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { frozenAnswers } from "./frozen-answers.js";

const fixtures = join(repositoryRoot, "test", "fixtures");
const versions = readdirSync(fixtures).flatMap(
  (file) => Number(/^log-v(\d+)\.sql$/.exec(file)?.[1] ?? Number.NaN) || [],
);

test("there is a fixture for every version of the format", () => {
  expect(versions.toSorted((left, right) => left - right)).toEqual(logMigrations.map((_, index) => index + 1));
});

describe.each(versions)("a log of version %i", (version) => {
  test("reads back unchanged, entry by entry, and is verified", async () => {
    const { recorder } = await openFrozen(version);
    const frozen = JSON.parse(readFileSync(join(fixtures, `log-v${version}.json`), "utf8"));
    expect(await frozenAnswers(recorder)).toEqual({ ...frozen, entries: frozen.entries.map(withLaterFields) });
  });

  test("appends new entries to its chain", async () => {
    const { recorder } = await openFrozen(version);
    const before = await recorder.verify();
    const { entries } = await recorder.append({
      kind: "error",
      id: "after the upgrade".replaceAll(" ", "-"),
      error: "new",
    });
    expect(entries).toMatchObject([{ status: "recorded", position: before.position + 1 }]);
    expect(await recorder.verify()).toMatchObject({ ok: true, entries: before.position + 1 });
  });

  test("recognises entries recorded before", async () => {
    const { recorder } = await openFrozen(version);
    const again = await Promise.all(sampleEntries.map((entry) => recorder.append(entry)));
    expect(again.map(({ status }) => status)).toEqual(sampleEntries.map(() => "already_recorded"));
    const refused = recorder.append({ kind: "error", id: "failed", error: "something else" });
    await expect(refused).rejects.toMatchObject({ code: "id_conflict" });
    const second = recorder.completeInteraction("asked", { response: "Something else." });
    await expect(second).rejects.toMatchObject({ code: "already_completed" });
  });

  test("has the current version afterwards, and is append-only", async () => {
    const { recorder, path } = await openFrozen(version);
    await recorder.close();
    const db = new Database(path);
    onTestFinished(() => {
      db.close();
    });
    expect(db.pragma("user_version")).toBe(logMigrations.length);
    for (const table of ["entries", "bodies", "claims"]) {
      expect(() => db.exec(`UPDATE ${table} SET position = position + 100`)).toThrow("append-only");
    }
  });
});

/** Fields that entries have got since then read as absent ones do, and have an empty `recorded_by`. */
function withLaterFields(entry: JsonObject): JsonObject {
  const fields = entry.erased === true ? {} : fillFields(String(entry.kind), {});
  return { recorded_by: "", user_id: "", tags: [], parent_id: "", ...fields, ...entry };
}

async function openFrozen(version: number): Promise<{ readonly recorder: Recorder; readonly path: string }> {
  const data = join(folderOfTest(), "store");
  mkdirSync(data);
  const path = join(data, "log.db");
  const db = new Database(path);
  db.exec(readFileSync(join(fixtures, `log-v${version}.sql`), "utf8"));
  db.close();
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  return { recorder, path };
}
