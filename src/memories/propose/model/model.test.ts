// What a model is shown, and what of its answer is taken: a model that lies gets nothing past parsing and gates.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { entrySaid, gateContextOf } from "../../../../test/support/proposals.js";
import { judge } from "../../judge/gates.js";
import type { GateContext } from "../../judge/judgement.js";
import { wordsOf } from "../../judge/statement.js";
import { Stems } from "../../text/stems.js";
import { generationOf, parseAnswer } from "./model-pass.js";
import { narrower, segmentLimits, segmentsOf } from "./segments.js";

const stems = new Stems();
const said = "From now on the export runs every night at 02:00, please.";
const entries = [
  entrySaid("user", said),
  entrySaid("assistant", "I will remember that the export runs every night.", { entry_id: "e2" }),
  entrySaid("tool", "Export job scheduled for the night shift", { entry_id: "e3" }),
];
const [segment] = segmentsOf(entries);
if (segment === undefined) throw new Error("a session has a piece");
const item = {
  type: "preference",
  content: "The export runs every night at 02:00",
  evidence: [{ text: 1, quote: said }],
};
const answer = (...memories: readonly unknown[]) => JSON.stringify({ memories });
const parse = (text: string) => parseAnswer(text, segment, "g1");

describe("segments", () => {
  test("texts are numbered with their speakers, and what a rule found is a note", () => {
    const [only, ...others] = segmentsOf([
      ...entries,
      entrySaid("system", "a rule found it", { entry_id: "e4" }),
      entrySaid("user", "  "),
    ]);
    expect(others).toEqual([]);
    expect(only?.text).toBe(
      `BEGIN\n[1] user: ${said}\n[2] assistant: I will remember that the export runs every night.\n[3] tool: Export job scheduled for the night shift\n[4] note: a rule found it\nEND`,
    );
    expect(only?.entryIds).toEqual(["e1", "e2", "e3", "e4"]);
    expect(segmentsOf([])).toEqual([]);
  });

  test("every piece is within its bound and of one project, and together they show every entry once, in order", () => {
    const many = Array.from({ length: 200 }, (_, at) =>
      entrySaid(at % 3 === 0 ? "user" : "assistant", `${at} ${"word ".repeat((at * 37) % 900)}`, {
        entry_id: `e${at}`,
        project: at < 100 ? "a" : "b",
      }),
    );
    const limits = { chars_max: 5_000, text_chars_max: 1_000 };
    const pieces = segmentsOf(many, limits);
    expect(pieces.flatMap(({ entryIds }) => entryIds)).toEqual(many.map(({ entry_id }) => entry_id));
    for (const piece of pieces) {
      expect(piece.text.length).toBeLessThan(limits.chars_max + 100 * (piece.entryIds.length + 1));
      expect(new Set(piece.entries.map(({ project }) => project)).size).toBe(1);
    }
  });

  test("a text of 5 MB loses its middle, and says so", () => {
    const [piece] = segmentsOf([entrySaid("tool", `${"a".repeat(2_500_000)}${"b".repeat(2_500_000)}`)]);
    expect(piece?.text.length).toBeLessThan(segmentLimits.text_chars_max + 200);
    expect(piece?.text).toContain("characters left out");
  });

  test("what is too long for a model is halved, and not for ever", () => {
    let limits: ReturnType<typeof narrower> = segmentLimits;
    let rounds = 0;
    for (; limits !== undefined; limits = narrower(limits)) rounds += 1;
    expect(rounds).toBeGreaterThan(3);
    expect(rounds).toBeLessThan(10);
  });
});

test("another model or another prompt is another generation", () => {
  const generation = generationOf({ model: "m", prompt: "p" });
  expect(generationOf({ model: "m", prompt: "p" })).toBe(generation);
  expect(generationOf({ model: "n", prompt: "p" })).not.toBe(generation);
  expect(generationOf({ model: "m", prompt: "q" })).not.toBe(generation);
});

