// Import and export as people meet them: the commands on real files and a real store, and GET /export.
import { createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { deepLog } from "../support/deep-entries.js";
import { fixturePath, fixtureRecords, recordsOf } from "../support/fixtures.js";
import { sampleEntries } from "../support/sample-entries.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { fillStore, readError, readJson, runCli } from "./cli-run.js";
import { startServer } from "./http-client.js";

const nanobot = fixturePath("import", "nanobot");
const timmy = fixturePath("import", "timmy");

async function output(args: readonly string[], data: string): Promise<string> {
  const { status, stdout, stderr } = await runCli(args, { data });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

describe("hansard import", () => {
  test("takes files and folders, finds each format, and prints a table by file", async () => {
    const data = folderOfTest();
    const { status, stdout, stderr } = await runCli(["import", nanobot, timmy], { data });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "1 suggestion to review: hansard review\n" });
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^FORMAT\s+ADDED\s+EXISTING\s+REJECTED\s+FILE$/);
    expect(lines.slice(1, -1).map((line) => line.split(/\s+/).slice(0, 4).join(" "))).toEqual([
      ...["nanobot 2 0 0", "nanobot 2 0 0", "nanobot 2 0 0", "nanobot 8 0 0", "timmy 7 0 0"],
    ]);
    expect(lines.at(-1)).toBe("Added 21 entries, 0 duplicates, 0 lines rejected, 5 sessions in 5 files.");
    expect(await readJson(["import", nanobot, timmy], { data })).toEqual({
      files: 5,
      sessions: 5,
      added: 0,
      existing: 21,
      rejected: [],
    });
  });

  test("a file that was written twice over, one copy after the other, counts once", async () => {
    const data = folderOfTest();
    const text = readFileSync(join(timmy, "session_2026-03-14.jsonl"), "utf8");
    const file = join(folderOfTest(), "session_2026-03-14.jsonl");
    writeFileSync(file, text + text);
    expect(await readJson(["import", file], { data })).toMatchObject({ added: 7, existing: 7, rejected: [] });
    expect(await readJson(["import", timmy], { data })).toMatchObject({ added: 0, existing: 7, rejected: [] });
  });

  test("status 0 although lines were rejected; they are named on stderr, and in the document", async () => {
    const data = folderOfTest();
    const file = join(folderOfTest(), "session_x.jsonl");
    const good = '{"type":"error","error":"e","context":null,"timestamp":"2026-01-01T00:00:00"}';
    writeFileSync(file, `${good}\n{torn\n[1]\n[2]\n`);
    const { status, stderr } = await runCli(["import", file], { data });
    expect(status).toBe(0);
    expect(stderr).toMatch(new RegExp(`^${file}:2: .*not valid JSON.*\n${file}:3-4: .*a list.*\n$`));
    expect(await readJson(["import", file], { data })).toEqual({
      files: 1,
      sessions: 1,
      added: 0,
      existing: 1,
      rejected: [
        { file, line: 2, reason: expect.any(String) },
        { file, line: 3, reason: expect.any(String) },
        { file, line: 4, reason: expect.any(String) },
      ],
    });
  });

  test("exit status 1 if a file could not be read at all; the others are imported", async () => {
    const data = folderOfTest();
    const missing = join(data, "nothing-here.jsonl");
    const { status, stdout } = await runCli(["import", missing, timmy, "--json"], { data });
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      files: 1,
      sessions: 1,
      added: 7,
      existing: 0,
      rejected: [{ file: missing, line: 0, reason: "there is no such file or folder" }],
    });
  });

  test("a path that leads nowhere, or a wrong option, makes no store", async () => {
    const data = join(folderOfTest(), "record");
    const { status, stdout } = await runCli(["import", "/nonexistent/x", "--json"], { data });
    expect([status, JSON.parse(stdout).rejected.length]).toEqual([1, 1]);
    expect((await runCli(["import", timmy, "--timezone", "Mars"], { data })).status).toBe(2);
    expect(existsSync(data)).toBe(false);
  });

  test("a file of unknown format is reported once, in a folder too; an empty one has no entries", async () => {
    const folder = folderOfTest();
    writeFileSync(join(folder, "package.json"), '{"name":"x"}\n');
    writeFileSync(join(folder, "picture.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]));
    writeFileSync(join(folder, "empty.jsonl"), "");
    writeFileSync(join(folder, "notes.txt"), "one\ntwo\nthree\n");
    const data = folderOfTest();
    const alone = await runCli(["import", folder, "--json"], { data });
    expect(alone.status).toBe(1);
    const told = ["notes.txt", "package.json", "picture.png"].map((name) => ({
      file: join(folder, name),
      line: 0,
      reason: expect.stringMatching(/unknown format.*--format/),
    }));
    expect(JSON.parse(alone.stdout)).toEqual({ files: 3, sessions: 0, added: 0, existing: 0, rejected: told });
    // Beside something that could be read, strangers in a folder are no failure; one that was named is.
    writeFileSync(join(folder, "session_x.jsonl"), '{"type":"error","error":"e","timestamp":"2026-01-01T00:00:00"}\n');
    expect(await readJson(["import", folder], { data })).toMatchObject({ files: 4, added: 1, rejected: told });
    const named = await runCli(["import", folder, join(folder, "notes.txt"), "--json"], { data });
    expect(named.status).toBe(1);
    // People are told the reason once, and of what could be read alone what became of it.
    const { stdout, stderr } = await runCli(["import", folder], { data });
    expect(stdout).toMatch(
      /^FORMAT.*\ntimmy .*\nAdded 0 entries, 1 duplicate, 0 lines rejected, 1 session in 1 of 4 files\.\n$/,
    );
    const names = ["notes.txt", "package.json", "picture.png"].map((name) => `  ${join(folder, name)}\n`);
    expect(stderr.replace(/^3 files: unknown format.*\n/, "")).toBe(names.join(""));
  });

  test("of many files the table has a line for each format", async () => {
    const folder = folderOfTest();
    const line = '{"type":"error","error":"e","timestamp":"2026-01-01T00:00:00"}\n';
    for (let at = 0; at <= 40; at += 1) writeFileSync(join(folder, `session_${at}.jsonl`), line);
    const [head, ...rows] = (await output(["import", folder], folderOfTest())).trimEnd().split("\n");
    expect(head).toMatch(/REJECTED +FILES$/);
    expect(rows.map((row) => row.replace(/ +/g, " "))).toEqual([
      ...["timmy 41 0 0 41", "Added 41 entries, 0 duplicates, 0 lines rejected, 41 sessions in 41 files."],
    ]);
  });

  test.each([
    ["a list of messages", '[\n{"role":"user","content":"q"},\n{"role":"assistant","content":"a"}\n]\n'],
    ["a list that begins with its first message", '[{"role":"user","content":"q"},\n{"role":"user","content":"r"}\n]'],
    [
      "a document that holds a list",
      '{"messages": [\n{"role":"user","content":"q"},\n{"role":"user","content":"r"}\n]}',
    ],
  ])("%s is read as the document it is, and not by lines", async (_, text) => {
    const file = join(folderOfTest(), "messages.json");
    writeFileSync(file, text);
    expect(await readJson(["import", file], { data: folderOfTest() })).toMatchObject({
      files: 1,
      added: 3,
      rejected: [],
    });
  });

  test("lines that name their own session are of unknown format", async () => {
    const file = join(folderOfTest(), "messages.json");
    writeFileSync(file, '{"role":"user","content":"q","sessionID":"s"}\n');
    const { status, stdout } = await runCli(["import", file, "--json"], { data: folderOfTest() });
    expect(status).toBe(1);
    const rejected = [{ line: 0, reason: expect.stringMatching(/unknown format/) }];
    expect(JSON.parse(stdout)).toMatchObject({ files: 1, added: 0, rejected });
  });

  test.each(["[1,2]", "[2026-11-15 10:00] starting", "{", '[{"role":"us'])(
    "a first line %s does not hide the format of the others",
    async (first) => {
      const file = join(folderOfTest(), "one.jsonl");
      writeFileSync(file, `${first}\n{"role":"user","content":"q"}\n`);
      expect(await readJson(["import", file], { data: folderOfTest() })).toMatchObject({
        added: 1,
        rejected: [{ line: 1 }],
      });
    },
  );

  test("an export that cannot be written is no export, and is not written down as one", async () => {
    const data = folderOfTest();
    await runCli(["record", "--prompt", "p"], { data });
    const failed = await readError(["export", "--out", join(data, "nowhere", "all.ndjson")], { data });
    expect(failed).toMatchObject({ status: 1, code: "file_not_written" });
    expect((await readJson(["list", "--kind", "audit"], { data })).entries).toEqual([]);
  });

  test("reads standard input, and uses the given format and zone", async () => {
    const data = folderOfTest();
    const input = readFileSync(join(timmy, "session_2026-03-14.jsonl"));
    const { status } = await runCli(["import", "-", "--format", "timmy", "--timezone", "Asia/Tokyo"], { data, input });
    expect(status).toBe(0);
    const { entries } = await readJson(["list", "--session", "stdin", "--limit", "500"], { data });
    expect(entries.at(-1)).toMatchObject({ content: "Is the relay up?", created_at: "2026-03-14T00:00:00.000Z" });
  });

  test("times without a zone are those of the machine", async () => {
    const data = folderOfTest();
    await runCli(["import", timmy], { data, env: { TZ: "America/New_York" } });
    const { entries } = await readJson(["list", "--kind", "tool_call"], { data });
    expect(entries).toMatchObject([{ created_at: "2026-03-14T13:00:01.000Z" }]);
  });

  test.each([
    [["import", "x", "--format", "word"], "field_invalid"],
    [["import", "x", "--timezone", "Mars/Olympus"], "field_invalid"],
    [["export", "--format", "word"], "field_invalid"],
    [["export", "--format", "nanobot"], "option_invalid"],
    [["export", "--kind", "gossip"], "kind_unknown"],
    [["export", "somewhere"], "argument_excess"],
  ])("wrong use is status 2: %j", async (args, code) => {
    const data = folderOfTest();
    await fillStore(data, sampleEntries);
    expect(await readError(args, { data })).toMatchObject({ status: 2, code });
  });

  test("memory does not grow with the file", async () => {
    const folder = folderOfTest();
    const file = join(folder, "long.jsonl");
    const stream = createWriteStream(file);
    const text = "lorem ipsum dolor sit amet ".repeat(150);
    for (let at = 0; at < 7_500; at += 1) {
      const timestamp = new Date(Date.UTC(2026, 0, 1) + at * 1_000).toISOString().slice(0, -1);
      stream.write(
        `${JSON.stringify({ role: at % 2 === 0 ? "user" : "assistant", content: `${at} ${text}`, timestamp })}\n`,
      );
    }
    await new Promise((resolve) => stream.end(resolve));
    expect(statSync(file).size).toBeGreaterThan(30_000_000);
    // With less than the file's size for all of JavaScript, holding on to what was read would end it.
    const env = { NODE_OPTIONS: "--max-old-space-size=24" };
    const report = await readJson(["import", file], { asProgram: true, data: folder, env });
    expect(report).toMatchObject({ added: 7_500, rejected: [] });
  });
});

