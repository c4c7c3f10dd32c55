// What was forgotten is in no file of a PostgreSQL but its WAL: not in dead rows, not in its indexes, not in its statistics.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { type EntryInput, openRecorder } from "../../src/index.js";
import { inspectStore } from "../../src/recorder/inspect-store.js";
import { serverOfTest } from "../support/postgres.js";
import type { PostgresServer } from "../support/postgres-server.js";

const MARK = "SECRETMARK";

test("every byte of a forgotten session is gone once forget has answered, and the chain stays valid", async () => {
  const database = await serverOfTest();
  const data = await database.createDatabase("forgetting");
  const [recorder, other] = [await openRecorder({ data }), await openRecorder({ data })];
  onTestFinished(async () => void (await Promise.all([recorder.close(), other.close()])));
  await recorder.append(others("before"));
  await recorder.append(marked());
  await recorder.append(others("after"));
  expect((await other.search(MARK)).results).not.toEqual([]);
  // What the autovacuum does after a while: it also gathers statistics, which hold values of columns.
  await database.execute("ANALYZE", "forgetting");
  expect(await filesWith(database)).not.toEqual([]);

  const forgotten = await recorder.forget({ session_id: `${MARK}-session`, reason: "it was asked for" });
  expect(forgotten).toMatchObject({ entries: marked().length, left: [] });
  expect(await filesWith(database)).toEqual([]);
  expect((await other.search(MARK)).results).toEqual([]);
  expect(await other.verify()).toMatchObject({ ok: true, erased: marked().length });
  await database.execute("ANALYZE", "forgetting");
  expect(await filesWith(database)).toEqual([]);
});

test("what an open transaction keeps is reported, shown by doctor, and goes by itself once it has ended", async () => {
  const database = await serverOfTest();
  const data = await database.createDatabase("held");
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  await recorder.append(marked());
  const client = new pg.Client({ connectionString: data, application_name: "a report" });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await client.query("SELECT 1");

  const { left } = await recorder.forget({ session_id: `${MARK}-session`, reason: "it was asked for" });
  expect(left.join()).toMatch(/process \d+ \(idle in transaction, a report\) may still see it/);
  expect(await filesWith(database)).not.toEqual([]);
  const shown = async () => (await inspectStore({ data })).findings.filter(({ check }) => check === "forgotten");
  expect((await shown()).map(({ message }) => message).join()).toContain("a report");

  await client.query("ROLLBACK");
  await expect.poll(() => filesWith(database), { timeout: 60_000, interval: 2_000 }).toEqual([]);
  await expect.poll(shown, { timeout: 10_000, interval: 500 }).toEqual([]);
  const other = { session_id: "other", project: "other" };
  await recorder.append({ ...other, kind: "error", error: "e" });
  expect(await recorder.forget({ session_id: "other", reason: "r" })).toMatchObject({ left: [] });
});

test("a transaction that has a table locked holds up neither the deletion nor captures", async () => {
  const database = await serverOfTest();
  const data = await database.createDatabase("locked");
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  await recorder.append(marked());
  const client = new pg.Client({ connectionString: data });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("BEGIN");
  await client.query("SELECT count(*) FROM hansard_bodies");

  const forgetting = recorder.forget({ session_id: `${MARK}-session`, reason: "it was asked for" });
  const captured = recorder.append({ kind: "error", error: "meanwhile" });
  expect((await forgetting).left).not.toEqual([]);
  expect((await captured).status).toBe("recorded");
  await client.query("ROLLBACK");
  await expect.poll(() => filesWith(database), { timeout: 60_000, interval: 2_000 }).toEqual([]);
});

/** Short and long ones, in every place that is copied into some table. */
function marked(): readonly EntryInput[] {
  const at = (field: string): string => `${MARK}-${field}`;
  const labels = { session_id: at("session"), project: at("project"), client: at("client") };
  const short = Array.from(
    { length: 40 },
    (_, nth): EntryInput => ({ ...labels, kind: "error", error: at(`error-${nth}`), context: "日本語" }),
  );
  return [
    { ...labels, kind: "session_info", title: at("title"), metadata: { [at("key")]: at("value") } },
    { ...labels, kind: "interaction", id: at("id"), prompt: at("prompt"), memories_used: [at("memory")] },
    { kind: "response", interaction_id: at("id"), response: at("response"), chunks_used: [at("chunk")] },
    { ...labels, kind: "message", role: "user", content: `${at("content")} ${"long ".repeat(40_000)}` },
    ...short,
  ];
}

function others(name: string): readonly EntryInput[] {
  return Array.from({ length: 200 }, (_, at) => ({
    kind: "message",
    session_id: `${name}-${at % 7}`,
    project: `${name}-${at % 5}`,
    role: "user",
    content: `${name} ${at} ${"word ".repeat(at)}`,
  }));
}

/** The files of the server that hold the mark, but for the WAL, which PostgreSQL recycles in its own time. */
async function filesWith(database: PostgresServer): Promise<readonly string[]> {
  await database.execute("CHECKPOINT");
  const folder = join(database.place.folder, "data");
  const forms = [MARK, MARK.toLowerCase()].map((form) => Buffer.from(form));
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && !file.parentPath.includes("pg_wal"))
    .map((file) => join(file.parentPath, file.name))
    .filter((path) => forms.some((form) => readFileSync(path).includes(form)));
}
