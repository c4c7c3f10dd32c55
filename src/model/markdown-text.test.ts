// Recorded text in Markdown: markup is escaped, and ordinary text stays as it is.
import { expect, test } from "vitest";
import { escapeMarkdown } from "./markdown-text.js";

test.each([
  ["<img src=x onerror=alert(1)>", "\\<img src=x onerror=alert(1)\\>"],
  ["![x](https://evil.example/p.png)", "!\\[x\\](https:\\//evil.example/p.png)"],
  ["[click](javascript:alert(1))", "\\[click\\](javascript:alert(1))"],
  // A backslash in the text must not cancel ours.
  ["\\[click](x)", "\\\\\\[click\\](x)"],
  ["\\\\<b>", "\\\\\\\\\\<b\\>"],
  ["[a]: https://evil.example", "\\[a\\]: https:\\//evil.example"],
  ["see www.evil.example", "see www\\.evil.example"],
  ["HTTPS://evil.example ftp://x", "HTTPS:\\//evil.example ftp:\\//x"],
  ["&lt;b&gt; &#60;", "\\&lt;b\\&gt; \\&#60;"],
  ["`code` and *stars*", "\\`code\\` and \\*stars\\*"],
  ["# heading", "\\# heading"],
  ["- item", "\\- item"],
  ["1. item", "1\\. item"],
  ["```", "\\`\\`\\`"],
  ["\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u0000", "red link"],
  ["\u001b[click](x)", "lick\\](x)"],
  ["    indented", "indented"],
  ["--- # ~~~", "\\--- # ~~~"],
  ["one\ntwo\r\n# three", "one two # three"],
])("%j", (text, escaped) => {
  expect(escapeMarkdown(text)).toBe(escaped);
});

test.each([
  "read_file: 3 of 5",
  "C:\\Users\\anna",
  "connect ECONNREFUSED 127.0.0.1:5432",
  "0.49 - a && c | d (e) {f} #12 50% 1.5 x!",
  "déjà vu 日本語 🙂",
])("stays as it is: %s", (text) => {
  expect(escapeMarkdown(text)).toBe(text);
});
