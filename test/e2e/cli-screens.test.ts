// Screens as people see them, kept as texts: a change of layout shows in the diff.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pico from "picocolors";
import stringWidth from "string-width";
import { beforeAll, describe, expect, test } from "vitest";
import { type EntryInput, openRecorder } from "../../src/index.js";
import type { CommandModule } from "../../src/surfaces/cli/command.js";
import { doctorCommand } from "../../src/surfaces/cli/commands/doctor.js";
import { keysCommand } from "../../src/surfaces/cli/commands/keys.js";
import { listCommand } from "../../src/surfaces/cli/commands/list.js";
import { reflectCommand } from "../../src/surfaces/cli/commands/reflect.js";
import { searchCommand } from "../../src/surfaces/cli/commands/search.js";
import { sessionsCommand } from "../../src/surfaces/cli/commands/sessions.js";
import { showCommand } from "../../src/surfaces/cli/commands/show.js";
import { statsCommand } from "../../src/surfaces/cli/commands/stats.js";
import { bannerText, type Started } from "../../src/surfaces/cli/text/server-text.js";
import type { Pane } from "../../src/surfaces/cli/text/terminal.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { fillStore } from "./cli-run.js";

const data = folderOfFile();
const SCREENS = fileURLToPath(new URL("../../../test/fixtures/screens/", import.meta.url));
const at = (minute: number): string => new Date(Date.UTC(2025, 8, 3, 9, minute)).toISOString();
const coding = { session_id: "1af7fc5e-8455-4414-9ccd-011d40f70b2a", project: "billing", client: "claude-code" };
const chat = { session_id: "ticket-4711", project: "platform" };

const entries: readonly EntryInput[] = [
  {
    kind: "session_info",
    ...coding,
    id: "e-01",
    created_at: at(0),
    title: "Upgrade billing to Node 22",
    metadata: {
      cwd: "/srv/checkouts/a-monorepo-with-a-long-name/services/billing",
      git_branch: "chore/node-22",
      source: { tool: "claude-code", version: "2.1.40", lacks: ["system prompt", "tool definitions"] },
    },
  },
  {
    kind: "message",
    ...coding,
    id: "e-02",
    created_at: at(1),
    role: "user",
    content: [
      { type: "text", text: "Please upgrade the billing service to Node 22, and tell me what breaks. 请用中文总结 🙂" },
    ],
  },
  {
    kind: "message",
    ...coding,
    id: "e-03",
    created_at: at(2),
    role: "assistant",
    content: [
      { type: "thinking", thinking: "The lock file will say which native modules there are.", signature: "s" },
      {
        type: "tool_use",
        id: "t1",
        name: "Bash",
        input: { command: "npm ls --depth=0 && node --version", timeout: 60_000 },
      },
    ],
  },
  {
    kind: "message",
    ...coding,
    id: "e-04",
    created_at: at(3),
    role: "user",
    content: [
      {
        type: "tool_result",
        tool_use_id: "t1",
        content: "billing@4.2.0\n├── better-sqlite3@8.7.0\n├── fastify@4.28.1\n└── sharp@0.32.6\nv16.20.2",
      },
    ],
  },
  {
    kind: "tool_call",
    ...coding,
    id: "e-05",
    created_at: at(4),
    tool: "npm",
    args: { script: "test" },
    result: "ERR! sharp: no binary for Node 22",
    is_error: true,
    duration_ms: 41_250,
  },
  {
    kind: "error",
    ...coding,
    id: "e-06",
    created_at: at(5),
    error: "sharp 0.32.6 cannot be loaded: the module was compiled against another version of Node",
    context: "npm test",
  },
  {
    kind: "decision",
    ...coding,
    id: "e-07",
    created_at: at(6),
    decision: "Raise sharp to 0.33 before anything else",
    rationale: "its older binaries do not know Node 22",
    confidence: 0.8,
  },
  {
    kind: "message",
    ...coding,
    id: "e-08",
    created_at: at(7),
    role: "assistant",
    content: "Done: sharp is at 0.33.4, all 412 tests pass on Node 22.",
    confidence: 0.4,
  },
  {
    kind: "interaction",
    ...chat,
    id: "e-09",
    created_at: at(30),
    prompt: "Which of our services still run Node 16?",
    response: "Two: billing and search. Billing is being upgraded; for search nobody has begun yet.",
    model: "example-1",
    latency_ms: 2_725,
    memories_used: ["m-inventory"],
  },
  { kind: "interaction", ...chat, id: "e-10", created_at: at(31), prompt: "And who owns search?" },
  {
    kind: "message",
    session_id: "gemini/اختبار",
    id: "e-11",
    created_at: at(40),
    role: "user",
    content: [{ text: "What is in this picture?" }, { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }],
  },
  {
    kind: "raw",
    ...coding,
    id: "e-12",
    created_at: at(8),
    source: "claude-code",
    record: { type: "file-history-snapshot", messageId: "8470dfec-6c0e-419e-a7bc-937e177ebdc3", trackedFiles: {} },
  },
];

