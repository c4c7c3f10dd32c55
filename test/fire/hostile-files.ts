// Files of every importer, damaged in the ways that crashes, disks and other people damage files: the command ends by itself, what
// it imported once it does not import again, and what was recorded before is as it was.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { edit } from "../crash/index-losses.js";
import { runCli } from "../e2e/cli-run.js";
import { fixturePath } from "../support/fixtures.js";
import { both, type Fault } from "./fault.js";
import type { FireRun } from "./fire-run.js";

export const fileFaults: readonly Fault[] = [
  { name: "hostile files of every importer", engines: both, weight: 9, isQuick: true, run: hostileFiles },
];

interface Sample {
  readonly format: string;
  /** The name it has where its tool keeps it. */
  readonly name: string;
  readonly write: (path: string) => void;
}

const fixture = (format: string, ...path: readonly string[]): Sample => ({
  format,
  name: path.at(-1) as string,
  write: (to) => writeFileSync(to, readFileSync(fixturePath(...path))),
});
const document = (format: string, value: unknown): Sample => ({
  format,
  name: `${format}.json`,
  write: (to) => writeFileSync(to, JSON.stringify(value)),
});
const lines = (format: string, values: readonly unknown[]): Sample => ({
  format,
  name: `${format}.jsonl`,
  write: (to) => writeFileSync(to, values.map((value) => `${JSON.stringify(value)}\n`).join("")),
});
const tables = (format: string, sql: string): Sample => ({
  format,
  name: `${format}.db`,
  write: (to) => edit(to, sql),
});

const chat = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Round it." },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"money.ts"}' } }],
  },
  { role: "tool", tool_call_id: "call_1", content: "floor(x)" },
  { role: "assistant", content: "It floors." },
];
const node = (id: string, parent: string | null, message: object | null): object => ({
  id,
  parent,
  children: [],
  message,
});
const said = (id: string, role: string, text: string): object => ({
  id,
  author: { role },
  create_time: 1_777_881_600,
  content: { content_type: "text", parts: [text] },
  metadata: { model_slug: "m" },
});

