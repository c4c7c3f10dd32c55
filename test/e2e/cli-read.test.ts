// `hansard list`, `show`, `stats` and `verify`, on a sound store and on an empty one.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { Database } from "../../src/engines/sqlite/driver.js";
import { type EntryInput, openRecorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";
import { fillStore, interactions, readError, readJson, resultOf, runCli, startCli } from "./cli-run.js";

const data = folderOfFile();
const at = (day: number) => `2026-11-${String(day).padStart(2, "0")}T12:00:00.000Z`;

/** Sets a title, moves the cursor, rings the bell, turns text around, and pretends to be a heading. */
const hostile =
  "\u001b]0;owned\u0007\u001b[2J\u001b[31mred\u009b32m\u202eevil\u2066\rback\u0008\nResponse\n\u001bPq\u001b\\";

const entries: readonly EntryInput[] = [
  {
    kind: "interaction",
    id: "q1",
    created_at: at(1),
    prompt: "first\nquestion",
    response: "an answer",
    project: "web",
  },
  { kind: "message", created_at: at(2), session_id: "s", role: "user", content: "请解释一下 🚀", client: "cli" },
  {
    kind: "tool_call",
    created_at: at(3),
    session_id: "s",
    tool: "ls",
    args: { path: "." },
    result: "a\nb",
    duration_ms: 1200,
  },
  { kind: "error", created_at: at(4), error: `boom ${hostile}`, project: "web" },
  {
    kind: "interaction",
    id: "q2",
    created_at: at(5),
    prompt: "open question",
    memories_used: ["m-1"],
    chunks_used: ["c-1"],
  },
];

beforeAll(() => fillStore(data, entries));

test.each([["list"], ["sessions"], ["search", "x"], ["reflect"], ["stats"], ["keys", "list"], ["memories"]])(
  "%s of a record that was not begun says how to begin, and makes nothing",
  async (...args) => {
    const home = folderOfTest();
    const { status, stderr } = await runCli(args, { env: { HOME: home } });
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: `No record in ${join(home, ".hansard")} yet. \`hansard record\`, \`hansard import\` and \`hansard serve\` create one.\n`,
    });
    expect(existsSync(join(home, ".hansard"))).toBe(false);
    const json = await runCli([...args, "--json"], { env: { HOME: home } });
    expect({ status: json.status, stderr: json.stderr }).toEqual({ status: 0, stderr: "" });
    // The same for a configured place, whether its folder exists or not, and whatever else is in it.
    const [absent, other] = [join(home, "absent"), folderOfTest()];
    writeFileSync(join(other, "notes.txt"), "");
    for (const data of [absent, other]) {
      const set = await runCli(args, { data });
      expect(set).toMatchObject({ status: 0, stderr: expect.stringContaining(`No record in ${data} yet`) });
    }
    expect([existsSync(absent), readdirSync(other)]).toEqual([false, ["notes.txt"]]);
    // A store that was named, or that lost its log, is another matter.
    mkdirSync(join(home, ".hansard"));
    writeFileSync(join(home, ".hansard", "index.db"), "");
    expect((await readError(args, { env: { HOME: home } })).status).toBe(1);
    expect(await readError([...args, "--data", join(home, "named")])).toMatchObject({ code: "store_missing" });
  },
);

