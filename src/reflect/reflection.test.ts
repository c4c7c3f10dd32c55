// Reflection as a pure function: counts, findings with their citations, and the Markdown of a small store.
import { describe, expect, test } from "vitest";
import { reflect } from "../../test/support/reflect.js";
import type { Entry, EntryOf } from "../model/entry.js";
import { Reflection } from "./reflection.js";

let positions = 0;

function entry(kind: string, fields: object): Entry {
  positions += 1;
  const created_at = new Date(Date.UTC(2026, 10, 15) + positions * 1_000).toISOString();
  const envelope = { position: positions, id: `e${positions}`, kind, created_at, recorded_at: created_at };
  const labels = { session_id: "s", project: "", client: "", hash: "" };
  return { ...envelope, ...labels, ...fields } as unknown as Entry;
}

const said = (role: string, content: unknown, fields: object = {}): Entry =>
  entry("message", { role, content, tool_calls: [], tool_call_id: "", name: "", ...fields });
const asked = (prompt: string, response = "", fields: object = {}): Entry =>
  entry("interaction", { prompt, response, response_summary: "", error: "", ...fields });
const feedback = (about: Entry, fields: object): EntryOf<"feedback"> =>
  entry("feedback", { entry_id: about.id, label: "", comment: "", ...fields }) as EntryOf<"feedback">;
const failed = (error: string, fields: object = {}): Entry => entry("error", { error, context: "", ...fields });
const ran = (tool: string, fields: object = {}): Entry => entry("tool_call", { tool, args: {}, result: "", ...fields });
const decided = (decision: string, fields: object = {}): Entry =>
  entry("decision", { decision, rationale: "", ...fields });
const wordsOf = (...entries: readonly Entry[]): readonly string[] => reflect(entries).topics.map(({ word }) => word);

describe("counts", () => {
  test("without entries: one sentence, and nothing else", () => {
    expect(reflect([])).toMatchObject({ reviewed: 0, insights: [], markdown: "Nothing recorded yet to reflect on." });
  });

  test("an interaction counts as a user's message and, with a response, as one response", () => {
    const completed = asked("c", "", { response_id: "r" });
    expect(reflect([asked("a"), asked("b", "answer"), completed])).toMatchObject({ users: 3, responses: 2 });
  });

  test("a failed interaction is an error and not a response, grouped with errors of the same text", () => {
    const before = decided("ask again");
    const own = asked("a", "", { error: "overloaded after 3 s" });
    const completed = asked("b", "", { response_id: "r", error: "overloaded after 5 s" });
    const report = reflect([before, own, completed, failed("overloaded after 9 s")]);
    expect(report).toMatchObject({ users: 2, responses: 0, errors: 3 });
    expect(report.error_groups).toMatchObject([{ count: 3, text: "overloaded after 9 s" }]);
    expect(report.decisions).toMatchObject([{ errors: 3 }]);
    expect(report.trend.timeline.reduce((sum, { errors }) => sum + errors, 0)).toBe(3);
    expect(report.markdown).toContain("### Errors (3)");
  });

  test("confidences are counted in tenths, of assistants only; a boundary belongs to the upper tenth", () => {
    const rated = [0, 0.09, 0.3, 0.499, 0.5, 0.7, 0.95, 1].map((confidence) => ({
      ...said("assistant", "x"),
      confidence,
    }));
    const report = reflect([...rated, { ...said("user", "x"), confidence: 0.1 }, said("assistant", "x")]);
    expect(report.confidence).toEqual({ rated: 8, tenths: [2, 0, 0, 1, 1, 1, 0, 1, 0, 2] });
  });

  test("roles are read as views read them; system and tool messages count as neither", () => {
    const report = reflect(
      ["user", "assistant", "timmy", "model", "system", "developer", "tool", "function"].map((role) => said(role, "x")),
    );
    expect(report).toMatchObject({ reviewed: 8, users: 1, responses: 3, errors: 0 });
  });

  test("entries of other kinds are counted only; responses and feedback are read with their entries", () => {
    const others = [entry("raw", { source: "x", record: {} }), entry("clear", {})];
    expect(reflect(others)).toMatchObject({ reviewed: 0, passed_over: 2 });
    const looked = (...given: readonly Entry[]): string => reflect(given).markdown.split("\n")[2] as string;
    const counts = "Looked at 1 entry: 1 from users, 0 responses, 0 errors.";
    expect(looked(said("user", "x"))).toBe(counts);
    expect(looked(said("user", "x"), ...others)).toBe(`${counts} 2 of other kinds were passed over.`);
    expect(looked(said("user", "x"), others[0] as Entry)).toBe(`${counts} 1 of other kinds was passed over.`);
    expect(looked(said("user", "x"), entry("response", {}), entry("feedback", {}))).toBe(counts);
  });

  test("one entry, one response and one error are singular", () => {
    expect(reflect([asked("a", "b"), failed("c")]).markdown).toContain(
      "Looked at 2 entries: 1 from users, 1 response, 1 error.",
    );
  });
});

