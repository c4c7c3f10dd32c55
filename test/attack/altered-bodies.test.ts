// A body that is not the one which was recorded is never handed out as if it were: not whole, not exported, not imported.
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openRecorder, type Recorder } from "../../src/index.js";
import { claimKey, idClaim } from "../../src/model/claims.js";
import { dropTriggers, editLog, sampleStore } from "../crash/sample-store.js";
import { readError, readJson, runCli } from "../e2e/cli-run.js";
import { startServer } from "../e2e/http-client.js";
import { databaseOfTest, sharedPostgres } from "../support/postgres.js";
import { sampleEntries } from "../support/sample-entries.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { zstdFrame } from "../support/zstd-frame.js";

const store = sampleStore();
const corrupt = { name: "Fault", code: "entry_corrupt" };

/** A store in which one text of a body was exchanged for another of the same length, which still parses. */
async function alteredStore(position: number, text: string, by: string): Promise<string> {
  const data = await store.copy();
  editLog(data, (db) => {
    dropTriggers(db);
    const before = db.prepare("SELECT body FROM bodies WHERE position = ?").pluck().get(position) as Buffer;
    const after = Buffer.from(before.toString("utf8").replace(text, by));
    expect(after.equals(before)).toBe(false);
    db.prepare("UPDATE bodies SET body = ? WHERE position = ?").run(after, position);
  });
  return data;
}

async function open(data: string): Promise<Recorder> {
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  return recorder;
}

async function textOf(lines: AsyncIterable<string>): Promise<{ readonly text: string; readonly error: unknown }> {
  let text = "";
  try {
    for await (const line of lines) text += line;
  } catch (error) {
    return { text, error };
  }
  return { text, error: undefined };
}

describe("an entry that was altered", () => {
  test("is a fault by id and by position, and the others are read", async () => {
    const recorder = await open(await alteredStore(7, "ENOENT", "EACCES"));
    await expect(recorder.getEntry("failed")).rejects.toMatchObject(corrupt);
    await expect(recorder.getEntry(7)).rejects.toMatchObject(corrupt);
    expect(await recorder.getEntry(5)).toMatchObject({ id: "ran" });
  });

  test("is a fault of the interaction that it completes", async () => {
    const recorder = await open(await alteredStore(6, "parliament", "Parliament"));
    await expect(recorder.getInteraction("asked")).rejects.toMatchObject(corrupt);
  });

  test("is a fault of its session's history", async () => {
    const data = join(folderOfTest(), "store");
    const before = await openRecorder({ data });
    const session = before.session("s");
    await session.message({ role: "user", content: "May I delete it?" });
    await session.message({ role: "assistant", content: "No, never." });
    await before.close();
    editLog(data, (db) => {
      dropTriggers(db);
      db.exec(`UPDATE bodies SET body = CAST(replace(CAST(body AS TEXT), 'No, never', 'Yes, do it') AS BLOB)`);
    });
    const recorder = await open(data);
    await expect(recorder.session("s").history()).rejects.toMatchObject(corrupt);
    await expect(recorder.session("s").history({ format: "anthropic" })).rejects.toMatchObject(corrupt);
  });

  test("is a fault on PostgreSQL too", async () => {
    const data = await databaseOfTest();
    const recorder = await openRecorder({ data });
    onTestFinished(() => recorder.close());
    await recorder.append(sampleEntries);
    const server = await sharedPostgres();
    const sql = `SET session_replication_role = replica; UPDATE hansard_bodies SET body =
      convert_to(replace(convert_from(body, 'UTF8'), 'ENOENT', 'EACCES'), 'UTF8') WHERE position = 7`;
    await server.execute(sql, new URL(data).pathname.slice(1));
    await expect(recorder.getEntry("failed")).rejects.toMatchObject(corrupt);
    expect(await textOf(recorder.exportEntries())).toMatchObject({ error: corrupt });
  });

  test("is an error of `show` and of GET", async () => {
    const data = await alteredStore(7, "ENOENT", "EACCES");
    expect(await readError(["show", "failed"], { data })).toMatchObject({ status: 1, code: "entry_corrupt" });
    const server = await startServer({ data });
    const { status, body, text } = await server.get("/entries/failed");
    expect([status, body.error.code, text.includes("EACCES")]).toEqual([500, "entry_corrupt", false]);
  });
});

test("an id that leads to another entry is a fault, not that entry", async () => {
  const data = await store.copy();
  editLog(data, (db) => {
    dropTriggers(db);
    db.prepare("UPDATE claims SET position = 5 WHERE claim = ?").run(claimKey(idClaim("failed")));
  });
  await expect((await open(data)).getEntry("failed")).rejects.toMatchObject(corrupt);
});

