// Masking of real transcripts: only secrets are masked.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createMask } from "./mask.js";

const FILE_BYTES_MAX = 8 * 1024 * 1024;
/** Passwords in a program that an agent wrote. */
const passwords = new Set(["nouppercase123", "SecurePass123"]);
/** An invented token in the demo, which shows that it is masked. */
const DEMO_TOKEN = "ghp_1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R";
/** Transcripts of agents and traces; if these are missing, the project's own documents. */
const folders = ["../shared/data", "docs"].filter((folder) => existsSync(folder));

test("in megabytes of transcripts and documents, only keys are masked", () => {
  const mask = createMask();
  const found = new Map<string, string>();
  let chars = 0;
  for (const path of folders.flatMap(filesIn)) {
    const text = readFileSync(path, "utf8");
    chars += text.length;
    for (const { start, end, rule } of mask.find(text)) found.set(text.slice(start, end), rule);
  }
  expect(chars).toBeGreaterThan(10_000);
  const doubtful = [...found].filter(
    ([secret, rule]) =>
      !(rule === "aws_access_key" && /^ASIA[A-Z0-9]{16}$/.test(secret)) &&
      !passwords.has(secret) &&
      secret !== DEMO_TOKEN,
  );
  expect(doubtful).toEqual([]);
});

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const facts = statSync(path);
    if (facts.isDirectory()) return filesIn(path);
    return /\.(jsonl?|ndjson|md|txt)$/.test(name) && facts.size <= FILE_BYTES_MAX ? [path] : [];
  });
}
