// Everything that the ancestor's self-reflection says of its entries, Hansard's Markdown says of the same entries.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { EntryInput } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { fingerprintOf } from "../../src/reflect/error-groups.js";
import { fuzz, fuzzTimeoutMs } from "../support/fuzz.js";
import { memoryRecorder } from "../support/memory-recorder.js";
import { type AncestorEntry, type AncestorItem, type AncestorReport, ancestorReport } from "./ancestor-report.js";

/** The ancestor counts them, Hansard does not: that is one of its faults. */
const STOP_WORDS = ["this", "that", "what", "about", "with", "have"];
const WORDS = [
  "migration",
  "database",
  "Invoice",
  "deploy,",
  '"latency"',
  "(queue)",
  "kubernetes",
  "café",
  "run",
  "🙂",
];

const words = fc
  .array(fc.constantFrom(...WORDS, ...STOP_WORDS, "\n"), { minLength: 1, maxLength: 40 })
  .map((drawn) => drawn.join(" ").trim() || "queue");
const errorText = fc.oneof(
  words,
  fc.tuple(fc.constantFrom("timeout after", "exit status", "refused at port"), fc.nat(3)).map((two) => two.join(" ")),
);
const percent = fc.nat(100).map((whole) => whole / 100);

const fields = fc.oneof(
  fc.record(
    {
      kind: fc.constant("message"),
      role: fc.constantFrom("user", "timmy", "system"),
      content: words,
      confidence: percent,
    },
    { requiredKeys: ["kind", "role", "content"] },
  ),
  fc.record({ kind: fc.constant("message"), role: fc.constantFrom("user", "timmy"), content: words }),
  fc.record({ kind: fc.constant("tool_call"), tool: words, result: words, is_error: fc.boolean() }),
  fc.record({ kind: fc.constant("error"), error: errorText, context: fc.constant("") }),
  fc.record({ kind: fc.constant("decision"), decision: words, rationale: words }),
);

const recorded = fc.array(fc.tuple(fields, fc.nat(90_000)), { maxLength: 60 }).map((drawn) => {
  let ms = Date.UTC(2026, 10, 15);
  return drawn.map(([one, pause]) => {
    ms += pause + 1;
    return { ...one, created_at: new Date(ms).toISOString() } as AncestorEntry;
  });
});

test(
  "item by item, over random entries",
  async () => {
    await fc.assert(
      fc.asyncProperty(recorded, fc.integer({ min: 1, max: 40 }), async (entries, limit) => {
        const { recorder } = memoryRecorder();
        if (entries.length > 0)
          await recorder.append(entries.map((one) => ({ ...one, session_id: "s" }) as EntryInput));
        const { markdown } = await recorder.reflect({ limit });
        if (entries.length === 0) expect(markdown).toBe("Nothing recorded yet to reflect on.");
        else expectSaid(ancestorReport(entries, limit), markdown, entries);
      }),
      fuzz(300),
    );
  },
  fuzzTimeoutMs,
);

function expectSaid(report: AncestorReport, markdown: string, entries: readonly AncestorEntry[]): void {
  const { reviewed, users, responses, errors, low_confidence, topics, insights } = report;
  const counts = `${users} from users, ${counted(responses, "response")}, ${counted(errors.count, "error")}.`;
  expect(markdown).toContain(`Looked at ${reviewed === 1 ? "1 entry" : `${reviewed} entries`}: ${counts}\n`);

  const doubts = linesOf(markdown, `Low confidence (${low_confidence.count})`);
  expect(doubts).toHaveLength(Math.max(1, Math.ceil(low_confidence.items.length)) + more(low_confidence.count));
  for (const [at, item] of low_confidence.items.entries()) {
    const place = `(#${positionOf(item, entries)})`;
    expect(doubts[at]).toBe(`- ${item.time}Z ${item.percent}%: ${onOneLine(item.text)} ${place}`);
  }
  if (low_confidence.count === 0) expect(doubts).toEqual(["No answer has a confidence below 50%."]);

  const failures = linesOf(markdown, `Errors (${errors.count})`);
  for (const item of errors.items) expectError(item, failures, entries);
  if (errors.count === 0) expect(failures).toEqual(["No errors."]);

  const said = linesOf(markdown, "Recurring topics");
  for (const { word, count } of topics.filter((topic) => !STOP_WORDS.includes(topic.word))) {
    const isSaid = said.some((line) => line.startsWith(`- ${word}: ${count} mentions (#`));
    // Among words that were said equally often the fifth place is anybody's.
    const last = Number(/: (\d+) mentions/.exec(said[4] ?? "")?.[1]);
    expect(isSaid || last === count, `${word} ${count} in ${said.join("\n")}`).toBe(true);
  }
  if (topics.length === 0) expect(said).toEqual(["No recurring topics."]);

  const advice = linesOf(markdown, "Insights").join("\n");
  if (insights.includes("low_confidence")) expect(advice).toMatch(/^- \d+ answers? ha(s|ve) a confidence below 50%/m);
  if (insights.includes("errors")) expect(advice).toMatch(new RegExp(`^- ${counted(errors.count, "error")} in `, "m"));
  if (topics.some(({ word }) => !STOP_WORDS.includes(word))) expect(advice).toMatch(/^- Frequent topic: “/m);
  const hasFailedCall = entries.slice(-reviewed).some((entry) => entry.kind === "tool_call" && entry.is_error);
  if (insights.includes("healthy") && !hasFailedCall) expect(advice).toContain("All looks well");
}

/** An error stands in a line of its own, or in that of the newest one with which it has all but numbers in common. */
function expectError(item: AncestorItem, lines: readonly string[], entries: readonly AncestorEntry[]): void {
  const position = positionOf(item, entries);
  const line = lines.find((one) => new RegExp(`#${position}[,)]`).test(one)) ?? "";
  const [, time, text = "", times] = /^- (\S*)Z (.*) \((?:(\d+) times since .*; )?#/.exec(line) ?? [];
  if (times === undefined) expect({ time, text }).toEqual({ time: item.time, text: onOneLine(item.text) });
  else expect({ line, alike: fingerprintOf(text) }).toEqual({ line, alike: fingerprintOf(firstLine(item.text)) });
}

function linesOf(markdown: string, heading: string): readonly string[] {
  const [, section = `no section ${heading}`] = markdown.split(`### ${heading}\n\n`);
  return itemAt(section.split("\n\n### "), 0)
    .split("\n")
    .filter((line) => line !== "");
}

function positionOf({ created_at }: AncestorItem, entries: readonly AncestorEntry[]): number {
  return entries.findIndex((entry) => entry.created_at === created_at) + 1;
}

function onOneLine(text: string): string {
  return text.replaceAll("\n", " ");
}

function firstLine(text: string): string {
  return itemAt(text.split("\n"), 0);
}

function more(count: number): number {
  return count > 5 ? 1 : 0;
}

function counted(count: number, one: "error" | "response"): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}