describe("low confidence", () => {
  test("is strictly below 0.5, of assistants only; all are counted and five shown, newest first", () => {
    const low = [0, 0.1, 0.2, 0.3, 0.4, 0.49].map((confidence) => said("timmy", `${confidence}`, { confidence }));
    const report = reflect([
      ...low,
      said("assistant", "sure", { confidence: 0.5 }),
      said("assistant", "silent"),
      said("user", "unsure", { confidence: 0.1 }),
      decided("risky", { confidence: 0.1 }),
    ]);
    expect(report.low_confidence.count).toBe(6);
    expect(report.low_confidence.items.map(({ text }) => text)).toEqual(["0.49", "0.4", "0.3", "0.2", "0.1"]);
    expect(report.low_confidence.items[0]?.entry_ids).toEqual([low[5]?.id]);
    expect(report.markdown).toContain("### Low confidence (6)\n\n- 2026-11-15T00:00:");
    expect(report.markdown).toContain("1 more, 6 in all.");
  });

  test("a text is shown with 120 code points and without line breaks", () => {
    const [item] = reflect([said("assistant", `a\r\nb\n${"🙂".repeat(200)}`, { confidence: 0 })]).low_confidence.items;
    expect(item?.text).toBe(`a b ${"🙂".repeat(116)}`);
  });
});

describe("topics", () => {
  test("exclude stop words, words of three letters and words said twice", () => {
    expect(
      wordsOf(...[1, 2, 3].map(() => said("user", "What is this thing that API does when they have it?"))),
    ).toEqual(["thing"]);
    expect(wordsOf(asked("migration migration"))).toEqual([]);
  });

  test("count every mention, in any case, in prompts, contents and their parts", () => {
    const entries = [asked("Migration MIGRATION"), said("user", [{ type: "text", text: "migration" }, "migration"])];
    const [topic] = reflect(entries).topics;
    expect(topic).toMatchObject({ word: "migration", count: 4 });
    expect(topic?.entry_ids).toEqual([entries[1]?.id, entries[0]?.id]);
  });

  test("exclude what others said", () => {
    expect(wordsOf(...[1, 2, 3].map(() => said("assistant", "migration")), failed("migration"))).toEqual([]);
  });

  test("are the five most frequent, ties in alphabetical order", () => {
    const text = `${"zebra ".repeat(4)}${"pears apple grape lemon mango melon ".repeat(3)}`;
    expect(wordsOf(asked(text))).toEqual(["zebra", "apple", "grape", "lemon", "mango"]);
  });

  test("in scripts without spaces are segmented, and words of two characters count", () => {
    expect(wordsOf(...[1, 2, 3].map(() => said("user", "我们的数据库为什么这么慢？")))).toEqual(["数据"]);
    expect(wordsOf(asked("サーバーの設定。サーバーの起動。サーバーの停止。"))).toContain("サーバー");
    expect(wordsOf(asked("ฐานข้อมูล ".repeat(3))).length).toBeGreaterThan(0);
  });

  test("treat composed and decomposed letters as the same", () => {
    expect(reflect([asked("Übung u\u0308bung ÜBUNG")]).topics).toMatchObject([{ word: "übung", count: 3 }]);
  });

  test("exclude the stop words of each text's own language only", () => {
    expect(wordsOf(asked("Warum ist diese Verbindung weg? Diese Verbindung ist nicht da, diese Verbindung."))).toEqual([
      "verbindung",
    ]);
    expect(
      wordsOf(asked("The store has a local link. Is the local store the link? A link to the local store.")),
    ).toEqual(["link", "local", "store"]);
  });

  test("exclude numbers and keys", () => {
    expect(wordsOf(asked(`12345 12345 12345 ${`${"k".repeat(65)} `.repeat(3)}`))).toEqual([]);
  });

  test("exclude secrets that the mask finds", () => {
    const mask = (text: string): string => text.replaceAll("hunter2x", "***");
    const report = reflect([asked("hunter2x hunter2x hunter2x"), failed("no hunter2x")], { mask });
    expect(JSON.stringify(report)).not.toContain("hunter2x");
  });
});