describe("hansard export", () => {
  test("a whole export imported into an empty store gives the same store, byte for byte", async () => {
    const [data, copy] = [folderOfTest(), join(folderOfTest(), "copy")];
    await fillStore(data, sampleEntries);
    // As a program asks for it, nothing is proposed of it.
    await readJson(["import", nanobot, timmy], { data });
    const file = join(data, "all.ndjson");
    const verified = await readJson(["verify"], { data });
    await output(["export", "--out", file], data);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await readJson(["import", file], { data: copy })).toMatchObject({ added: 33, existing: 0, rejected: [] });
    expect(await readJson(["verify"], { data: copy })).toEqual(verified);
    expect(await output(["export"], copy)).toBe(readFileSync(file, "utf8"));
    expect(await readJson(["sessions"], { data: copy })).toEqual(await readJson(["sessions"], { data }));
    expect(await readJson(["import", file], { data: copy })).toMatchObject({ added: 0, existing: 33 });
  });

  test("an entry stored deeper than one may be given is restored with its position and hash", async () => {
    const [folder, data] = [folderOfTest(), join(folderOfTest(), "copy")];
    const source = await deepLog();
    const verified = await source.verify();
    let text = "";
    for await (const piece of source.exportEntries()) text += piece;
    const file = join(folder, "all.ndjson");
    writeFileSync(file, text);
    expect(await readJson(["import", file], { data })).toMatchObject({ added: 3, existing: 0, rejected: [] });
    expect(await readJson(["verify"], { data })).toEqual(verified);
    expect(await output(["export"], data)).toBe(text);
  });

  test("nanobot's folder is exported as it was imported, one file per session, also if keys would share one", async () => {
    const data = folderOfTest();
    await runCli(["import", nanobot], { data });
    const out = join(data, "out");
    const { status, stderr } = await runCli(["export", "--format", "nanobot", "--out", out], { data });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "Wrote 4 sessions to out.\n" });
    expect((await readJson(["list", "--kind", "audit"], { data })).entries).toHaveLength(1);
    const names = readdirSync(out);
    expect(names).toHaveLength(4);
    expect(names).toContain("telegram_42.jsonl");
    expect(names).toContain("a_b.jsonl");
    const written = names.map((name) => recordsOf(readFileSync(join(out, name), "utf8")));
    const given = readdirSync(nanobot).map((name) => fixtureRecords("import", "nanobot", name));
    expect(new Set(written.map(canonical))).toEqual(new Set(given.map(canonical)));
    expect(await readJson(["import", out], { data })).toMatchObject({ added: 0, rejected: [] });
  });

  test("one session goes to standard output, to a file, or into a folder that is there", async () => {
    const data = folderOfTest();
    await runCli(["import", timmy], { data });
    const args = ["export", "--format", "timmy", "--session", "session_2026-03-14"];
    const lines = await output(args, data);
    expect(recordsOf(lines)).toEqual(fixtureRecords("import", "timmy", "session_2026-03-14.jsonl"));
    await output([...args, "--out", join(data, "one.jsonl")], data);
    mkdirSync(join(data, "there"));
    await output([...args, "--out", join(data, "there")], data);
    for (const name of ["one.jsonl", "there/session_2026-03-14.jsonl"]) {
      expect(readFileSync(join(data, name), "utf8")).toBe(lines);
    }
    expect(await runCli(["export", "--format", "markdown", "--session", "none"], { data })).toEqual({
      status: 0,
      stdout: "",
      stderr: "No entries match; the export is empty.\n",
    });
  });

  test("files that are there stay, and nothing else is written, unless --force says so", async () => {
    const data = folderOfTest();
    await runCli(["import", nanobot], { data });
    const file = join(data, "all.ndjson");
    const out = join(data, "out");
    mkdirSync(out);
    const [one, folder] = [
      ["export", "--out", file],
      ["export", "--format", "nanobot", "--out", out],
    ] as const;
    for (const name of [file, join(out, "a_b.jsonl")]) writeFileSync(name, "precious");
    for (const [args, name] of [
      [one, file],
      [folder, join(out, "a_b.jsonl")],
    ] as const) {
      expect(await readError([...args], { data })).toMatchObject({ status: 1, code: "file_exists", field: "--out" });
      expect(readFileSync(name, "utf8")).toBe("precious");
    }
    expect(readdirSync(out)).toEqual(["a_b.jsonl"]);
    // What was not written is no export, and is not written down as one.
    expect((await readJson(["list", "--kind", "audit"], { data })).entries).toEqual([]);
    for (const args of [one, folder]) expect(await runCli([...args, "--force"], { data })).toMatchObject({ status: 0 });
    expect(readdirSync(out)).toHaveLength(4);
    expect(readFileSync(file, "utf8")).not.toContain("precious");
  });

  test("a file that cannot be written is status 1, and nothing is left behind", async () => {
    const data = folderOfTest();
    await fillStore(data, sampleEntries);
    const failure = await readFailure(["export", "--out", join(data, "no", "such", "folder")], data);
    expect(failure).toMatch(/cannot write/);
    expect(readdirSync(data).sort()).toEqual(expect.not.arrayContaining([expect.stringMatching(/part/)]));
  });

  test("Markdown shows recorded text as text, whatever it pretends to be", async () => {
    const data = folderOfTest();
    const content = "```\n# not a heading\n<script>alert(1)</script>\n````";
    await fillStore(data, [{ kind: "message", session_id: "<b>s</b>", role: "user", content }]);
    const text = await output(["export", "--format", "markdown"], data);
    expect(text).toContain("Session \\<b\\>s\\</b\\> · ");
    // It stays inside of its own fence, and the fence inside of the quote.
    expect(text).toContain(`> ${content.replaceAll("\n", "\n> ")}\n\n`);
    expect(text.replace(/^>.*$/gm, "")).not.toMatch(/<script>|<b>/);
  });
});

