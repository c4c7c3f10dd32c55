// Masking under attack: large texts that are made to be slow take time in proportion to their length.
import { expect, test } from "vitest";
import { createMask } from "./mask.js";

const CHARS = 4 * 1024 * 1024;
/** Of processor time, since other work on the machine counts on the clock; quadratic shapes take many minutes. */
const MS_MAX = 30_000;

const filled = (part: string, end = ""): string => part.repeat(Math.floor(CHARS / part.length)) + end;

test.each([
  ["letters", () => filled("a")],
  ["base64", () => filled("QUJDREVGRw+/")],
  ["runs of JSON in base64", () => filled("eyJ")],
  ["beginnings of tokens of the web", () => filled("eyJaaaaaaaa.")],
  ["runs of JSON in base64 with joints", () => filled("-eyJ")],
  ["beginnings of keys with joints", () => filled("_sk-proj-eyJ-")],
  ["prefixes", () => filled("ghp_xoxb-sk-1AKIA")],
  ["one prefix", () => filled("ghp_")],
  ["one prefix that needs no joint", () => filled("AKIA")],
  ["prefixes in a token", () => filled("glpat-")],
  ["prefixes in tokens", () => filled(`${"glpat-".repeat(42)} `)],
  ["tokens in a row", () => filled(`ghp_${"a1".repeat(18)}`)],
  ["tokens that JSON in base64 follows", () => filled(`dapi${"a1".repeat(16)}eyJ_`)],
  ["tokens full of other beginnings", () => filled(`ghp_${"eyJsk".repeat(20)}-`)],
  ["tokens full of keys", () => filled(`npm_${"AIzaLTAI".repeat(30)}-`)],
  ["tokens that only seem whole", () => filled("EAA", "+")],
  ["encoded beginnings of keys", () => filled("-----BEGIN%20PRIVATE%20KEY-----")],
  ["keys with nothing but headers", () => filled(`-----BEGIN PRIVATE KEY-----\n${"DEK-Info: a\n".repeat(9)}`)],
  ["lines of a key with breaks that are none", () => `-----BEGIN PRIVATE KEY-----${filled("%0A+%2B")}`],
  ["one endless token", () => `ghp_${filled("a1")}`],
  ["beginnings of keys", () => filled("-----BEGIN PRIVATE KEY-----")],
  ["keys that hold nothing", () => filled(`${"-----BEGIN PRIVATE KEY-----".repeat(2000)}-----END PRIVATE KEY-----`)],
  ["a key without an end", () => `-----BEGIN PRIVATE KEY-----\n${filled(`${"A".repeat(64)}\n`)}`],
  ["addresses", () => filled("://a:b")],
  ["an endless address", () => `://a:${filled("@")}`],
  ["assignments", () => filled("SECRET=1a", "(")],
  ["numbers before a token", () => filled("1", ":AA")],
  ["headers", () => filled("Authorization: Bearer ")],
  ["ends of keys", () => filled(`${"A".repeat(64)}\n-----END PRIVATE KEY-----\n`)],
  ["a key without a beginning", () => `${filled(`${"A".repeat(64)}\n`)}-----END PRIVATE KEY-----`],
  ["tokens that break", () => filled("ghp_aaaaaaa1\n")],
  ["names of secrets", () => filled("password:")],
  ["names whose quotes do not end", () => filled("password=“")],
  ["names in a sentence", () => filled("token ")],
  ["colours", () => filled("a\u001b[0m")],
  ["characters of no width", () => filled("a\u200b")],
  ["commands", () => filled("curl -u ")],
  ["cookies", () => filled("Cookie: a=b1c2d3e4f5; ")],
  ["addresses whose passwords hold slashes", () => filled("://a:/b@")],
  ["names of JSON web keys", () => filled('"d":"')],
  ["beginnings of a registered value", () => filled("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")],
] as const)(
  "4 MB of %s are scanned in bounded time",
  (_, makeText) => {
    const mask = createMask({ values: [`${"a".repeat(31)}c`] });
    const text = makeText();
    const before = process.cpuUsage();
    const masked = mask.text(text);
    const { user, system } = process.cpuUsage(before);
    expect(typeof masked).toBe("string");
    expect((user + system) / 1000).toBeLessThan(MS_MAX);
  },
  600_000,
);