export const samples: readonly Sample[] = [
  fixture("hansard", "exports", "form-1.ndjson"),
  fixture("claude-code", "import", "claude-code", "shop", "9f0c7a52-1111-4222-8333-444455556666.jsonl"),
  fixture("codex", "import", "codex", "rollout-2026-05-04T08-00-00-019e0000-aaaa-7bbb-8ccc-ddddeeeeffff.jsonl"),
  fixture("pi", "import", "pi", "2026-05-04T08-00-00-000Z_5b5b0000-0000-4000-8000-000000000001.jsonl"),
  fixture("gemini-cli", "import", "gemini-cli", "session-2026-05-04T08-00-aa11.jsonl"),
  fixture(
    "antigravity",
    ...["import", "antigravity", "brain", "7d1e0000-0000-4000-8000-000000000001"],
    ...[".system_generated", "logs", "transcript_full.jsonl"],
  ),
  fixture("qwen-code", "import", "qwen-code", "-srv-shop", "chats", "9e1d0000-0000-4000-8000-000000000001.jsonl"),
  fixture("copilot-cli", "import", "copilot-cli", "7c0f0000-0000-4000-8000-000000000001", "events.jsonl"),
  fixture("kiro-cli", "import", "kiro-cli", "6f0e0000-0000-4000-8000-000000000001.jsonl"),
  fixture("goose", "import", "goose", "20260504_1.jsonl"),
  fixture("kimi-code", "import", "kimi-code", "wd_shop_ab", "k-1", "agents", "main", "wire.jsonl"),
  fixture("kimi-cli", "import", "kimi-cli", "sessions", "6a2f", "kc-1", "context.jsonl"),
  fixture("droid", "import", "droid", "d-1.jsonl"),
  {
    format: "aider",
    name: ".aider.chat.history.md",
    write: (to) =>
      writeFileSync(
        to,
        "# aider chat started at 2026-05-04 08:00:00\n\n#### Round it.  \n\nRounded.\n\n> Tokens: 10 sent, 2 received.\n",
      ),
  },
  document("cline", {
    version: 1,
    agent: "cline",
    sessionId: "c-1",
    system_prompt: "Be brief.",
    messages: [{ id: "m1", role: "user", ts: 1_777_881_600_000, content: [{ type: "text", text: "Round it." }] }],
  }),
  document("roo-code", [
    { role: "user", content: [{ type: "text", text: "<task>Round it.</task>" }], ts: 1_777_881_600_000 },
    { role: "assistant", content: [{ type: "text", text: "Rounded." }], ts: 1_777_881_601_000, isSummary: false },
  ]),
  document("vscode-copilot", {
    version: 3,
    sessionId: "v-1",
    creationDate: 1_777_881_600_000,
    requests: [
      {
        requestId: "r1",
        timestamp: 1_777_881_600_000,
        message: { text: "Round it.", parts: [] },
        response: [{ value: "Rounded." }],
      },
    ],
  }),
  tables(
    "zed",
    `CREATE TABLE threads(id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB, parent_id TEXT,
       folder_paths TEXT, created_at TEXT);
     INSERT INTO threads VALUES ('z-1', 'Rounding', '2026-05-04T08:00:00Z', 'json',
       '{"version":"0.3.0","title":"Rounding","messages":[]}', NULL, NULL, '2026-05-04T08:00:00Z')`,
  ),
  fixture("nanobot", "import", "nanobot", "telegram_42.jsonl"),
  fixture("timmy", "import", "timmy", "session_2026-03-14.jsonl"),
  document("chatgpt", [
    {
      title: "Rounding",
      current_node: "n2",
      conversation_id: "c-1",
      mapping: {
        n0: node("n0", null, null),
        n1: node("n1", "n0", said("m1", "user", "Round it.")),
        n2: node("n2", "n1", said("m2", "assistant", "Rounded.")),
      },
    },
  ]),
  document("atif", {
    schema_version: "ATIF-v1.7",
    session_id: "s",
    agent: { name: "a", version: "1" },
    steps: [
      { step_id: 1, source: "user", message: "Round it." },
      { step_id: 2, source: "agent", message: "Rounded.", metrics: { prompt_tokens: 3, completion_tokens: 2 } },
    ],
  }),
  document("opencode", {
    id: "msg_1",
    sessionID: "ses_1",
    role: "user",
    time: { created: 1_777_881_600_000 },
    parts: [{ id: "prt_1", messageID: "msg_1", type: "text", text: "Round it." }],
  }),
  lines("cursor", [
    { role: "user", message: { content: [{ type: "text", text: "<user_query>Round it.</user_query>" }] } },
    { role: "assistant", message: { content: [{ type: "text", text: "Rounded." }] } },
  ]),
  document("openai", { messages: chat }),
  lines("openai", [{ messages: chat }, { messages: chat.slice(1) }]),
  document("anthropic", {
    system: "Be brief.",
    messages: [
      { role: "user", content: [{ type: "text", text: "Round it." }] },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "read", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "floor(x)" }] },
    ],
  }),
  tables(
    "llm",
    `CREATE TABLE conversations(id TEXT PRIMARY KEY, name TEXT, model TEXT);
     CREATE TABLE responses(id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT,
       options_json TEXT, response TEXT, response_json TEXT, conversation_id TEXT, duration_ms INTEGER,
       datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT);
     INSERT INTO conversations VALUES ('01c', 'Rounding', 'm');
     INSERT INTO responses VALUES ('01a', 'm', 'Round it', 'Be brief', NULL, NULL, 'Rounded', NULL, '01c', 900,
       '2026-05-04T08:00:00.123456', 10, 20, NULL)`,
  ),
  tables(
    "opencode",
    `CREATE TABLE session(id TEXT, data TEXT); CREATE TABLE message(id TEXT, session_id TEXT, data TEXT);
     CREATE TABLE part(id TEXT, message_id TEXT, session_id TEXT, data TEXT);
     INSERT INTO message VALUES ('msg_1', 'ses_1', '{"role":"user","time":{"created":1777881600000}}');
     INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', '{"type":"text","text":"Round it."}')`,
  ),
];

