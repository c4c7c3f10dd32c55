// Records that no tool should write but some do, and other problems among good ones.
import { symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { importBench } from "../../test/support/import-target.js";
import { composeInMemory } from "../../test/support/memory-recorder.js";
import { tokensOf } from "../../test/support/transcripts.js";
import { repeatableContext } from "../../test/support/write-context.js";
import { zstdFrame } from "../../test/support/zstd-frame.js";
import { MemoryIndex } from "../engines/memory/index.js";
import { MemoryLog } from "../engines/memory/log.js";
import { Database } from "../engines/sqlite/driver.js";

const prompt = (second: number, content: unknown, more = {}) => ({
  type: "user",
  uuid: `u${second}`,
  sessionId: "s",
  timestamp: `2026-05-04T08:00:0${second}.000Z`,
  message: { role: "user", content },
  ...more,
});
const said = (second: number, id: string, content: unknown, output_tokens = 1) => ({
  type: "assistant",
  uuid: `a${second}`,
  sessionId: "s",
  timestamp: `2026-05-04T08:00:0${second}.000Z`,
  message: { id, role: "assistant", model: "m", content: [content], usage: { input_tokens: 5, output_tokens } },
});

test("a working folder that cannot be read costs only the project", async () => {
  const bench = importBench();
  bench.write("file", "where a folder was");
  symlinkSync("loop", join(bench.folder, "loop"));
  const names = [
    "/nul\0/till",
    "/file/till",
    "/loop/till",
    `/${"a".repeat(300)}/till`,
    "/a".repeat(300_000),
    `/${"a".repeat(300_000)}/b`,
  ];
  const folders = names.map((name) => `${bench.folder}${name}`);
  const lines = folders.map((cwd, second) => prompt(second, `in ${second}`, { cwd, sessionId: `s${second}` }));
  const report = await bench.import(bench.write("s.jsonl", lines));
  expect(report).toMatchObject({ rejected: [], sessions: names.length });
  const messages = (await bench.entries()).filter(({ kind }) => kind === "message");
  expect(messages.map(({ project }) => project)).toEqual(["till", "till", "till", "till", "", ""]);
});

test("a session whose model repeats call ids keeps each result, once", async () => {
  const bench = importBench();
  const call = { type: "tool_use", id: "functions.Bash:0", name: "Bash", input: {} };
  const result = (content: string) => [{ type: "tool_result", tool_use_id: call.id, content }];
  const lines = [0, 2, 4].flatMap((second) => [
    said(second, `m${second}`, call),
    prompt(second + 1, result(`output of ${second}`)),
  ]);
  const file = bench.write("s.jsonl", lines);
  await bench.import(file);
  expect(await bench.import([file, bench.write("copy.jsonl", lines)])).toMatchObject({ added: 0, rejected: [] });
  const results = (await bench.entries()).flatMap((entry) => (entry.kind === "tool_call" ? [entry.result] : []));
  expect(results).toEqual(["output of 0", "output of 2", "output of 4"]);
});

test("trajectories of one session number their steps from 1 each, and all are kept", async () => {
  const bench = importBench();
  const run = (trajectory_id: string, message: string) =>
    JSON.stringify({
      schema_version: "ATIF-v1.7",
      session_id: "s",
      trajectory_id,
      agent: { name: "a", version: "1" },
      steps: [{ step_id: 1, source: "user", message }],
    });
  const files = ["first", "second"].map((name) => bench.write(`${name}.json`, run(name, `the ${name} run`)));
  await bench.import(files);
  expect(await bench.import(files)).toMatchObject({ added: 0, rejected: [] });
  const messages = (await bench.entries()).flatMap((entry) => (entry.kind === "message" ? [entry.content] : []));
  expect(messages).toEqual(["the first run", "the second run"]);
});

test("a value nested too deep in a database is reported, and the rest is read", async () => {
  const bench = importBench();
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const events = bench.write("openclaw-agent.sqlite", "");
  const packed = new Database(events);
  packed.exec("CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_zstd BLOB)");
  const event = packed.prepare("INSERT INTO transcript_events VALUES ('claw', ?, ?)");
  const message = {
    type: "message",
    id: "e1",
    timestamp: "2026-05-04T08:00:00Z",
    message: { role: "user", content: "Hello" },
  };
  event.run(1, zstdFrame(JSON.stringify(message)));
  event.run(2, zstdFrame(`{"type":"custom","deep":${deep}}`));
  packed.close();
  const path = bench.write("opencode.db", "");
  const database = new Database(path);
  database.exec(`CREATE TABLE message(id, session_id, time_created, data); CREATE TABLE part(id, message_id, data);
    INSERT INTO message VALUES ('m1', 'code', 1777881600000, '{"role":"user"}');
    INSERT INTO part VALUES ('p1', 'm1', '{"type":"text","text":"Hi"}');
    INSERT INTO part VALUES ('p2', 'm1', '{"type":"patch","deep":${deep}}');
    INSERT INTO message VALUES ('m2', 'code', 1777881600001, '{"role":"other","deep":${deep}}')`);
  database.close();
  const { rejected } = await bench.import([events, path]);
  expect(rejected.map(({ file, line }) => [basename(file), line])).toEqual([
    ["openclaw-agent.sqlite", 2],
    ["opencode.db", 2],
  ]);
  const messages = (await bench.entries()).flatMap((entry) => (entry.kind === "message" ? [entry.content] : []));
  expect(messages).toEqual(["Hello", "Hi"]);
});

test("a record that another program adds between reading and writing is continued, not refused", async () => {
  const log = new MemoryLog();
  const [one, other] = [1, 2].map(() =>
    importBench(composeInMemory({ log, index: new MemoryIndex(), writeContext: repeatableContext() })),
  ) as [ReturnType<typeof importBench>, ReturnType<typeof importBench>];
  const first = said(1, "m1", { type: "text", text: "Half of it" });
  const early = other.write("s.jsonl", [prompt(0, "Hello"), first]);
  const find = log.find.bind(log);
  let meanwhile = async (): Promise<unknown> => await other.import(early);
  log.find = async (claims) => {
    const found = await find(claims);
    const once = meanwhile;
    meanwhile = async () => undefined;
    await once();
    return found;
  };
  const rest = said(2, "m1", { type: "text", text: "and the rest" }, 7);
  const report = await one.import(one.write("s.jsonl", [prompt(0, "Hello"), first, rest]));
  expect(report).toMatchObject({ rejected: [], added: 1 });
  const messages = (await one.entries()).flatMap((entry) => (entry.kind === "message" ? [entry] : []));
  expect(messages.map(({ content }) => content)).toEqual(["Hello", "Half of it", "and the rest"]);
  expect(tokensOf(messages)).toMatchObject({ input_tokens: 5, output_tokens: 7 });
});
