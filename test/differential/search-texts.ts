// Texts to search through: real ones if the folder of samples is next to the repository, and generated ones.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { itemAt } from "../../src/model/item-at.js";
import { seededRandom } from "../conformance/suites/seeded-random.js";

const SAMPLES = join(repositoryRoot, "..", "shared", "data");
const FILE_BYTES_MAX = 2 * 1024 * 1024;
const TEXT_CHARS_MAX = 3_000;

/** Up to `count` texts out of the JSON of the samples, spread over all files; none where there are no samples. */
export function realTexts(count: number, seed: number): readonly string[] {
  const random = seededRandom(seed);
  const texts: string[] = [];
  for (const file of filesUnder(SAMPLES)) {
    const found: string[] = [];
    for (const value of jsonIn(readFileSync(file, "utf8"))) gather(value, found);
    const distinct = [...new Set(found)].filter((text) => text.length > 1);
    for (let taken = 0; taken < 60 && distinct.length > 0; taken += 1) {
      const [text = ""] = distinct.splice(Math.floor(random() * distinct.length), 1);
      texts.push(text.slice(0, TEXT_CHARS_MAX));
    }
  }
  return texts.toSorted(() => random() - 0.5).slice(0, count);
}

const WORDS = [
  ...["timeout", "Timeout", "connection", "reset", "retry", "a", "I", "the", "naïve", "cafe\u0301", "café", "straße"],
  ...[
    "STRASSE",
    "İstanbul",
    "ΟΔΟΣ",
    "οδός",
    "请",
    "解释",
    "一下",
    "文字化け",
    "が",
    "か\u3099",
    "한국어",
    "\u1112\u1161\u11ab",
  ],
  ...[
    "עברית",
    "🙂",
    "👩‍👩‍👧",
    "\ud83d",
    "\ude42",
    "\ud800",
    "\0",
    "\u001b[31m",
    "x\u0301\u0323",
    "\u212a",
    "AND",
    "OR",
    "*",
    "(x)",
  ],
  ...[
    "foo:bar",
    "role:user",
    "-",
    "--json",
    "C:\\dir\\n",
    "a/b",
    "100%",
    "snake_case",
    "it's",
    "0",
    "42",
    "1e5",
    "null",
    "true",
  ],
];

export function generatedTexts(count: number, seed: number): readonly string[] {
  const random = seededRandom(seed);
  const pick = (): string => itemAt(WORDS, Math.floor(random() * WORDS.length));
  return Array.from({ length: count }, () => {
    const length = 1 + Math.floor(random() ** 2 * 30);
    return Array.from({ length }, () => pick() + (random() < 0.7 ? " " : "")).join("");
  });
}

function filesUnder(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(json|jsonl|ndjson|txt)$/.test(name))
      .map((name) => join(folder, name))
      .filter((file) => statSync(file).size <= FILE_BYTES_MAX)
      .toSorted();
  } catch {
    return [];
  }
}

function jsonIn(text: string): readonly unknown[] {
  const parsed = tryParse(text);
  return parsed === undefined ? text.split("\n").map((line) => tryParse(line) ?? line) : [parsed];
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function gather(value: unknown, texts: string[]): void {
  if (typeof value === "string") texts.push(value);
  else if (typeof value === "object" && value !== null) for (const item of Object.values(value)) gather(item, texts);
}
