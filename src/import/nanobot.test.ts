// nanobot's session files, imported and exported, and the faults of their original program.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixturePath, fixtureRecords, recordsOf } from "../../test/support/fixtures.js";
import { counts, importBench } from "../../test/support/import-target.js";
import { itemAt } from "../model/item-at.js";

const header = (more: object = {}) => ({
  _type: "metadata",
  key: "k:1",
  created_at: "2026-03-14T10:00:00.000001",
  updated_at: "2026-03-14T11:00:00.000001",
  metadata: {},
  last_consolidated: 0,
  ...more,
});
const said = (content: unknown, second = 1, more: object = {}) => ({
  role: "user",
  content,
  timestamp: `2026-03-14T10:00:${String(second).padStart(2, "0")}.000001`,
  ...more,
});

describe("a session file", () => {
  const file = fixturePath("import", "nanobot", "telegram_42.jsonl");

  test("becomes a session under its stored key, with metadata, messages and consolidation", async () => {
    const bench = importBench();
    const report = await bench.import(file, { timezone: "America/Chicago" });
    expect(counts(report)).toEqual({ files: 1, sessions: 1, added: 8, existing: 0, rejected: 0 });
    const session = bench.recorder.session("telegram:42");
    expect(await session.summary()).toMatchObject({
      metadata: { language: "de", muted: false },
      messages: 6,
      consolidated_through: 3,
      // Daylight saving time had begun in Chicago six days before.
      first_at: "2026-03-14T13:59:58.000Z",
    });
    expect((await session.history()).map(({ role, content }) => [role, content])).toEqual([
      ["user", "And in notes.md?"],
      ["assistant", ""],
      ["tool", "買い物リスト 🛒"],
      ["assistant", "A shopping list."],
    ]);
    const entries = await bench.entries();
    expect(entries[2]).toMatchObject({ created_at: "2026-03-14T14:00:04.300Z", extra: { tools_used: ["list_dir"] } });
  });

  test("is exported with the same lines", async () => {
    const bench = importBench();
    await bench.import(file, { timezone: "America/Chicago" });
    const out = await bench.export({ format: "nanobot", session_id: "telegram:42", timezone: "America/Chicago" });
    expect(recordsOf(out)).toEqual(fixtureRecords("import", "nanobot", "telegram_42.jsonl"));
  });

  test("is not changed", async () => {
    const bench = importBench();
    const before = [readFileSync(file), statSync(file).mtimeMs];
    await bench.import(file);
    expect([readFileSync(file), statSync(file).mtimeMs]).toEqual(before);
  });

  test("adds nothing if it is imported again, under any name, and in another zone", async () => {
    const bench = importBench();
    await bench.import(file);
    const copy = bench.write("moved/other-name.txt", readFileSync(file));
    for (const again of [file, copy]) {
      const report = await bench.import(again, { timezone: "Asia/Tokyo" });
      expect(counts(report)).toMatchObject({ added: 0, existing: 8, rejected: 0 });
    }
  });

  test("that has grown adds only what is new", async () => {
    const bench = importBench();
    const lines = [header(), said("one", 1), said("two", 2)];
    bench.write("s.jsonl", lines);
    await bench.import(bench.folder);
    bench.write("s.jsonl", [...lines, said("three", 3)]);
    expect(counts(await bench.import(bench.folder))).toMatchObject({ added: 1, existing: 3 });
    bench.write("s.jsonl", [header({ last_consolidated: 2 }), ...lines.slice(1), said("three", 3)]);
    // The header has changed, and two messages are consolidated now.
    expect(counts(await bench.import(bench.folder))).toMatchObject({ added: 2, existing: 3 });
    expect((await bench.recorder.session("k:1").history()).map(({ content }) => content)).toEqual(["three"]);
  });

  test.each([
    ["no time", undefined],
    ["what is no time", "soon"],
  ])("keeps every message with equal text with %s, each once", async (_, timestamp) => {
    const bench = importBench();
    const yes = { role: "user", content: "yes", timestamp };
    const lines = [header(), yes, yes, yes];
    const path = bench.write("s.jsonl", lines);
    expect(counts(await bench.import(path))).toMatchObject({ added: 4 });
    expect(counts(await bench.import(path))).toMatchObject({ added: 0, existing: 4 });
    bench.write("s.jsonl", [...lines, yes]);
    expect(counts(await bench.import(path))).toMatchObject({ added: 1, existing: 4 });
  });

  test("takes messages with equal text and time as one, also if they are counted", async () => {
    const bench = importBench();
    const lines = [header({ last_consolidated: 3 }), said("yes", 1), said("yes", 1), said("no", 2), said("well", 3)];
    const path = bench.write("s.jsonl", lines);
    // Header, three messages and the consolidation; the copy exists already.
    expect(counts(await bench.import(path))).toMatchObject({ added: 5, existing: 1 });
    expect(counts(await bench.import(path))).toMatchObject({ added: 0, existing: 6 });
    expect((await bench.recorder.session("k:1").history()).map(({ content }) => content)).toEqual(["well"]);
    const out = await bench.export({ format: "nanobot", session_id: "k:1" });
    expect(recordsOf(out)).toEqual([
      ...[header({ last_consolidated: 2 }), said("yes", 1), said("no", 2), said("well", 3)],
    ]);
  });

  test("that occurs twice in one stream counts once; others after it are separate sessions", async () => {
    const bench = importBench();
    const text = readFileSync(file, "utf8");
    const path = bench.write("all.jsonl", text + text + readFileSync(fixturePath("import", "nanobot", "a_b.jsonl")));
    expect(counts(await bench.import(path))).toMatchObject({ sessions: 2, added: 10, existing: 8 });
  });
});

