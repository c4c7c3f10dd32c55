// Masking under attack: large texts that are made to be slow take linear time.
import { expect, test } from "vitest";
import type { Mask } from "../../model/mask.js";
import { createMask } from "./mask.js";

/** The smaller of the two sizes that are compared. */
const CHARS = 128 * 1024;
const SIZE_RATIO = 8;
/** Linear time takes 8 times as long, quadratic time 64 times. */
const TIME_RATIO_MAX = 24;
const ATTEMPTS = 4;

type Fill = (part: string, end?: string) => string;

function filledTo(chars: number): Fill {
  return (part, end = "") => part.repeat(Math.floor(chars / part.length)) + end;
}

test.each([
  ["letters", (filled: Fill) => filled("a")],
  ["base64", (filled: Fill) => filled("QUJDREVGRw+/")],
  ["runs of JSON in base64", (filled: Fill) => filled("eyJ")],
  ["beginnings of tokens of the web", (filled: Fill) => filled("eyJaaaaaaaa.")],
  ["runs of JSON in base64 with joints", (filled: Fill) => filled("-eyJ")],
  ["beginnings of keys with joints", (filled: Fill) => filled("_sk-proj-eyJ-")],
  ["prefixes", (filled: Fill) => filled("ghp_xoxb-sk-1AKIA")],
  ["one prefix", (filled: Fill) => filled("ghp_")],
  ["one prefix that needs no joint", (filled: Fill) => filled("AKIA")],
  ["prefixes in a token", (filled: Fill) => filled("glpat-")],
  ["prefixes in tokens", (filled: Fill) => filled(`${"glpat-".repeat(42)} `)],
  ["tokens in a row", (filled: Fill) => filled(`ghp_${"a1".repeat(18)}`)],
  ["tokens that JSON in base64 follows", (filled: Fill) => filled(`dapi${"a1".repeat(16)}eyJ_`)],
  ["tokens full of other beginnings", (filled: Fill) => filled(`ghp_${"eyJsk".repeat(20)}-`)],
  ["tokens full of keys", (filled: Fill) => filled(`npm_${"AIzaLTAI".repeat(30)}-`)],
  ["tokens that only seem whole", (filled: Fill) => filled("EAA", "+")],
  ["encoded beginnings of keys", (filled: Fill) => filled("-----BEGIN%20PRIVATE%20KEY-----")],
  [
    "keys with nothing but headers",
    (filled: Fill) => filled(`-----BEGIN PRIVATE KEY-----\n${"DEK-Info: a\n".repeat(9)}`),
  ],
  ["lines of a key with breaks that are none", (filled: Fill) => `-----BEGIN PRIVATE KEY-----${filled("%0A+%2B")}`],
  ["one endless token", (filled: Fill) => `ghp_${filled("a1")}`],
  ["beginnings of keys", (filled: Fill) => filled("-----BEGIN PRIVATE KEY-----")],
  [
    "keys that hold nothing",
    (filled: Fill) => filled(`${"-----BEGIN PRIVATE KEY-----".repeat(2000)}-----END PRIVATE KEY-----`),
  ],
  ["a key without an end", (filled: Fill) => `-----BEGIN PRIVATE KEY-----\n${filled(`${"A".repeat(64)}\n`)}`],
  ["addresses", (filled: Fill) => filled("://a:b")],
  ["an endless address", (filled: Fill) => `://a:${filled("@")}`],
  ["assignments", (filled: Fill) => filled("SECRET=1a", "(")],
  ["numbers before a token", (filled: Fill) => filled("1", ":AA")],
  ["headers", (filled: Fill) => filled("Authorization: Bearer ")],
  ["ends of keys", (filled: Fill) => filled(`${"A".repeat(64)}\n-----END PRIVATE KEY-----\n`)],
  ["a key without a beginning", (filled: Fill) => `${filled(`${"A".repeat(64)}\n`)}-----END PRIVATE KEY-----`],
  ["tokens that break", (filled: Fill) => filled("ghp_aaaaaaa1\n")],
  ["names of secrets", (filled: Fill) => filled("password:")],
  ["names whose quotes do not end", (filled: Fill) => filled("password=“")],
  ["names in a sentence", (filled: Fill) => filled("token ")],
  ["colours", (filled: Fill) => filled("a\u001b[0m")],
  ["characters of no width", (filled: Fill) => filled("a\u200b")],
  ["commands", (filled: Fill) => filled("curl -u ")],
  ["cookies", (filled: Fill) => filled("Cookie: a=b1c2d3e4f5; ")],
  ["addresses whose passwords hold slashes", (filled: Fill) => filled("://a:/b@")],
  ["names of JSON web keys", (filled: Fill) => filled('"d":"')],
  ["beginnings of a registered value", (filled: Fill) => filled("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")],
] as const)("%s take time in proportion to their length", (_, makeText) => {
  const mask = createMask({ values: [`${"a".repeat(31)}c`] });
  const [short, long] = [makeText(filledTo(CHARS)), makeText(filledTo(CHARS * SIZE_RATIO))];
  let [ofShort, ofLong] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  // The minimum of several is the time of the text; the rest is warm-up, garbage collection and other work.
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    ofShort = Math.min(ofShort, processorTime(mask, short));
    ofLong = Math.min(ofLong, processorTime(mask, long));
    if (ofLong / ofShort < TIME_RATIO_MAX) break;
  }
  expect(ofLong / ofShort).toBeLessThan(TIME_RATIO_MAX);
});

function processorTime(mask: Mask, text: string): number {
  const before = process.cpuUsage();
  expect(typeof mask.text(text)).toBe("string");
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
