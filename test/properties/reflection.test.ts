// Reflection over any entries at all: it never fails, its counts add up, and everything it says is cited.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry, EntryOf } from "../../src/model/entry.js";
import { fuzz } from "../support/fuzz.js";
import { reflect } from "../support/reflect.js";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "",
    " ",
    "migration migration migration",
    "数据库数据库数据库",
    "\ud800",
    "x'y 'z ''",
    "a\r\nb\u2028c",
  ),
);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const content = fc.oneof(
  text,
  fc.array(fc.oneof(text, fc.record({ type: text, text }), fc.dictionary(text, fc.jsonValue()))),
);

const fields = fc.oneof(
  fc.record({
    kind: fc.constant("interaction"),
    prompt: text,
    response: text,
    response_summary: text,
    error: fc.oneof(fc.constant(""), text),
  }),
  fc.record({
    kind: fc.constant("message"),
    role: fc.constantFrom("user", "assistant", "system", "tool", "developer", "timmy", "function", "model"),
    content,
    confidence: maybe(fc.double({ min: 0, max: 1, noNaN: true })),
  }),
  fc.record({
    kind: fc.constant("tool_call"),
    tool: text,
    is_error: maybe(fc.boolean()),
    duration_ms: maybe(fc.double({ noNaN: true, noDefaultInfinity: true })),
  }),
  fc.record({ kind: fc.constant("error"), error: text, context: text }),
  fc.record({ kind: fc.constant("decision"), decision: text, rationale: text }),
  fc.record({ kind: fc.constantFrom("raw", "clear", "session_info", "audit") }),
);

const entries = fc
  .array(fc.record({ fields, session_id: fc.constantFrom("", "a", "b"), second: fc.nat({ max: 5 }) }), {
    maxLength: 40,
  })
  .map((drawn) =>
    drawn.map((one, at) => {
      const created_at = new Date(Date.UTC(2026, 10, 15) + one.second * 1_000).toISOString();
      const envelope = { position: at + 1, id: `e${at + 1}`, created_at, recorded_at: created_at };
      const labels = { session_id: one.session_id, project: "", client: "", hash: "" };
      return { ...envelope, ...labels, ...withoutAbsent(one.fields) } as unknown as Entry;
    }),
  );

/** What somebody thought of about every third entry. */
const opinion = fc.record({ score: fc.constantFrom(-1, -0.5), label: text, comment: text });
const dislikesOf = (given: readonly Entry[]): fc.Arbitrary<ReadonlyMap<string, readonly EntryOf<"feedback">[]>> =>
  fc.array(fc.tuple(fc.nat({ max: 40 }), fc.array(opinion, { maxLength: 3 })), { maxLength: 14 }).map(
    (drawn) =>
      new Map(
        drawn.flatMap(([at, opinions]) => {
          const entry = given[at];
          const feedback = opinions.map((one, of) => ({ ...one, id: `f${at}.${of}`, position: 100 + at * 3 + of }));
          return entry === undefined ? [] : [[entry.id, feedback as unknown as readonly EntryOf<"feedback">[]]];
        }),
      ),
  );
const entriesAndDislikes = entries.chain((given) => fc.tuple(fc.constant(given), dislikesOf(given)));

/** An absent number or boolean is absent, not undefined. */
function withoutAbsent(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

test("any entries give a report whose counts are those of the entries", () => {
  fc.assert(
    fc.property(entries, (given) => {
      const report = reflect(given);
      const conversation = given.filter(({ kind }) => CONVERSATION.has(kind));
      expect(report.reviewed).toBe(conversation.length);
      const hasFailed = (entry: Entry): boolean =>
        entry.kind === "error" || (entry.kind === "interaction" && entry.error !== "");
      expect(report.errors).toBe(conversation.filter(hasFailed).length);
      expect(report.error_groups.reduce((sum, { count }) => sum + count, 0)).toBe(report.errors);
      expect(report.tools.reduce((sum, { calls }) => sum + calls, 0)).toBe(
        conversation.filter(({ kind }) => kind === "tool_call").length,
      );
      expect(report.trend.timeline.reduce((sum, slot) => sum + slot.entries, 0)).toBe(report.reviewed);
      expect(report.users + report.responses).toBeLessThanOrEqual(2 * report.reviewed);
    }),
    fuzz(300),
  );
});

test("every finding cites entries that were given, and the Markdown their positions", () => {
  fc.assert(
    fc.property(entriesAndDislikes, ([given, dislikes]) => {
      const report = reflect(given, { dislikes });
      const feedback = [...dislikes.values()].flat();
      const ids = new Set([...given, ...feedback].map(({ id }) => id));
      const { low_confidence, error_groups, topics, tools, disliked, decisions, trend, insights } = report;
      const lists = [...low_confidence.items, ...error_groups, ...topics, ...tools, ...disliked.items];
      const findings = [...lists, ...decisions, ...trend.changes];
      const conversation = given.filter(({ kind }) => CONVERSATION.has(kind));
      expect(disliked.count).toBe(conversation.filter(({ id }) => dislikes.has(id)).length);
      expect(disliked.items).toHaveLength(Math.min(disliked.count, 5));
      for (const { entry_ids } of findings) expect(entry_ids.length).toBeGreaterThan(0);
      for (const { entry_ids } of [...findings, ...insights]) {
        expect(entry_ids.every((id) => ids.has(id))).toBe(true);
        expect(new Set(entry_ids).size).toBe(entry_ids.length);
      }
      for (const { word, count } of topics) expect([...word].length >= 2 && count >= 3).toBe(true);
      expect(topics.length).toBeLessThanOrEqual(5);
    }),
    fuzz(300),
  );
});

test("the order of the entries, and the Markdown's lines, do not depend on recorded text", () => {
  fc.assert(
    fc.property(entriesAndDislikes, ([given, dislikes]) => {
      const report = reflect(given, { dislikes });
      expect(reflect([...given].reverse(), { dislikes })).toEqual(report);
      if (report.reviewed === 0) return;
      const headings = report.markdown.split("\n").filter((line) => /^#{2,3} (?!#)/.test(line));
      expect(headings).toHaveLength(11);
      expect(report.markdown.split(/\n/).every((line) => line === "" || /^(#{2,3} |- |\S)/u.test(line))).toBe(true);
    }),
    fuzz(300),
  );
});

const CONVERSATION = new Set<string>(["interaction", "message", "tool_call", "error", "decision"]);