describe("faults of the ancestor:", () => {
  test("one bad line lost a whole session — here it loses one line, which is reported", async () => {
    const bench = importBench();
    const path = bench.write("s.jsonl", [
      header(),
      said("one", 1),
      '{"role": "user", "content": "ha',
      said("three", 3),
    ]);
    const { added, rejected } = await bench.import(path);
    expect({ added, rejected }).toEqual({
      added: 3,
      rejected: [{ file: path, line: 3, reason: expect.stringMatching(/not valid JSON/) }],
    });
  });

  test("a bad header lost a whole session — here the file's name replaces the key", async () => {
    const bench = importBench();
    const path = bench.write("telegram_7.jsonl", ['{"_type": "meta', said("one", 1), said("two", 2)]);
    expect(counts(await bench.import(path))).toMatchObject({ added: 2, rejected: 1, sessions: 1 });
    expect((await bench.recorder.session("telegram_7").history()).length).toBe(2);
  });

  test("a message called metadata was lost — here it is a message", async () => {
    const bench = importBench();
    const odd = [said("metadata", 1), said("_type", 2, { name: "metadata" }), said("x", 3, { _type: "metadata" })];
    const path = bench.write("s.jsonl", [header(), ...odd]);
    expect(counts(await bench.import(path))).toMatchObject({ added: 4, rejected: 0 });
    expect(await bench.recorder.session("k:1").summary()).toMatchObject({ messages: 3 });
    expect(recordsOf(await bench.export({ format: "nanobot", session_id: "k:1" })).slice(1)).toEqual(odd);
  });

  test("extra keys overwrote role and content — here they stay in extra, under any name", async () => {
    const bench = importBench();
    const names = {
      kind: "clear",
      id: "1",
      session_id: "other",
      project: "p",
      client: "-",
      created_at: 7,
      position: 3,
    };
    const line = said("mine", 1, { ...names, extra: { role: "system", content: "theirs" }, hash: null, error: "e" });
    await bench.import(bench.write("s.jsonl", [header(), line]));
    const [, entry] = await bench.entries();
    expect(entry).toMatchObject({ kind: "message", role: "user", content: "mine", session_id: "k:1", project: "" });
    expect(entry?.extra).toMatchObject({ ...names, extra: { role: "system", content: "theirs" } });
    expect(recordsOf(await bench.export({ format: "nanobot", session_id: "k:1" }))[1]).toEqual(line);
  });

  test("a:b, a/b and a_b were one file — here they stay three sessions, also when exported", async () => {
    const bench = importBench();
    const files = ["a_b.jsonl", "a_b-second.jsonl", "a_b-third.jsonl"];
    await bench.import(files.map((file) => fixturePath("import", "nanobot", file)));
    for (const key of ["a:b", "a/b", "a_b"]) {
      expect((await bench.recorder.session(key).history()).map(({ content }) => content)).toEqual([`from ${key}`]);
    }
  });

  test("null content crashed formatting — here it reads as empty, and is exported as null", async () => {
    const bench = importBench();
    const lines = [
      said(null, 1),
      { ...said(null, 2), role: "assistant" },
      { role: "user" },
      said(7, 3),
      said({ a: 1 }, 4),
    ];
    const path = bench.write("s.jsonl", [header(), ...lines]);
    expect(counts(await bench.import(path))).toMatchObject({ added: 6, rejected: 0 });
    expect(recordsOf(await bench.export({ format: "nanobot", session_id: "k:1" })).slice(1)).toEqual(lines);
  });

  test("updated_at was reset by loading — here it is exported unchanged, until something is newer", async () => {
    const bench = importBench();
    await bench.import(bench.write("s.jsonl", [header({ other: [1] }), said("one")]));
    const [before] = recordsOf(await bench.export({ format: "nanobot", session_id: "k:1" }));
    expect(before).toEqual(header({ other: [1] }));
    await bench.recorder.session("k:1").message({ role: "user", content: "x", created_at: "2026-04-01T00:00:00Z" });
    const [after] = recordsOf(await bench.export({ format: "nanobot", session_id: "k:1" }));
    expect(after).toEqual(header({ other: [1], updated_at: "2026-04-01T00:00:00.000000" }));
  });
});

