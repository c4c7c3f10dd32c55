// File names for sessions: safe and unique.
import { expect, test } from "vitest";
import { fileNamesOf } from "./commands/export.js";

test("a session's file has the name that nanobot expects", () => {
  expect(Object.fromEntries(fileNamesOf(["telegram:42", "cli:direct", "plain"]))).toEqual({
    "telegram:42": "telegram_42.jsonl",
    "cli:direct": "cli_direct.jsonl",
    plain: "plain.jsonl",
  });
});

test("a:b, a/b, a_b and A:B, which would share a file, get one each, in any order", () => {
  const sessions = ["a:b", "a/b", "a_b", "A:B", "A_b"];
  const names = fileNamesOf(sessions);
  expect(new Set([...names.values()].map((name) => name.toLowerCase())).size).toBe(5);
  // The one that needs no change keeps its name.
  expect(names.get("A_b")).toBe("A_b.jsonl");
  expect(Object.fromEntries(fileNamesOf([...sessions].reverse()))).toEqual(Object.fromEntries(names));
});

test("no name leaves its folder or is longer than a disk allows", () => {
  const sessions = [
    "../../etc/passwd",
    "/abs",
    "..\\up",
    "é".repeat(256),
    `${"x".repeat(511)}1`,
    `${"x".repeat(511)}2`,
  ];
  const names = [...fileNamesOf(sessions).values()];
  expect(new Set(names).size).toBe(sessions.length);
  for (const name of names) {
    expect(name).not.toMatch(/[/\\]/);
    expect(Buffer.byteLength(name)).toBeLessThan(250);
  }
});
