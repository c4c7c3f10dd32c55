// Where tools keep their files, on invented machines and for invented users.
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { folderOfTest } from "../../test/support/temporary-folder.js";
import { findInPlaces, knownPlaces } from "./places.js";
import { importFormats } from "./registry.js";

function paths(env: { readonly [name: string]: string }, platform = "linux"): readonly string[] {
  return knownPlaces({ env, home: "/h", platform }).map(({ path }) => path);
}

test("each row names an importer, a version and a date, and no place occurs twice", () => {
  const places = knownPlaces({ env: {}, home: "/h", platform: "linux" });
  for (const { tool, seen } of places) {
    expect(importFormats).toContain(tool);
    expect(seen).toEqual({ version: expect.stringMatching(/./), date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
  }
  expect(new Set(places.map(({ path }) => path)).size).toBe(places.length);
});

test("variables move the places they name; empty and relative ones do not", () => {
  const usual = paths({ CLAUDE_CONFIG_DIR: "", XDG_DATA_HOME: "relative" });
  expect(usual).toEqual(paths({}));
  expect(usual).toContain("/h/.claude/projects");
  expect(usual).toContain("/h/.local/share/opencode");
  const moved = paths({
    CLAUDE_CONFIG_DIR: "/c",
    CODEX_HOME: "/x",
    GEMINI_CLI_HOME: "/g",
    XDG_DATA_HOME: "/d",
    XDG_CONFIG_HOME: "/o",
    OTEL_LOG_RAW_API_BODIES: "file:/bodies",
  });
  expect(moved).toEqual(
    expect.arrayContaining([
      ...["/c/projects", "/x/sessions", "/g/.gemini/tmp", "/g/.gemini/antigravity-cli/brain", "/d/opencode"],
      ...["/o/io.datasette.llm", "/bodies"],
    ]),
  );
  expect(moved.filter((path) => /\/\.(?:claude|codex)\b/.test(path))).toEqual([]);
  expect(paths({}, "darwin")).toContain("/h/Library/Application Support/io.datasette.llm");
  expect(paths({ OTEL_LOG_RAW_API_BODIES: "1" })).toEqual(paths({}));
});

test("files are counted without being read, each once, and files of other kinds are ignored", async () => {
  const home = folderOfTest();
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  };
  write(".claude/projects/p/a.jsonl", "{}\n");
  write(".claude/projects/p/a/subagents/agent-1.jsonl", "{}\n");
  write(".claude/projects/p/a/subagents/agent-1.meta.json", "{}");
  write(".claude/projects/p/memory/notes.md", "notes");
  write(".codex/sessions/2026/05/04/rollout-1.jsonl.zst", "packed");
  write(".codex/auth.json", "secret");
  write(".local/share/opencode/opencode.db", "database");
  write(".local/share/opencode/opencode.db-wal", "log");
  mkdirSync(join(home, ".config/claude"), { recursive: true });
  symlinkSync(join(home, ".claude/projects"), join(home, ".config/claude/projects"));
  const old = new Date("2025-01-02T03:04:05.000Z");
  utimesSync(join(home, ".claude/projects/p/a.jsonl"), old, old);
  const { found, files } = await findInPlaces(knownPlaces({ env: {}, home, platform: "linux" }));
  expect(found).toMatchObject([
    { tool: "claude-code", files: 3, sessions: 2, bytes: 8, oldest: "2025-01-02T03:04:05.000Z" },
    { tool: "codex", files: 1, sessions: 1, bytes: 6 },
    { tool: "opencode", files: 1, bytes: 8 },
  ]);
  expect(found[2]).not.toHaveProperty("sessions");
  expect(files[0]).toBe(join(home, ".claude/projects/p/a.jsonl"));
  expect(files.length).toBe(5);
});