type Damage = (fire: FireRun, bytes: Buffer) => Buffer;

/** Leaves that stand in for what a field should be. */
const LEAVES: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  "",
  "\0",
  "\ud800",
  [],
  {},
  [[]],
  { __proto__: 1 },
  "x".repeat(300_000),
];

const damages: readonly Damage[] = [
  (fire, bytes) => bytes.subarray(0, fire.int(0, bytes.length)),
  (fire, bytes) => {
    const copy = Buffer.from(bytes);
    for (let flips = fire.int(1, 40); flips > 0; flips -= 1) copy[fire.int(0, copy.length - 1)] = fire.int(0, 255);
    return copy;
  },
  (fire, bytes) => {
    const from = fire.int(0, bytes.length);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(fire.int(0, from))]);
  },
  (fire, bytes) => Buffer.concat([bytes, Buffer.alloc(fire.int(1, 100_000))]),
  (fire, bytes) => {
    const deep = Buffer.from(fire.pick(["[", '{"a":']).repeat(fire.int(10, 200_000)));
    const at = fire.int(0, bytes.length);
    return Buffer.concat([bytes.subarray(0, at), deep, bytes.subarray(at)]);
  },
  (fire, bytes) =>
    Buffer.from(shuffled(fire, bytes.toString("utf8").split("\n")).join(fire.pick(["\n", "\r\n", "\n\n"]))),
  (fire, bytes) => Buffer.concat(Array.from({ length: fire.int(2, 20) }, () => bytes)),
  (_, bytes) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(bytes.toString("utf8"), "utf16le")]),
  swapLeaves,
  swapLeaves,
  swapLeaves,
];

/** Values of other types in the places of some: each line is still JSON. */
function swapLeaves(fire: FireRun, bytes: Buffer): Buffer {
  const change = (value: unknown): unknown => {
    if (fire.chance(0.05)) return fire.pick(LEAVES);
    if (Array.isArray(value)) return value.map(change);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one)]));
  };
  const changed = bytes
    .toString("utf8")
    .split("\n")
    .map((line) => {
      try {
        return JSON.stringify(change(JSON.parse(line)));
      } catch {
        return line;
      }
    });
  return Buffer.from(changed.join("\n"));
}

function shuffled<T>(fire: FireRun, list: readonly T[]): readonly T[] {
  return list
    .map((item) => [fire.random(), item] as const)
    .toSorted(([left], [right]) => left - right)
    .map(([, item]) => item);
}

async function hostileFiles(fire: FireRun): Promise<void> {
  const data = await fire.store();
  const writer = fire.writer({ data, callers: 2, pause_ms: 5 });
  await fire.progress(writer, fire.int(1, 20));
  const folder = join(fire.folder, "files");
  mkdirSync(folder);
  const paths = Array.from({ length: fire.int(2, 4) }, (_, nth) => {
    const sample = fire.pick(samples);
    const path = join(folder, `${nth}`, sample.name);
    mkdirSync(join(folder, `${nth}`));
    sample.write(path);
    let bytes: Buffer = readFileSync(path);
    for (let times = fire.int(1, 2); times > 0; times -= 1) bytes = fire.pick(damages)(fire, bytes);
    writeFileSync(path, bytes);
    return path;
  });
  const first = await importAll(paths, data);
  const second = await importAll(paths, data);
  expect({ paths, added: second.added, before: first.added }).toMatchObject({ added: 0 });
  await fire.progress(writer, 5);
  await writer.kill();
}

async function importAll(paths: readonly string[], data: string): Promise<{ readonly added: number }> {
  const { status, stdout, stderr } = await runCli(["import", ...paths, "--json"], { data, asProgram: true });
  expect([0, 1], stderr).toContain(status);
  expect(stderr).not.toMatch(/^\s+at .*\.js:\d+/m);
  return JSON.parse(stdout) as { readonly added: number };
}
