// A report on a terminal: counts in the usual format, and recorded text unchanged.
import pico from "picocolors";
import { expect, test } from "vitest";
import type { ReflectionReport } from "../../../index.js";
import { reflectionText } from "./reflection-text.js";

test("long counts are grouped, but neither positions nor recorded text are changed", () => {
  const markdown = [
    "## Self-reflection",
    "Looked at 20000 entries: 5000 from users, 4000 responses, 1200 errors. 3000 of other kinds were passed over.",
    "### Errors (1200)",
    "- 2026-11-15T06:39:37Z port 8080 is \\*taken\\* (1200 times; #12345)",
    "1195 more, 1200 in all.",
    "### Trend",
    "- Errors: 1200 in 20000 entries, 900 in the 20000 before: more often than before (#12345)",
    "### Insights",
    "- 1200 errors in 20000 entries, 1100 of them alike: “port 8080 is taken”. (#12345)",
  ].join("\n\n");
  const pane = { isTerminal: true, columns: 120, colours: pico.createColors(false), write: () => undefined };
  const text = reflectionText({ markdown } as ReflectionReport, pane);
  expect(text.split("\n").map((line) => line.trim())).toEqual([
    "Self-reflection",
    "Looked at 20,000 entries: 5,000 from users, 4,000 responses, 1,200 errors. 3,000 of other kinds",
    "were passed over.",
    "",
    "Errors (1,200)",
    "• 2026-11-15 06:39 port 8080 is *taken* (1200 times; #12345)",
    "1,195 more, 1,200 in all.",
    "",
    "Trend",
    "• Errors: 1,200 in 20,000 entries, 900 in the 20,000 before: more often than before (#12345)",
    "",
    "Insights",
    "• 1,200 errors in 20,000 entries, 1,100 of them alike: “port 8080 is taken”. (#12345)",
    "",
  ]);
});
