// The line of an entry in `hansard tail`: it fits the terminal, contains no control sequences, and shortens tool
// results.
import { stripVTControlCharacters } from "node:util";
import pico from "picocolors";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { memoryRecorder } from "../../../../test/support/memory-recorder.js";
import { sampleEntries } from "../../../../test/support/sample-entries.js";
import type { Entry, EntryInput } from "../../../model/entry.js";
import type { Pane } from "../text/terminal.js";
import { tailLine } from "./tail.js";

const plain: Pane = {
  isTerminal: false,
  columns: undefined,
  colours: pico.createColors(false),
  write: () => undefined,
};
const narrow: Pane = { isTerminal: true, columns: 80, colours: pico.createColors(true), write: () => undefined };

async function linesOf(entries: readonly EntryInput[], pane: Pane): Promise<readonly string[]> {
  const { recorder } = memoryRecorder();
  await recorder.append(entries);
  const tail = recorder.tail({ after: 0 });
  const rows = (await tail.nextRows()) ?? [];
  await recorder.close();
  return rows.map(({ json }) => tailLine(JSON.parse(Buffer.from(json).toString()) as Entry, pane));
}

test("every kind says what it is about", async () => {
  const lines = await linesOf(sampleEntries, plain);
  const texts = lines.map((line) => line.replace(/^.*?#\d+ /, "").replace(/ +/g, " "));
  expect(texts).toEqual([
    "session_info A first session (s:1)",
    "interaction What is a Hansard? (s:1, atlas)",
    "message user: NUL , 🙂, \ufffd alone, עברית (s:1)",
    "message assistant: calls read (s:1)",
    'tool_call read → {"text":"whole\\nresult"} (s:1)',
    "response The record of a parliament. (s:1, atlas)",
    "error ENOENT: README.md (atlas)",
    "decision read it again (s:1)",
    "consolidation through #5: asked and read (s:1)",
    "clear history starts again after this (s:1)",
    'raw other-tool {"type":"unknown","":[null,-1.5e-7]}',
    "interaction And who keeps it? → Its reporters.",
  ]);
});

test("an entry of another day shows its date", async () => {
  const [old, fresh] = await linesOf(
    [
      { kind: "error", error: "old", created_at: "2020-01-02T03:04:05Z" },
      { kind: "error", error: "fresh" },
    ],
    plain,
  );
  expect(old).toMatch(/^2020-01-02 03:04:05 +#1 error +old$/);
  expect(fresh).toMatch(/^\d\d:\d\d:\d\d +#2 error +fresh$/);
});

test("a tool's result is shortened to a hundred characters, whatever its type", async () => {
  const [text, value] = await linesOf(
    [
      { kind: "tool_call", tool: "t", result: "🙂".repeat(500) },
      {
        kind: "tool_call",
        tool: "t",
        result: { list: Array.from({ length: 900 }, (_, index) => index) },
        is_error: true,
      },
    ],
    plain,
  );
  expect(text).toContain(`t → ${"🙂".repeat(100)}…`);
  expect(text).not.toContain("🙂".repeat(101));
  expect(value).toMatch(/t failed → \{"list":\[0,1,.*…$/);
  expect(value?.length).toBeLessThan(170);
});

test("no line is wider than the terminal, and none has control sequences except its own colours", async () => {
  const hostile = "日本語 👩‍👩‍👧 \u001b[31mred\u001b[0m \u001b]0;title\u0007 \r\n \u202e over \u009b2J ".repeat(30);
  const lines = await linesOf(
    [
      { kind: "interaction", prompt: hostile, response: hostile, session_id: "s".repeat(90), project: "p".repeat(60) },
      { kind: "message", session_id: "日本語".repeat(20), role: "user", content: hostile },
      { kind: "tool_call", tool: hostile, result: hostile },
      { kind: "error", error: hostile, created_at: "2020-01-02T03:04:05Z" },
    ],
    narrow,
  );
  for (const line of lines) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that colours are made of.
    const uncoloured = line.replace(/\u001b\[\d{1,2}m/g, "");
    expect(uncoloured).not.toBe(line);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its purpose.
    expect(uncoloured).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(stringWidth(stripVTControlCharacters(line))).toBeLessThanOrEqual(80);
  }
});