describe("odd sessions", () => {
  test("an unknown role is kept raw, and exported at its place", async () => {
    const bench = importBench();
    const lines = [
      said("one", 1),
      { role: "wizard", content: "hm", timestamp: "2026-03-14T10:00:02" },
      said("three", 3),
    ];
    await bench.import(bench.write("s.jsonl", [header(), ...lines]));
    expect((await bench.entries()).map(({ kind }) => kind)).toEqual(["session_info", "message", "raw", "message"]);
    expect(recordsOf(await bench.export({ format: "nanobot", session_id: "k:1" })).slice(1)).toEqual(lines);
  });

  test("content of another type is read as its JSON, and exported unchanged", async () => {
    const bench = importBench();
    const lines = [{ a: 1 }, 5, [1, 2]].map((content, at) => ({ ...said("", at + 1), content, name: 7 }));
    await bench.import(bench.write("s.jsonl", [header(), ...lines]));
    const messages = (await bench.entries()).slice(1);
    expect(messages).toMatchObject(['{"a":1}', "5", "[1,2]"].map((content) => ({ content, name: "7" })));
    expect(recordsOf(await bench.export({ format: "nanobot", session_id: "k:1" })).slice(1)).toEqual(lines);
  });

  test("unknown fields of a header are not read as facts of the session", async () => {
    const bench = importBench();
    const lines = [header({ title: false, parent: { x: 1 } }), said("one")];
    await bench.import(bench.write("s.jsonl", lines));
    expect(await bench.recorder.session("k:1").summary()).toMatchObject({ title_source: "first_prompt", parent: "" });
    expect(recordsOf(await bench.export({ format: "nanobot", session_id: "k:1" }))).toEqual(lines);
  });

  test("a key that is not a valid session id becomes a hash, and is exported unchanged", async () => {
    const bench = importBench();
    const lines = [header({ key: "-" }), said("one")];
    await bench.import(bench.write("s.jsonl", lines));
    const { sessions } = await bench.recorder.listSessions();
    const { session_id } = itemAt(sessions, 0);
    expect(session_id).toMatch(/^nanobot:[0-9a-f]{32}$/);
    expect((await bench.entries())[0]?.extra).toMatchObject({ native_id: "-" });
    expect(recordsOf(await bench.export({ format: "nanobot", session_id }))).toEqual(lines);
  });

  test.each([
    ["more than there are", 99, []],
    ["none", 0, ["one", "two"]],
    ["less than none", -1, ["one", "two"]],
    ["no number", "two", ["one", "two"]],
  ])("consolidated are %s", async (_, last_consolidated, left) => {
    const bench = importBench();
    await bench.import(bench.write("s.jsonl", [header({ last_consolidated }), said("one", 1), said("two", 2)]));
    const history = await bench.recorder.session("k:1").history();
    expect(history.map(({ content }) => content)).toEqual(left);
  });

  test("a lost line counts among the consolidated ones", async () => {
    const bench = importBench();
    const lines = [header({ last_consolidated: 2 }), said("one", 1), "{torn", said("three", 3)];
    await bench.import(bench.write("s.jsonl", lines));
    const history = await bench.recorder.session("k:1").history();
    expect(history.map(({ content }) => content)).toEqual(["three"]);
  });

  test("a message without a time has that of the one before, the first one that of the header", async () => {
    const bench = importBench();
    await bench.import(bench.write("s.jsonl", [header(), { role: "user", content: "a" }, said("b", 9), said("c", 5)]));
    const times = (await bench.entries()).map(({ created_at }) => created_at.slice(17, 19));
    expect(times).toEqual(["00", "00", "09", "05"]);
  });
});

