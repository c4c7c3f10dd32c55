// Commands on a real terminal: matches stand out there and only there, progress is drawn, recorded text steers nothing.

import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";
import { beforeAll, expect, test } from "vitest";
import type { EntryInput } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";
import { fillStore, runCli } from "./cli-run.js";
import { runOnTerminal } from "./terminal-run.js";

const data = folderOfFile();
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that marks are made of.
const INVERSE = /\u001b\[7m(.*?)\u001b\[27m/g;

beforeAll(async () => {
  const created_at = (nth: number): string => new Date(Date.UTC(2026, 10, 15) + nth * 60_000).toISOString();
  const entries = Array.from({ length: 60 }, (_, nth): EntryInput => {
    const shared = { created_at: created_at(nth), session_id: "s" };
    if (nth % 7 === 0) return { ...shared, kind: "error", error: `\u001b[31mtimeout\u001b]0;owned\u0007 ${nth}` };
    return {
      ...shared,
      kind: "message",
      role: "assistant",
      content: `等待 answer ${nth}`,
      confidence: (nth % 10) / 10,
    };
  });
  await fillStore(data, entries);
});

function marked(text: string): readonly string[] {
  return [...text.matchAll(INVERSE)].map(([, found]) => found as string);
}

test("matches of a search are highlighted, and recorded text cannot control the terminal", async () => {
  const { status, text } = await runOnTerminal(["search", "TIMEOUT", "--limit", "3"], { data, columns: 80 });
  expect(status).toBe(0);
  expect(marked(text)).toEqual(["timeout", "timeout", "timeout"]);
  expect(text).not.toContain("\u001b[31mtimeout");
  expect(text).not.toContain("\u001b]0;");
  expect(text).not.toContain("\u0007");
  expect(stripVTControlCharacters(text)).toContain("#57  2026-11-15 00:56  error  s\n    timeout 56\n");
  expect(marked((await runOnTerminal(["search", "等"], { data, columns: 80 })).text)).toHaveLength(10);
});

test("nothing is highlighted if the output is piped, or colours are disabled", async () => {
  const piped = await runCli(["search", "timeout"], { data });
  expect(piped.stdout).not.toContain("\u001b");
  const { text } = await runOnTerminal(["search", "timeout"], { data, columns: 80, env: { NO_COLOR: "1" } });
  expect(text).toContain("timeout 56");
  expect(text).not.toContain("\u001b");
});

test("--json and --text are the same on a terminal, without marks", async () => {
  const json = await runOnTerminal(["search", "timeout", "--json"], { data, columns: 80 });
  expect(JSON.parse(json.text)).toEqual(JSON.parse((await runCli(["search", "timeout", "--json"], { data })).stdout));
  const lines = await runOnTerminal(["search", "timeout", "--text"], { data, columns: 80 });
  expect(lines.text).toBe((await runCli(["search", "timeout", "--text"], { data })).stdout);
});

test.each([40, 80, 120])("search and reflection fit into %i columns", async (columns) => {
  for (const args of [
    ["search", "answer", "--facets", "--limit", "100"],
    ["reflect", "--limit", "100"],
  ]) {
    const { status, text } = await runOnTerminal(args, { data, columns });
    expect(status).toBe(0);
    const lines = stripVTControlCharacters(text).split("\n");
    expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([]);
  }
});

test("reflection draws how much happened, how much of it were errors, and how sure the answers were", async () => {
  const { text } = await runOnTerminal(["reflect", "--limit", "100"], { data, columns: 80 });
  const plain = stripVTControlCharacters(text);
  for (const title of ["Entries", "Errors", "Confidence"]) expect(plain).toMatch(new RegExp(`\n${title}\n +[\\d.]+┤`));
  expect(plain).toContain("\n  1┤");
  expect(plain).toMatch(
    /\n +0┤.*\n {2}2026-11-15 00:00 to 2026-11-15 00:59, \d+ steps of [\d.]+ (?:seconds|minutes) each\n$/,
  );
});

test("a store in which nothing was said has a sentence for it, and no empty plots", async () => {
  const empty = folderOfTest();
  await fillStore(empty, [{ kind: "raw", source: "test", record: {} }]);
  const { status, text } = await runOnTerminal(["reflect"], { data: empty, columns: 80 });
  expect(status).toBe(0);
  expect(stripVTControlCharacters(text).trim()).toMatch(
    /^Nothing recorded yet to reflect on\.\s+Only the last 7 days were looked at\. --since 30d looks further back\.$/,
  );
});

test("rebuilding the index shows a progress bar and removes it afterwards", async () => {
  const large = folderOfTest();
  await fillStore(
    large,
    Array.from({ length: 30_000 }, (_, nth): EntryInput => ({ kind: "error", error: `error ${nth} of many` })),
  );
  const { status, text } = await runOnTerminal(["doctor", "--rebuild-index"], { data: large, columns: 100 });
  expect(status).toBe(0);
  expect(text).toMatch(/Rebuilding the index █[█▏▎▍▌▋▊▉]* \d+ %, [\d,]+ of 30,000/);
  const last = text.slice(text.lastIndexOf("\u001b[2K") + "\u001b[2K".length);
  expect(stripVTControlCharacters(last)).toMatch(/^✓ rebuild {2}the index was rebuilt: 30,000 entries\n/);
});

test.each(["markdown", "hansard"])(
  "an export in the form %s steers no terminal, and is verbatim elsewhere",
  async (format) => {
    const recorded = "a\u001b[2Jb\u001b]0;owned\u0007c\u009b31md\u202ee";
    const own = folderOfTest();
    await fillStore(own, [{ kind: "error", error: recorded }]);
    const { status, text } = await runOnTerminal(["export", "--format", format], { data: own, columns: 80 });
    expect(status).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal would obey.
    expect(text).not.toMatch(/[\u0007\u001b\u009b\u202e]/);
    if (format === "markdown") return;
    expect(JSON.parse(itemAt(text.trimEnd().split("\n"), 1)).error).toBe(recorded);
    expect((await runCli(["export"], { data: own })).stdout).toContain("\u202e");
  },
);
