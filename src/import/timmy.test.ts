// Timmy's session logs, imported and exported, and the faults of their original program.
import { describe, expect, test } from "vitest";
import { fixturePath, fixtureRecords, recordsOf } from "../../test/support/fixtures.js";
import { counts, importBench } from "../../test/support/import-target.js";

const file = fixturePath("import", "timmy", "session_2026-03-14.jsonl");
const session_id = "session_2026-03-14";
const at = "2026-03-14T09:00:00.000001";

describe("a day's log", () => {
  test("becomes the session named by its file, each line an entry of its kind", async () => {
    const bench = importBench();
    const report = await bench.import(file, { timezone: "Europe/Berlin" });
    expect(counts(report)).toEqual({ files: 1, sessions: 1, added: 7, existing: 0, rejected: 0 });
    expect(await bench.entries()).toMatchObject([
      {
        kind: "message",
        role: "user",
        content: "Is the relay up?",
        created_at: "2026-03-14T08:00:00.000Z",
        session_id,
      },
      { kind: "tool_call", tool: "ping", args: { host: "relay", count: 3 }, result: "3 of 3 came back" },
      { kind: "message", role: "timmy", content: "It is.", confidence: 0.4 },
      { kind: "error", error: "TimeoutError: relay", context: "" },
      { kind: "error", error: "no route", context: "second attempt" },
      { kind: "decision", decision: "restart the relay", rationale: "" },
      { kind: "decision", decision: "wait an hour", rationale: "it is lunch time — nobody listens" },
    ]);
    const history = await bench.recorder.session(session_id).history();
    expect(history.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("is exported with the same lines", async () => {
    const bench = importBench();
    await bench.import(file, { timezone: "Europe/Berlin" });
    const out = await bench.export({ format: "timmy", session_id, timezone: "Europe/Berlin" });
    expect(recordsOf(out)).toEqual(fixtureRecords("import", "timmy", "session_2026-03-14.jsonl"));
  });

  test("adds nothing if it is imported again, and only new lines if it has grown", async () => {
    const bench = importBench();
    const lines = [...fixtureRecords("import", "timmy", "session_2026-03-14.jsonl")];
    bench.write("logs/session_2026-03-14.jsonl", lines);
    await bench.import(bench.folder);
    expect(counts(await bench.import(bench.folder))).toMatchObject({ added: 0, existing: 7 });
    bench.write("logs/session_2026-03-14.jsonl", [
      ...lines,
      { type: "error", error: "e", context: null, timestamp: at },
    ]);
    expect(counts(await bench.import(bench.folder))).toMatchObject({ added: 1, existing: 7 });
  });
});

describe("lines that occur twice in a file:", () => {
  const name = "session_2026-03-14.jsonl";
  const lines = fixtureRecords("import", "timmy", name);

  test("with times they are one record, and the file is exported with each line once", async () => {
    const bench = importBench();
    const path = bench.write(name, [...lines, ...lines]);
    expect(counts(await bench.import(path))).toMatchObject({ added: 7, existing: 7, rejected: 0 });
    expect(counts(await bench.import(path))).toMatchObject({ added: 0, existing: 14 });
    expect(counts(await bench.import(bench.write(name, lines)))).toMatchObject({ added: 0, existing: 7 });
    expect(recordsOf(await bench.export({ format: "timmy", session_id }))).toEqual(lines);
  });

  test("another order of keys is the same line, another time is not", async () => {
    const bench = importBench();
    const path = bench.write("s.jsonl", [
      { type: "error", error: "e", context: null, timestamp: at },
      { timestamp: at, context: null, error: "e", type: "error" },
      { type: "error", error: "e", context: null, timestamp: at.replace("1", "2") },
    ]);
    expect(counts(await bench.import(path))).toMatchObject({ added: 2, existing: 1 });
  });

  test("without times all of them stay, also in a file that has grown", async () => {
    const bench = importBench();
    const undated = { type: "error", error: "e", context: null };
    const first = { ...undated, error: "first", timestamp: at };
    bench.write("s.jsonl", [first, undated, undated]);
    expect(counts(await bench.import(bench.folder))).toMatchObject({ added: 3, existing: 0 });
    bench.write("s.jsonl", [first, undated, undated, undated]);
    expect(counts(await bench.import(bench.folder))).toMatchObject({ added: 1, existing: 3 });
  });
});

describe("faults of the ancestor:", () => {
  test("a JSON line that is not an object crashed search, one bad line broke a summary — here each costs itself", async () => {
    const bench = importBench();
    const good = { type: "error", error: "e", context: null, timestamp: at };
    const path = bench.write("s.jsonl", [
      good,
      "[1, 2]",
      "null",
      '"text"',
      "12",
      '{"type": "err',
      { ...good, error: "f" },
    ]);
    const { added, rejected } = await bench.import(path);
    expect(added).toBe(2);
    expect(rejected.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6]);
  });

  test("null content crashed formatting — here it is empty, and exported as null", async () => {
    const bench = importBench();
    const lines = [
      { type: "message", role: "user", content: null, timestamp: at },
      { type: "message", role: "timmy", content: 7, confidence: 1.5, timestamp: null },
      { type: "tool_call", tool: "t", args: null, result: null, timestamp: at },
      { type: "tool_call", tool: null, args: [1], result: { deep: [1] }, timestamp: at },
      { type: "error", error: null, context: 5, timestamp: "not a time" },
      { type: "error", error: "e", context: "", timestamp: 1_772_359_200.25 },
      { type: "decision", decision: ["a", "b"], rationale: { why: 1 } },
    ];
    const path = bench.write("odd.jsonl", lines);
    expect(counts(await bench.import(path))).toMatchObject({ added: 7, rejected: 0 });
    expect((await bench.entries()).map(({ kind }) => kind)).toEqual([
      ...["message", "message", "tool_call", "tool_call", "error", "error", "decision"],
    ]);
    expect(recordsOf(await bench.export({ format: "timmy", session_id: "odd" }))).toEqual(lines);
  });

  test("local times without a zone — here they are UTC, read in the zone they were written in", async () => {
    const bench = importBench();
    // The clock is set back in between: both say half past one, but are an hour apart.
    const line = (timestamp: string) => ({ type: "error", error: timestamp, context: null, timestamp });
    const path = bench.write("s.jsonl", [
      line("2026-03-08T01:59:59"),
      line("2026-03-08T03:00:00"),
      line("2026-07-01T12:00:00Z"),
    ]);
    await bench.import(path, { timezone: "America/New_York" });
    expect((await bench.entries()).map(({ created_at }) => created_at)).toEqual([
      ...["2026-03-08T06:59:59.000Z", "2026-03-08T07:00:00.000Z", "2026-07-01T12:00:00.000Z"],
    ]);
  });

  test("tool results were cut at 500 characters — here they are imported and exported whole", async () => {
    const bench = importBench();
    const result = "long ".repeat(10_000);
    const line = { type: "tool_call", tool: "t", args: {}, result, timestamp: at };
    await bench.import(bench.write("s.jsonl", [line]));
    expect((await bench.entries())[0]).toMatchObject({ result });
    expect(recordsOf(await bench.export({ format: "timmy", session_id: "s" }))).toEqual([line]);
  });

  test("whole files were read into memory — here one line at a time", async () => {
    const bench = importBench();
    const path = bench.write("s.jsonl", [
      { type: "error", error: "x".repeat(12_000_000), context: null, timestamp: at },
    ]);
    expect(counts(await bench.import(path))).toMatchObject({ added: 1, rejected: 0 });
    const tooLong = bench.write("t.jsonl", [
      { type: "error", error: "x".repeat(17_000_000), context: null, timestamp: at },
    ]);
    const { added, rejected } = await bench.import(tooLong);
    expect({ added, rejected }).toEqual({
      added: 0,
      rejected: [{ file: tooLong, line: 1, reason: expect.stringMatching(/16 MiB/) }],
    });
  });
});

test("an unknown type, and an unknown role, are kept raw and exported at their place", async () => {
  const bench = importBench();
  const lines = [
    { type: "message", role: "user", content: "a", timestamp: at },
    { type: "sneeze", loud: true, timestamp: at },
    { type: "message", role: "cat", content: "b", timestamp: at },
    { type: "error", timestamp: at },
    { no: "type" },
  ];
  await bench.import(bench.write("s.jsonl", lines));
  expect((await bench.entries()).map(({ kind }) => kind)).toEqual(["message", "raw", "raw", "raw", "raw"]);
  const { recorder } = bench;
  expect(await recorder.search("sneeze")).toMatchObject({ results: [], elsewhere: { raw: 1 } });
  expect((await recorder.search("sneeze kind:raw")).results).toMatchObject([{ kind: "raw", position: 2 }]);
  expect((await recorder.search("kind:raw")).results).toHaveLength(4);
  expect(recordsOf(await bench.export({ format: "timmy", session_id: "s" }))).toEqual(lines);
});

test("extra keys are kept, and overwrite nothing", async () => {
  const bench = importBench();
  const line = {
    type: "message",
    role: "user",
    content: "mine",
    timestamp: at,
    id: "x",
    kind: "clear",
    session_id: "other",
    extra: { content: "theirs" },
    _source_file: "f",
  };
  await bench.import(bench.write("s.jsonl", [line]));
  const [entry] = await bench.entries();
  expect(entry).toMatchObject({ kind: "message", session_id: "s", content: "mine" });
  expect(recordsOf(await bench.export({ format: "timmy", session_id: "s" }))).toEqual([line]);
});

test("what was recorded here is exported in Timmy's format, and imported as what it was", async () => {
  const bench = importBench();
  const session = bench.recorder.session("s");
  await session.message({ role: "assistant", content: "hi", confidence: 0.5 });
  await session.toolCall({ tool: "t", args: { a: 1 }, result: { whole: true }, is_error: true, duration_ms: 3 });
  await session.error({ error: "e" });
  await session.decision({ decision: "d", rationale: "r" });
  await session.clear();
  const out = await bench.export({ format: "timmy", session_id: "s" });
  expect(recordsOf(out)).toMatchObject([
    { type: "message", role: "timmy", content: "hi", confidence: 0.5 },
    { type: "tool_call", tool: "t", args: { a: 1 }, result: { whole: true }, is_error: true, duration_ms: 3 },
    { type: "error", error: "e", context: null },
    { type: "decision", decision: "d", rationale: "r" },
  ]);
  expect(counts(await bench.import(bench.write("s.jsonl", out)))).toMatchObject({ added: 0, existing: 4 });
});
