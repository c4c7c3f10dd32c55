// An index that older code derived: it is rebuilt when it is opened, the doctor says so, and no older process takes it back.
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { INDEX_VERSION as POSTGRES_VERSION } from "../../src/engines/postgres/index-schema.js";
import { openPostgres } from "../../src/engines/postgres/store.js";
import { Database } from "../../src/engines/sqlite/driver.js";
import { SqliteIndex } from "../../src/engines/sqlite/index.js";
import { INDEX_VERSION as SQLITE_VERSION } from "../../src/engines/sqlite/index-schema.js";
import { describeIndexVersion } from "../../src/index/derivation.js";
import type { EntryIndex } from "../../src/index/port.js";
import { openRecorder } from "../../src/index.js";
import { inspectStore } from "../../src/recorder/inspect-store.js";
import { engines, type Intruder } from "../attack/intruder.js";
import { folderOfTest } from "../support/temporary-folder.js";

const versions: {
  readonly [engine: string]: { readonly present: number; readonly mark: (version: number) => string };
} = {
  sqlite: { present: SQLITE_VERSION, mark: (version) => `PRAGMA user_version = ${version}` },
  postgres: {
    present: POSTGRES_VERSION,
    mark: (version) => `UPDATE hansard_versions SET version = ${version} WHERE part = 'index'`,
  },
};

describe.each(engines)("on $engine", ({ engine, intrude }) => {
  const { present, mark } = versions[engine] as (typeof versions)[string];

  async function filled(): Promise<Intruder> {
    const intruder = await intrude();
    const recorder = await openRecorder({ data: intruder.data });
    await recorder.append([
      { kind: "tool_call", id: "ran", tool: "bash", result: "ok" },
      { kind: "interaction", id: "asked", prompt: "p", model: "m-1" },
      { kind: "message", id: "said", session_id: "s", role: "user", content: "hello" },
    ]);
    expect((await recorder.search("hello")).results).toHaveLength(1);
    await recorder.close();
    return intruder;
  }

  /** As if the code of that version had known no references. */
  async function derivedBy(version: number, { editIndex, index }: Intruder): Promise<void> {
    await editIndex(`DELETE FROM ${index("uses")}; UPDATE ${index("rows")} SET refs = NULL; ${mark(version)}`);
  }

  async function found(data: string): Promise<readonly string[]> {
    const recorder = await openRecorder({ data });
    try {
      const pages = [await recorder.listEntries({ tool: "bash" }), await recorder.listEntries({ model: "m-1" })];
      return pages.flatMap(({ entries }) => entries.map(({ id }) => id));
    } finally {
      await recorder.close();
    }
  }

  test("rows that lack a reference are missed only with the current version", async () => {
    const intruder = await filled();
    await derivedBy(present, intruder);
    expect(await found(intruder.data)).toEqual([]);
    await derivedBy(present - 1, intruder);
    expect(await found(intruder.data)).toEqual(["ran", "asked"]);
  });

  test("an index of the tables' version alone, from before there was a derivation, is rebuilt too", async () => {
    const intruder = await filled();
    await derivedBy(Math.floor(present / 1_000), intruder);
    expect(await found(intruder.data)).toEqual(["ran", "asked"]);
  });

  test("a recorder that is open while another process marks the index still finds everything", async () => {
    const intruder = await filled();
    const recorder = await openRecorder({ data: intruder.data });
    onTestFinished(() => recorder.close());
    await derivedBy(present - 1, intruder);
    expect(await found(intruder.data)).toEqual(["ran", "asked"]);
    const { entries } = await recorder.listEntries({ tool: "bash" });
    expect(entries.map(({ id }) => id)).toEqual(["ran"]);
  });

  test("the doctor says that it is older, and names the version", async () => {
    const intruder = await filled();
    await derivedBy(present - 1, intruder);
    const { ok, findings } = await inspectStore({ data: intruder.data });
    expect(ok).toBe(true);
    expect(findings).toContainEqual({
      level: "warn",
      check: "index",
      message:
        "the index was made by an older version of Hansard " +
        `(${describeIndexVersion(present - 1)}; this one makes ${describeIndexVersion(present)})`,
      hint: "The next read rebuilds it; `hansard doctor --rebuild-index` does so now.",
    });
    expect(await found(intruder.data)).toEqual(["ran", "asked"]);
    expect((await inspectStore({ data: intruder.data })).findings.filter(({ level }) => level === "warn")).toEqual([]);
  });

  test("a process of an older version does not change an index that a newer one has reset", async () => {
    const { data, editIndex } = await intrude();
    const index = await openIndex(engine, data);
    const revision = await index.revision();
    await editIndex(mark(present + 1));
    const refused = { code: "store_newer" };
    await expect(index.revision()).rejects.toMatchObject(refused);
    await expect(index.apply({ after: revision, rows: [], through: 1 })).rejects.toMatchObject(refused);
    await expect(index.applyTexts({ texts: [], after: 0, through: 1 })).rejects.toMatchObject(refused);
    await expect(index.reset()).rejects.toMatchObject(refused);
    await expect(index.draft?.() ?? index.reset()).rejects.toMatchObject(refused);
    await editIndex(mark(present));
    expect(await index.revision()).toEqual(revision);
  });
});

test("an older program that has the index open when a newer one resets it keeps its own", async () => {
  const data = folderOfTest();
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  await recorder.append({ kind: "tool_call", id: "ran", tool: "bash" });
  await recorder.count();
  const path = join(data, "index.db");
  const db = new Database(path);
  onTestFinished(() => {
    db.close();
  });
  db.exec(
    `DELETE FROM rows; UPDATE checkpoints SET position = 0 WHERE name = 'rows'; PRAGMA user_version = ${SQLITE_VERSION + 1}`,
  );
  expect((await recorder.listEntries({ tool: "bash" })).entries).toHaveLength(1);
  expect(db.prepare("SELECT count(*) FROM rows").pluck().get()).toBe(0);
  expect(db.pragma("user_version")).toBe(SQLITE_VERSION + 1);
});

async function openIndex(engine: string, data: string): Promise<EntryIndex> {
  if (engine === "sqlite") {
    const index = SqliteIndex.open({ path: join(data, "index.db") });
    onTestFinished(() => index.close());
    return index;
  }
  const { log, index } = await openPostgres({ address: data, create: true });
  onTestFinished(() => log.close());
  return index;
}