describe("list", () => {
  test("shows entries of all kinds, newest first, a line each", async () => {
    const { status, stdout, stderr } = await runCli(["list"], { data });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^#\s+TIME\s+WHO\s+SESSION\s+PROJECT\s+CLIENT\s+WHAT$/);
    expect(lines.slice(1).map((line) => line.split(/\s+/)[0])).toEqual(["5", "4", "3", "2", "1"]);
    expect(lines[1]).toMatch(/interaction .*\(no response\) open question$/);
    expect(lines[2]).toMatch(/11-04 12:00 .*error .*web .*boom .*red.*evil.*back.*Response/);
    expect(lines[3]).toMatch(/tool_call .*ls → a b$/);
    expect(lines[4]).toMatch(/user .*s .*cli .*请解释一下 🚀$/);
    expect(lines[5]).toMatch(/interaction .*web .*first question$/);
  });

  test("--wide has the ids that `show` takes", async () => {
    const { entries } = await readJson(["list"], { data });
    const { stdout } = await runCli(["list", "--wide"], { data });
    for (const { id } of entries) expect(stdout).toContain(` ${id} `);
  });

  test("--json is the document of GET /entries, and of GET /interactions for that kind", async () => {
    const recorder = await openRecorder({ data });
    try {
      expect(await readJson(["list", "--limit", "2"], { data })).toEqual(await recorder.listEntries({ limit: 2 }));
      expect(await readJson(["list", "--kind", "interaction"], { data })).toEqual(await recorder.listInteractions());
      const byMemory = await readJson(["list", "--memory", "m-1"], { data });
      expect(byMemory).toEqual(await recorder.listInteractions({ memory: "m-1" }));
      expect(byMemory.interactions).toMatchObject([{ id: "q2" }]);
    } finally {
      await recorder.close();
    }
  });

  test.each([
    [
      ["--project", "web"],
      [4, 1],
    ],
    [
      ["--project", "-"],
      [5, 3, 2],
    ],
    [["--session", "s", "--kind", "tool_call"], [3]],
    [["--client", "cli"], [2]],
    [
      ["--since", "2026-11-04"],
      [5, 4],
    ],
    [
      ["--since", "2026-11-02 12:00:00.001", "--until", "2026-11-04"],
      [4, 3],
    ],
    [["--chunk", "c-1"], [5]],
    [["--limit", "0"], []],
  ])("filters: %j", async (flags, expected) => {
    const page = await readJson(["list", ...flags], { data });
    const positions = (page.entries ?? page.interactions).map(({ position }: { position: number }) => position);
    expect(positions).toEqual(expected);
  });

  test("a cursor on stderr leads through everything exactly once", async () => {
    const seen: string[] = [];
    let cursor: string[] = [];
    for (let page = 0; page < 3; page += 1) {
      const { stdout, stderr } = await runCli(["list", "--limit", "2", ...cursor], { data });
      seen.push(
        ...stdout
          .trimEnd()
          .split("\n")
          .slice(1)
          .map((line) => itemAt(line.trim().split(/\s+/), 0)),
      );
      cursor =
        stderr
          .match(/--cursor (\S+)/)
          ?.slice(0, 2)
          .flatMap((part, i) => (i === 0 ? ["--cursor"] : [part])) ?? [];
    }
    expect(seen).toEqual(["5", "4", "3", "2", "1"]);
    expect(cursor).toEqual([]);
  });

  test.each([
    [["--since", "yesterday"], "time_invalid"],
    [["--until", "2026-13-01"], "time_invalid"],
    [["--limit", "many"], "limit_invalid"],
    [["--cursor", "nonsense"], "cursor_invalid"],
    [["--kind", "poem"], "kind_unknown"],
    [["--kind", "error", "--memory", "m-1"], "option_misplaced"],
  ])("a filter that cannot be understood is status 2: %j", async (flags, code) => {
    expect(await readError(["list", ...flags], { data })).toMatchObject({ status: 2, code });
  });

  test("an empty store says how to record the first entry; filters that match nothing say so", async () => {
    const empty = folderOfTest();
    await (await openRecorder({ data: empty })).close();
    expect((await runCli(["list"], { data: empty })).stdout).toContain("hansard record --prompt");
    expect((await runCli(["list", "--project", "none"], { data })).stdout).toBe("Nothing recorded matches.\n");
  });

  test("a reader that stops early is no failure", async () => {
    const folder = folderOfTest();
    await fillStore(folder, [{ kind: "interaction", prompt: "x".repeat(1_000_000) }]);
    const child = startCli(["list", "--json"], { data: folder });
    child.stdout?.once("data", () => child.stdout?.destroy());
    const { status, stderr } = await resultOf(child);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

describe("recorded text never steers the terminal:", () => {
  test.each([["list"], ["show", "4"], ["list", "--json"], ["show", "4", "--json"]])("%s %s", async (...args) => {
    const { stdout } = await runCli(
      args.filter((arg) => arg !== undefined),
      { data },
    );
    expect(stdout).toContain("evil");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its purpose.
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
  });

  test("--json is the same text all the same", async () => {
    expect(await readJson(["show", "4"], { data })).toMatchObject({ error: `boom ${hostile}` });
  });

  test("a recorded line cannot pass for a heading: it is indented", async () => {
    const { stdout } = await runCli(["show", "4"], { data });
    expect(stdout).toContain("\n  Response\n");
    expect(stdout).not.toContain("\nResponse\n");
  });
});

describe("show", () => {
  test("shows the whole entry in sections, by id or position", async () => {
    const { status, stdout } = await runCli(["show", "q1"], { data });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^interaction #1\n {2}Id +q1\n {2}Created +2026-11-01T12:00:00.000Z\n {2}Recorded +2\d{3}-/);
    expect(stdout).toContain("\nPrompt\n  first\n  question\n\nResponse\n  an answer\n");
    expect((await runCli(["show", "1"], { data })).stdout).toBe(stdout);
  });

  test("facts come first, other objects as JSON below", async () => {
    const { stdout } = await runCli(["show", "3"], { data });
    expect(stdout).toMatch(/ {2}Tool +ls\n/);
    expect(stdout).toMatch(/ {2}Duration +1,200 ms\n/);
    expect(stdout).toContain('\nArgs\n  {"path": "."}\n');
  });

  test("an open interaction says how to complete it", async () => {
    const { stdout } = await runCli(["show", "q2"], { data });
    expect(stdout).toMatch(/ {2}Memories +m-1\n/);
    expect(stdout).toContain("--interaction-id q2");
  });

  test("a model that called tools has answered, and one that failed is not waited for", async () => {
    const called = folderOfTest();
    const call = { id: "c", type: "function", function: { name: "get_weather", arguments: '{"city":"Köln"}' } };
    await fillStore(called, [
      { kind: "interaction", session_id: "s", prompt: "Will it rain?", extra: { tool_calls: [call, call] } },
      { kind: "interaction", session_id: "s", prompt: "And now?", error: "status 429" },
    ]);
    const shown = (await runCli(["show", "1"], { data: called })).stdout;
    expect(shown).toContain('\nResponse\n  calls get_weather {"city":"Köln"}\n');
    expect(shown).not.toContain("None yet");
    expect((await runCli(["show", "2"], { data: called })).stdout).not.toContain("None yet");
    expect((await runCli(["list"], { data: called })).stdout).toContain("  (calls get_weather) Will it rain?\n");
    const timeline = (await runCli(["sessions", "s", "--entries"], { data: called })).stdout;
    expect(timeline).toContain('→ calls get_weather {"city":"Köln"}');
  });

  test("--json is the document of GET /entries/{id}", async () => {
    const recorder = await openRecorder({ data });
    try {
      expect(await readJson(["show", "5"], { data })).toEqual(await recorder.getEntry(5));
    } finally {
      await recorder.close();
    }
  });

  test.each(["6", "0", "99999999999999999999", "nobody", ""])(
    "an entry that is not there is a failure: %j",
    async (id) => {
      expect(await readError(["show", id], { data })).toMatchObject({ status: 1, code: "entry_not_found" });
    },
  );
});

describe("stats", () => {
  test("counts by kind, project and session, with the period and the sizes", async () => {
    const stats = await readJson(["stats"], { data });
    expect(stats).toMatchObject({
      entries: 5,
      sessions: 1,
      first_at: at(1),
      last_at: at(5),
      by_kind: { interaction: 2, message: 1, tool_call: 1, error: 1 },
      projects: [
        { project: "", entries: 3 },
        { project: "web", entries: 2 },
      ],
    });
    expect(stats.files.map(({ file }: { file: string }) => file)).toEqual(
      expect.arrayContaining(["log.db", "index.db"]),
    );
    expect(stats.bytes).toBeGreaterThan(0);
  });

  test("draws the counts as bars", async () => {
    const { stdout } = await runCli(["stats"], { data });
    expect(stdout).toContain("Entries  5 in 1 session\n");
    expect(stdout).toMatch(/ {2}interaction +2 {2}█{24}\n/);
    expect(stdout).toMatch(/ {2}error +1 {2}█{12}\n/);
  });
});

describe("verify", () => {
  test("a sound store is ok, with its head", async () => {
    const result = await readJson(["verify"], { data });
    expect(result).toMatchObject({ ok: true, entries: 5, erased: 0, position: 5 });
    expect((await runCli(["verify"], { data })).stdout).toBe(`ok: 5 entries, head hash ${result.hash}\n`);
  });

  test("a changed body is named by its position, with status 1", async () => {
    const folder = folderOfTest();
    await fillStore(folder, interactions(3));
    const db = new Database(join(folder, "log.db"));
    db.exec("DROP TRIGGER bodies_never_updated");
    db.exec(
      "UPDATE bodies SET body = CAST(replace(CAST(body AS TEXT), 'question', 'QUESTION') AS BLOB) WHERE position = 2",
    );
    db.close();
    const { status, stdout } = await runCli(["verify"], { data: folder });
    expect(status).toBe(1);
    expect(stdout).toMatch(/^position 2: the body is not the one that was recorded\n/);
    const json = await runCli(["verify", "--json"], { data: folder });
    expect(json.status).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, position: 2 });
  });
});
