// What the commands draw on a terminal of 80 columns: nothing wider, and no sequence but their own colours.
import { stripVTControlCharacters } from "node:util";
import pico from "picocolors";
import stringWidth from "string-width";
import { beforeAll, expect, test } from "vitest";
import type { CommandModule } from "../../src/surfaces/cli/command.js";
import { doctorCommand } from "../../src/surfaces/cli/commands/doctor.js";
import { historyCommand } from "../../src/surfaces/cli/commands/history.js";
import { listCommand } from "../../src/surfaces/cli/commands/list.js";
import { reflectCommand } from "../../src/surfaces/cli/commands/reflect.js";
import { searchCommand } from "../../src/surfaces/cli/commands/search.js";
import { sessionsCommand } from "../../src/surfaces/cli/commands/sessions.js";
import { showCommand } from "../../src/surfaces/cli/commands/show.js";
import { statsCommand } from "../../src/surfaces/cli/commands/stats.js";
import { usageCommand } from "../../src/surfaces/cli/commands/usage.js";
import { verifyCommand } from "../../src/surfaces/cli/commands/verify.js";
import type { Pane } from "../../src/surfaces/cli/text/terminal.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { fillStore } from "./cli-run.js";

const COLUMNS = 80;
const data = folderOfFile();
const long = "日本語 text 👩‍👩‍👧 with\u001b[31m colours\u001b[0m and \u202eoverrides ".repeat(30);

beforeAll(() =>
  fillStore(data, [
    {
      kind: "interaction",
      id: "whole",
      prompt: long,
      response: long,
      project: "p".repeat(60),
      session_id: "s".repeat(90),
      model: long,
      usage: { input_tokens: 9e15, output_tokens: 1 },
    },
    { kind: "message", session_id: "s", role: "user", content: long, client: "c".repeat(50) },
    { kind: "error", error: long, context: "x".repeat(500), created_at: "1999-12-31T23:59:59Z" },
    { kind: "raw", source: "test", record: { deep: { list: [long, 1, { a: [] }] } } },
    {
      kind: "message",
      session_id: "s",
      role: "assistant",
      content: [{ type: "text", text: long }, { type: "image" }],
      tool_calls: [{ id: "c", type: "function", function: { name: long, arguments: long } }, { id: "odd" }],
      confidence: 0.25,
    },
    { kind: "tool_call", session_id: "s", tool: long, args: { long }, result: long, is_error: true, tool_call_id: "c" },
    { kind: "error", session_id: "s", error: long, context: long },
    { kind: "decision", session_id: "s", decision: long, rationale: long, confidence: 1 },
    { kind: "session_info", session_id: "s", title: long, metadata: { long }, parent: "q".repeat(500) },
    { kind: "consolidation", session_id: "t", through: 1, summary: long },
    { kind: "raw", session_id: "t", source: long, record: { long } },
    { kind: "interaction", session_id: "t", id: "i".repeat(128), prompt: long },
    { kind: "response", interaction_id: "i".repeat(128), id: "r".repeat(120), response: long, response_summary: long },
  ]),
);

test.each<[string, CommandModule, readonly string[]]>([
  ["list", listCommand, []],
  ["show", showCommand, ["whole"]],
  ["show", showCommand, ["3"]],
  ["show", showCommand, ["4"]],
  ["sessions", sessionsCommand, []],
  ["sessions", sessionsCommand, ["s"]],
  ["sessions", sessionsCommand, ["t"]],
  ["sessions", sessionsCommand, ["s".repeat(90)]],
  ["history", historyCommand, ["s"]],
  ["search", searchCommand, ["text"]],
  ["search", searchCommand, ["kind:error"]],
  ["reflect", reflectCommand, []],
  ["stats", statsCommand, []],
  ["usage", usageCommand, []],
  ["verify", verifyCommand, []],
  ["doctor", doctorCommand, []],
])("%s %#", async (_, command, operands) => {
  const out = terminal();
  const settings = {
    data,
    host: "127.0.0.1",
    port: 4747,
    mask: [],
    redact: undefined,
    seal_key: undefined,
    prices: undefined,
    model: undefined,
    allow_host: [],
    tls: undefined,
    rate: undefined,
    retention: [],
    given_data: undefined,
    keyOf: () => undefined,
  };
  const screen = { out: out.pane, err: terminal().pane };
  expect(await command.run({ operands, options: {}, settings, screen, json: false })).toBe(0);
  const text = out.written.join("");
  const lines = text.split("\n").map((line) => stripVTControlCharacters(line));
  expect(lines.filter((line) => stringWidth(line) > COLUMNS)).toEqual([]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that colours are made of.
  const uncoloured = text.replace(/\u001b\[\d{1,2}m/g, "");
  expect(uncoloured).not.toBe(text);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its purpose.
  expect(uncoloured).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
});

function terminal(): { readonly pane: Pane; readonly written: string[] } {
  const written: string[] = [];
  const colours = pico.createColors(true);
  return { written, pane: { isTerminal: true, columns: COLUMNS, colours, write: (text) => void written.push(text) } };
}