test("decisions are followed by errors of their session, up to the next decision or ten entries", () => {
  const first = decided("one");
  const error = failed("a");
  const elsewhere = failed("b", { session_id: "other" });
  const second = decided("two");
  const quiet = Array.from({ length: 10 }, () => said("user", "x"));
  const report = reflect([first, error, elsewhere, second, ...quiet, failed("too late")]);
  expect(report.decisions).toMatchObject([{ decision: "one", errors: 1, entry_ids: [first.id, error.id] }]);
});

test("tools: any failed call makes a tool failing; the median or the slowest twentieth makes it slow", () => {
  const calls = [
    ...[10, 20, 30].map((duration_ms) => ran("quick", { duration_ms })),
    ...[900, 1_100].map((duration_ms) => ran("slow", { duration_ms })),
    ...Array.from({ length: 9 }, () => ran("shaky", { is_error: false })),
    ran("shaky", { is_error: true }),
    ...Array.from({ length: 10 }, () => ran("solid")),
    ran("solid", { is_error: true }),
    ran("solid", { is_error: true }),
  ];
  const { tools, markdown } = reflect(calls);
  const byName = new Map(tools.map((tool) => [tool.tool, tool]));
  expect(byName.get("quick")).toMatchObject({ calls: 3, median_ms: 20, p95_ms: 30, is_slow: false });
  expect(byName.get("slow")).toMatchObject({ median_ms: 1_000, p95_ms: 1_100, is_slow: true });
  expect(byName.get("shaky")).toMatchObject({ failures: 1, failure_rate: 0.1, is_failing: true });
  expect(byName.get("solid")).toMatchObject({ calls: 12, failures: 2, is_failing: true });
  expect(byName.get("quick")).toMatchObject({ is_failing: false });
  // The most failures first, whatever their share.
  const lines = "- solid: 2 of 12 calls failed, 17% \\(#\\d+, #\\d+\\)\n- shaky: 1 of 10 calls failed, 10% \\(#";
  expect(markdown).toMatch(new RegExp(`### Failing tools\n\n${lines}`));
  expect(markdown).toContain("- 3 of 27 tool calls failed, most often solid: 2 of 12. (#");
  expect(markdown).not.toContain("All looks well");
});

test("names of tools are compared ignoring case, and shown as in the newest call", () => {
  const { tools } = reflect([ran("bash", { is_error: true }), ran("Bash")]);
  expect(tools).toMatchObject([{ tool: "Bash", calls: 2, failures: 1 }]);
});