beforeAll(async () => {
  await fillStore(data, entries);
  const recorder = await openRecorder({ data });
  await recorder.keys.create({ scope: "read", name: "the auditor", actor: "anna" });
  await recorder.close();
});

interface Shown {
  readonly name: string;
  readonly command: CommandModule;
  readonly operands?: readonly string[];
  readonly options?: { readonly [name: string]: unknown };
}

const screens: readonly Shown[] = [
  { name: "list", command: listCommand },
  { name: "show", command: showCommand, operands: ["e-03"] },
  { name: "show-interaction", command: showCommand, operands: ["e-09"] },
  { name: "sessions", command: sessionsCommand },
  { name: "session", command: sessionsCommand, operands: [coding.session_id] },
  { name: "session-of-interactions", command: sessionsCommand, operands: [chat.session_id] },
  { name: "search", command: searchCommand, operands: ["node"], options: { facets: true, limit: "3" } },
  { name: "reflect", command: reflectCommand, options: { limit: "30" } },
  { name: "stats", command: statsCommand },
  { name: "doctor", command: doctorCommand },
  { name: "keys", command: keysCommand, operands: ["list"] },
];

describe.each([80, 120])("at %i columns", (columns) => {
  test.each(screens)("$name", async ({ name, command, operands = [], options = {} }) => {
    const written: string[] = [];
    const colours = pico.createColors(false);
    const pane: Pane = { isTerminal: true, columns, colours, write: (text) => void written.push(text) };
    const silent: Pane = { ...pane, write: () => undefined };
    const settings = {
      data,
      given_data: undefined,
      keyOf: () => undefined,
      host: "127.0.0.1",
      port: 0,
      allow_host: [],
      tls: undefined,
      rate: undefined,
      mask: [],
      redact: undefined,
      seal_key: undefined,
      prices: undefined,
      model: undefined,
      retention: [],
    };
    await command.run({ operands, options, settings, screen: { out: pane, err: silent }, json: false });
    const text = written.join("");
    expect(text.split("\n").filter((line) => stringWidth(line) > columns)).toEqual([]);
    await expect(steady(text)).toMatchFileSnapshot(join(SCREENS, `${name}-${columns}.txt`));
  });
});

/** As serve writes it once it listens; that the addresses are the real ones is for the test of serving to say. */
const banners: readonly { readonly name: string; readonly started: Omit<Started, "version"> }[] = [
  {
    name: "serve",
    started: {
      addresses: ["http://127.0.0.1:4747"],
      place: "/srv/record",
      settings: { given_data: undefined },
      health: { status: "ok", position: 0 },
      keys: { made: 0, good: 0 },
    },
  },
  {
    name: "serve-team",
    started: {
      addresses: [
        ...["https://127.0.0.1:4747", "https://[::1]:4747", "https://192.168.178.23:4747"],
        "https://[2001:db8:85a3:8d3:1319:8a2e:370:7348]:4747",
      ],
      place: "postgres://hansard:***@db.example:5432/hansard?sslmode=verify-full&sslrootcert=/etc/ssl/db.pem",
      settings: { given_data: "postgres://hansard:secret@db.example:5432/hansard" },
      health: { status: "degraded", position: 1_234_567, warnings: ["cut_off"] },
      keys: { made: 7, good: 5 },
    },
  },
];

describe.each([80, 120])("at %i columns", (columns) => {
  test.each(banners)("$name", async ({ name, started }) => {
    const pane: Pane = { isTerminal: true, columns, colours: pico.createColors(false), write: () => undefined };
    const text = bannerText({ version: "1.2.3", ...started }, pane);
    expect(text.split("\n").filter((line) => stringWidth(line) > columns)).toEqual([]);
    await expect(text).toMatchFileSnapshot(join(SCREENS, `${name}-${columns}.txt`));
  });
});

/** What differs from run to run, each by as many characters as it has. */
function steady(text: string): string {
  return text
    .replaceAll(data, "/record")
    .replace(/\b[0-9a-f]{64}\b/g, (hash) => "h".repeat(hash.length))
    .replace(/(?<=^|key_created.*: )[0-9a-f]{8,16}/gm, (id) => "k".repeat(id.length))
    .replace(/\b(?!2025)20\d\d(-\d\d-\d\d[ T]\d\d:\d\d(:\d\d\.\d{3}Z)?)/g, (time) => time.replace(/\d/g, "9"))
    .replace(/[\d.]+ (?:[KMGT]iB|bytes)/g, "9 KiB")
    .replace(/Node \d+\.\d+\.\d+/, "Node 99.9.9")
    .trimEnd()
    .concat("\n");
}