describe("answers", () => {
  test("a statement becomes a proposal of this project and generation", () => {
    const proposal = {
      type: "preference",
      content: item.content,
      source: "model",
      evidence: [{ entry_id: "e1", quote: said }],
      project: "atlas",
      tags: [],
      generation: "g1",
    };
    expect(parse(answer(item))).toEqual({ proposals: [proposal], refused: [] });
    expect(parse(`Here it is:\n\`\`\`json\n${answer(item)}\n\`\`\`\nBye.`).proposals).toEqual([proposal]);
    expect(parse(answer())).toEqual({ proposals: [], refused: [] });
  });

  test("fields other than type, content and evidence are ignored", () => {
    const { proposals } = parse(
      answer({ ...item, project: "other", status: "active", confidence: 1, source: "person", id: "m1", promote: true }),
    );
    expect(proposals).toEqual(parse(answer(item)).proposals);
  });

  test.each([
    ["nothing", ""],
    ["prose", "I found nothing worth remembering."],
    ["half a document", answer(item, item).slice(0, -40)],
    ["10 MB", answer({ ...item, content: "x".repeat(10_000_000) })],
    ["a list", "[]"],
    ["another document", '{"memory": []}'],
    ["nesting", "[".repeat(100_000)],
    ["an unknown type", answer({ ...item, type: "fact" })],
    ["no content", answer({ ...item, content: null })],
    ["content without end", answer({ ...item, content: "x".repeat(2_001) })],
    ["no evidence", answer({ ...item, evidence: [] })],
    ["a text that was not shown", answer({ ...item, evidence: [{ text: 9, quote: said }] })],
    ["an entry by its id", answer({ ...item, evidence: [{ entry_id: "e1", quote: said }] })],
    ["a quote that is none", answer({ ...item, evidence: [{ text: 1, quote: 7 }] })],
    ["items that are none", answer(null, 7, "x", [])],
  ])("of %s nothing is taken, with a reason", (_, text) => {
    const { proposals, refused } = parse(text);
    expect(proposals).toEqual([]);
    expect(refused.length).toBeGreaterThan(0);
  });

  test("statements beyond five are left out", () => {
    const { proposals, refused } = parse(answer(...Array.from({ length: 25 }, () => item)));
    expect(proposals).toHaveLength(5);
    expect(refused).toEqual(["20 statements beyond the first 5 were ignored."]);
  });

  test.each<[string, object, string, Partial<GateContext>]>([
    [
      "an invented quote",
      { evidence: [{ text: 1, quote: "The export never runs on Sundays, says the user." }] },
      "evidence",
      {},
    ],
    ["a quote of somebody else", { evidence: [{ text: 3, quote: said }] }, "evidence", {}],
    ["a number of its own", { content: "The export runs every night at 03:00" }, "grounding", {}],
    ["a guess", { content: "The export probably runs every night" }, "hedge", {}],
    [
      "what was recalled",
      {},
      "feedback_guard",
      { given: [{ session_id: "s1", from: "memory", words: wordsOf(said) }] },
    ],
    [
      "what was rejected",
      {},
      "known",
      { memories: [{ id: "m1", content: item.content, project: "atlas", status: "rejected" }] },
    ],
  ])("%s is dropped", (_, lie, gate, about) => {
    const [proposal] = parse(answer({ ...item, ...lie })).proposals;
    if (proposal === undefined) throw new Error("it has the form of a statement");
    expect(judge(proposal, gateContextOf(entries, about), stems)).toMatchObject({ dropped: gate });
  });

  test("what only the assistant said becomes episodic, whatever the model calls it", () => {
    const lie = {
      ...item,
      content: "The export runs every night",
      evidence: [{ text: 2, quote: "the export runs every night" }],
    };
    const [proposal] = parse(answer(lie)).proposals;
    if (proposal === undefined) throw new Error("it has the form of a statement");
    expect(judge(proposal, gateContextOf(entries), stems)).toMatchObject({
      kept: { type: "episodic", project: "atlas" },
    });
  });

  test("the prompt shows an answer of the form that is parsed", () => {
    const prompt = readFileSync(new URL("../../../../../docs/EXTRACTION_PROMPT.md", import.meta.url), "utf8");
    const example = /```json\n(.*?)\n```/s.exec(prompt)?.[1] ?? "";
    expect(parse(example).proposals).toMatchObject([{ type: "preference", evidence: [{ entry_id: "e3" }] }]);
  });
});