describe("an export", () => {
  test.each([
    ["hansard", {}],
    ["hansard", { masked: true }],
    ["hansard", { kind: "error" }],
    ["hansard", { project: "atlas" }],
    ["markdown", {}],
  ])("as %s with %j holds all others, and then fails", async (format, filters) => {
    const recorder = await open(await alteredStore(7, "ENOENT", "EACCES"));
    const { text, error } = await textOf(recorder.exportEntries({ format, ...filters } as object));
    expect(error).toMatchObject(corrupt);
    expect(text).not.toContain("EACCES");
    if (Object.keys(filters).length === 0) expect(text).toContain("And who keeps it?");
  });

  test.each(["nanobot", "timmy"] as const)("as %s fails", async (format) => {
    const recorder = await open(await alteredStore(4, "read", "Read"));
    const { error } = await textOf(recorder.exportEntries({ format, session_id: "s:1", timezone: "UTC" }));
    expect(error).toMatchObject(corrupt);
  });

  test("on the command line has status 1, and leaves no file", async () => {
    const data = await alteredStore(7, "ENOENT", "EACCES");
    const out = join(folderOfTest(), "all.ndjson");
    expect(await runCli(["export", "--out", out], { data })).toMatchObject({ status: 1 });
    expect(existsSync(out)).toBe(false);
    const { status, stdout, stderr } = await runCli(["export"], { data });
    expect([status, stdout.includes("EACCES"), stderr.includes("entry 7")]).toEqual([1, false, true]);
  });

  test("over HTTP is an error, and breaks off where the answer has begun", async () => {
    const server = await startServer({ data: await alteredStore(7, "ENOENT", "EACCES") });
    const { status, body } = await server.get("/export");
    expect([status, body.error.code]).toEqual([500, "entry_corrupt"]);
    await server.recorder.append({ kind: "error", error: "x".repeat(200_000) });
    await expect(server.get("/export")).rejects.toThrow();
  });
});

describe("an export that was tampered with", () => {
  async function tampered(): Promise<{ readonly data: string; readonly whole: string; readonly altered: string }> {
    const { stdout } = await runCli(["export"], { data: await store.copy() });
    const folder = folderOfTest();
    const [whole, altered] = [join(folder, "whole.ndjson"), join(folder, "altered.ndjson")];
    writeFileSync(whole, stdout);
    writeFileSync(altered, stdout.replace("ENOENT", "EACCES"));
    return { data: join(folder, "copy"), whole, altered };
  }

  test("is not imported: status 1, nothing added, from a file and from a stream", async () => {
    const { data, whole, altered } = await tampered();
    const { status, stdout } = await runCli(["import", altered, "--json"], { data });
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ added: 0, rejected: [{ file: altered, line: 0 }] });
    const { stdout: text } = await runCli(["export"], { data: await store.copy() });
    expect(await runCli(["import", "-"], { data, input: text.replace("ENOENT", "EACCES") })).toMatchObject({
      status: 1,
    });
    expect(await readJson(["verify"], { data })).toMatchObject({ ok: true, entries: 0 });
    expect(await runCli(["import", whole], { data })).toMatchObject({ status: 0 });
  });

  test("is imported as new on request", async () => {
    const { data, altered } = await tampered();
    expect(await readJson(["import", altered, "--as-new"], { data })).toMatchObject({ added: 12, rejected: [] });
  });

  test("is a failure although others were read; in a folder no export is imported", async () => {
    const { data, altered } = await tampered();
    const folder = folderOfTest();
    const other = join(folder, "s.jsonl");
    copyFileSync(altered, join(folder, "altered.ndjson"));
    writeFileSync(other, '{"type":"error","error":"e","timestamp":"2026-01-01T00:00:00"}\n');
    const found = await readJson(["import", folder], { data });
    expect(found).toMatchObject({ files: 2, added: 1, rejected: [{ line: 0 }] });
    const { status, stdout } = await runCli(["import", altered, other, "--json"], { data });
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ files: 2, existing: 1, rejected: [{ line: 0 }] });
  });

  test("is reported by `verify FILE`, which says that the other is whole", async () => {
    const { whole, altered } = await tampered();
    expect(await readJson(["verify", whole])).toMatchObject({ ok: true, entries: 12, erased: 0, position: 12 });
    const { status, stdout } = await runCli(["verify", altered, "--json"]);
    expect([status, JSON.parse(stdout)]).toMatchObject([1, { ok: false, position: 7, line: 8 }]);
    const nothing = join(folderOfTest(), "nothing.txt");
    writeFileSync(nothing, "these are no lines of an export\n");
    expect((await runCli(["verify", nothing])).status).toBe(1);
    // A file has no doctor.
    expect((await runCli(["verify", altered])).stdout).toMatch(/Everything before it is unchanged.*Export it again/);
    expect(await readError(["verify", "/nonexistent/file"])).toMatchObject({ status: 1, code: "file_not_read" });
    expect(await readError(["verify", whole, "--against", whole])).toMatchObject({
      status: 2,
      code: "option_misplaced",
    });
  });

  test("is reported if it is compressed too, and one that cannot be decompressed is not read", async () => {
    const { data, whole, altered } = await tampered();
    const packed = (name: string): string => `${name}.zst`;
    for (const name of [whole, altered]) writeFileSync(packed(name), zstdFrame(readFileSync(name, "utf8")));
    expect(await readJson(["verify", packed(whole)])).toMatchObject({ ok: true, entries: 12 });
    expect((await runCli(["verify", packed(altered)])).status).toBe(1);
    expect((await runCli(["import", packed(altered)], { data })).status).toBe(1);
    expect(await readJson(["import", packed(whole)], { data })).toMatchObject({ added: 12, existing: 0, rejected: [] });
    const long = zstdFrame(readFileSync(whole, "utf8") + "\n".repeat(1_000_000));
    writeFileSync(packed(altered), Buffer.concat([long, Buffer.from("no frame")]));
    expect(await readError(["verify", packed(altered)])).toMatchObject({ status: 1, code: "file_not_read" });
  });
});