test("a session recorded here is exported in nanobot's format, and imported as what it was", async () => {
  const bench = importBench();
  const session = bench.recorder.session("mine");
  await session.info({ title: "T", metadata: { a: 1 } });
  await session.message({ role: "timmy", content: "hi", extra: { role: "system", mood: "good" } });
  await session.toolCall({ tool: "ls" });
  await session.message({ role: "user", content: [{ type: "text", text: "parts" }] });
  const out = await bench.export({ format: "nanobot", session_id: "mine" });
  expect(recordsOf(out)).toMatchObject([
    { _type: "metadata", key: "mine", metadata: { a: 1 }, title: "T", last_consolidated: 0 },
    {
      role: "assistant",
      content: "hi",
      mood: "good",
      timestamp: expect.stringMatching(/^2026-11-15T06:39:37\.\d{6}$/),
    },
    { role: "user", content: [{ type: "text", text: "parts" }] },
  ]);
  const report = await bench.import(bench.write("mine.jsonl", out));
  expect(counts(report)).toMatchObject({ added: 1, existing: 2 });
  const other = importBench();
  await other.import(other.write("mine.jsonl", out));
  expect(await other.recorder.session("mine").history()).toEqual(await session.history());
});

test("a session of interactions is exported as the messages it reads as", async () => {
  const bench = importBench();
  await bench.recorder.recordInteraction({ id: "i", session_id: "s", prompt: "Why?" });
  await bench.recorder.completeInteraction("i", { response: "Because." });
  await bench.recorder.recordInteraction({ session_id: "s", prompt: "Really?", response: "Yes." });
  const lines = recordsOf(await bench.export({ format: "nanobot", session_id: "s" })).slice(1);
  expect(lines).toMatchObject([
    { role: "user", content: "Why?" },
    { role: "assistant", content: "Because." },
    { role: "user", content: "Really?" },
    { role: "assistant", content: "Yes." },
  ]);
});

test("a cleared session is exported with all of it counted as consolidated", async () => {
  const bench = importBench();
  const session = bench.recorder.session("s");
  await session.message({ role: "user", content: "old" });
  await session.clear();
  await session.message({ role: "user", content: "new" });
  const [first] = recordsOf(await bench.export({ format: "nanobot", session_id: "s" }));
  expect(first).toMatchObject({ last_consolidated: 1 });
});

test("every fixture is exported with the same lines", async () => {
  const folder = fixturePath("import", "nanobot");
  for (const name of readdirSync(folder)) {
    const bench = importBench();
    await bench.import(join(folder, name));
    const lines = fixtureRecords("import", "nanobot", name);
    const { key } = lines[0] as { readonly key: string };
    expect(recordsOf(await bench.export({ format: "nanobot", session_id: key })), name).toEqual(lines);
  }
});