test("the newest errors come first, whatever recurs most, and all are counted in groups", () => {
  const often = [1, 2, 3].map((at) => failed(`timeout after ${at} s`));
  const once = ["alpha", "beta", "gamma", "delta", "epsilon"].map((name) => failed(`${name} is missing`));
  const { markdown, error_groups } = reflect([...often, ...once]);
  expect(error_groups[0]).toMatchObject({ count: 3 });
  expect(markdown).toMatch(/### Errors \(8\)\n\n- \S+Z epsilon is missing \(#\d+\)\n/);
  expect(markdown).toContain("1 more, 6 groups in all.");
  expect(markdown).toContain("- 8 errors in 8 entries, 3 of them alike: “timeout after 3 s”.");
});

test("if no call failed, or none had a duration, the sections say so", () => {
  const untimed = reflect([ran("a"), ran("b", { is_error: true })]).markdown;
  expect(untimed).toContain("### Slow tools\n\nNo tool call had a duration.");
  const timed = reflect([ran("a", { duration_ms: 5 })]).markdown;
  expect(timed).toContain("### Failing tools\n\nNo tool call failed.");
  expect(timed).toContain("### Slow tools\n\nNo tool is slow.");
});

test("disliked answers are counted, and the newest five shown with their feedback", () => {
  const answers = Array.from({ length: 7 }, (_, at) => asked(`q${at}`, `answer ${at}`));
  const reflection = new Reflection({ mask: (text) => text.replace("hunter2", "***") });
  const opinions = answers.map((answer, at) => [
    feedback(answer, { score: -0.25, label: "meh" }),
    feedback(answer, { score: -1, comment: at === 6 ? "wrong, it is\nhunter2" : "" }),
  ]);
  for (const [at, answer] of [...answers.entries()].reverse()) reflection.add(answer, opinions[at]);
  reflection.add(asked("liked", "yes"));
  const { disliked, markdown, insights } = reflection.finish();
  expect(disliked).toMatchObject({
    count: 7,
    items: [{ text: "answer 6", comment: "wrong, it is ***", score: -1 }, {}, {}, {}, {}],
  });
  const [newest] = opinions[6] as [Entry, Entry];
  expect(disliked.items[0]?.entry_ids).toEqual([answers[6]?.id, newest.id, opinions[6]?.[1]?.id]);
  expect(disliked.items[1]).toMatchObject({ text: "answer 5", comment: "", label: "meh", score: -0.25 });
  expect(markdown).toContain("### Disliked answers (7)\n\n- 2026-");
  expect(markdown).toContain("Z answer 6: “wrong, it is \\*\\*\\*”, score -1 (#");
  expect(markdown).toContain("Z answer 5: meh, score -0.25 (#");
  expect(markdown).toContain("2 more, 7 in all.");
  expect(insights).toMatchObject([{ text: expect.stringMatching(/^All looks well/) }]);
});

test("frequent topics do not count as problems", () => {
  const { insights } = reflect([asked("migration"), asked("migration"), asked("migration")]);
  expect(insights.map(({ text }) => text)).toEqual([
    "All looks well: no low confidence, no errors, no failing tools.",
    "Frequent topic: “migration”, 3 mentions.",
  ]);
});

test("the trend compares shares, and cites the entries it is about", () => {
  const before = [failed("a"), ...Array.from({ length: 9 }, () => said("user", "x"))];
  const now = [failed("b"), said("user", "x")];
  expect(reflect(now, { before }).trend.changes).toEqual([
    { measure: "errors", now: 1, before: 1, direction: "up", entry_ids: [now[0]?.id] },
  ]);
});

test("if nothing is wrong, one line says so", () => {
  const { insights, markdown } = reflect([said("user", "hello"), said("assistant", "hi", { confidence: 0.9 })]);
  expect(insights).toMatchObject([{ text: expect.stringMatching(/^All looks well/), entry_ids: [] }]);
  expect(markdown).toMatch(/### Insights\n\n- All looks well/);
});

test("the report does not depend on the order of the entries", () => {
  const entries = [decided("d"), failed("e 1"), failed("e 2"), asked("migration migration migration"), ran("t")];
  expect(reflect([...entries].reverse())).toEqual(reflect(entries));
});

test("the Markdown of a small store", () => {
  positions = 0;
  const entries = [
    said("user", "Why does the migration fail?"),
    decided("run the migration again"),
    failed("timeout after 30 s"),
    failed("timeout after 60 s"),
    asked("Is the migration done?", "No."),
    said("assistant", "Perhaps it is the migration lock.", { confidence: 0.3 }),
    said("user", "Try the migration without a lock"),
    ran("psql", { is_error: true, duration_ms: 6_000 }),
  ];
  expect(reflect(entries).markdown).toBe(`## Self-reflection

Looked at 8 entries: 3 from users, 2 responses, 2 errors.

### Low confidence (1)

- 2026-11-15T00:00:06Z 30%: Perhaps it is the migration lock. (#6)

### Errors (2)

- 2026-11-15T00:00:04Z timeout after 60 s (2 times since 2026-11-15T00:00:03Z; #4, #3)

### Recurring topics

- migration: 3 mentions (#7, #5, #1)

### Failing tools

- psql: 1 of 1 calls failed, 100% (#8)

### Failing commands

No shell command failed.

### Slow tools

- psql: median 6.0 s, 95% within 6.0 s (#8)

### Disliked answers (0)

No answer has feedback below 0.

### Decisions followed by errors

- 2026-11-15T00:00:02Z run the migration again (then 2 errors; #2, #3, #4)

### Trend

Nothing earlier to compare with.

### Insights

- 1 answer has a confidence below 50%: check it before relying on it. (#6)
- 2 errors in 8 entries, 2 of them alike: “timeout after 60 s”. (#4, #3)
- psql: 1 of 1 calls failed. (#8)
- Frequent topic: “migration”, 3 mentions. (#7, #5, #1)`);
});