async function readFailure(args: readonly string[], data: string): Promise<string> {
  const { status, stderr } = await runCli(args, { data });
  expect(status).toBe(1);
  return stderr;
}

function canonical(records: readonly object[]): string {
  return JSON.stringify(records.map((record) => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))));
}

describe("GET /export", () => {
  test("streams the record as lines that can be imported", async () => {
    const server = await startServer();
    await server.post("/entries", sampleEntries);
    const { status, headers, text } = await server.get("/export");
    expect([status, headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
    const [first, ...lines] = recordsOf(text);
    expect(first).toMatchObject({ hansard: 2, log_id: expect.any(String), position: 12 });
    expect(lines).toHaveLength(12);
    for (const line of lines) {
      expect(line).toMatchObject({
        recorded_at: expect.any(String),
        hash: expect.any(String),
        salt: expect.any(String),
      });
    }
    const data = folderOfTest();
    const { status: imported } = await runCli(["import", "-"], { data, input: text });
    expect(imported).toBe(0);
    const { body } = await server.get("/verify");
    expect(await readJson(["verify"], { data })).toMatchObject({
      ok: true,
      hash: (first as { hash?: string }).hash,
      position: 12,
    });
    // The audit entry about the export came after it.
    expect(body).toMatchObject({ ok: true, entries: 13 });
  });

  test("takes filters, and refuses what it does not know with a 400", async () => {
    const server = await startServer();
    await server.post("/entries", sampleEntries);
    expect(recordsOf((await server.get("/export?session_id=s:1&kind=message")).text)).toHaveLength(3);
    for (const query of ["kind=gossip", "since=soon", "limit=5", "masked=maybe"]) {
      const { status, body } = await server.get(`/export?${query}`);
      expect([status, typeof body.error.code], query).toEqual([400, "string"]);
    }
  });

  test("a large record arrives whole", async () => {
    const server = await startServer();
    const content = "x".repeat(100_000);
    const entries = Array.from({ length: 100 }, (_, at) => ({ kind: "error", error: `${at} ${content}` }));
    await server.post("/entries", entries);
    expect(recordsOf((await server.get("/export")).text)).toHaveLength(101);
  });
});
