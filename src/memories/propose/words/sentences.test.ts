// Standing instructions of users and decisions with their reason: what is taken, and what is passed over and why.
import { describe, expect, test } from "vitest";
import { ruleProposals } from "../../../../test/support/rule-proposals.js";
import type { Entry } from "../../../model/entry.js";
import { readByRules } from "../rules/rules.js";
import { wordPatterns } from "./patterns.js";

const envelope = { id: "e1", session_id: "s1", project: "atlas", extra: {} };
const says = (content: string, about: object = {}) =>
  read({ ...envelope, kind: "message", role: "user", content, ...about } as unknown as Entry);
const decides = (decision: string, rationale: string) =>
  read({ ...envelope, kind: "decision", decision, rationale } as unknown as Entry);
const read = (entry: Entry) => ({ proposals: ruleProposals(entry), passed_over: readByRules(entry).passed_over });

describe("a standing instruction of a user", () => {
  test.each([
    ["Always answer in German.", "preference", "Always answer in German."],
    ["never push to main", "preference", "never push to main"],
    [
      "Fix the login. Please always run the tests before you commit.",
      "preference",
      "always run the tests before you commit.",
    ],
    ["Also, never use npm in the web folder.", "project", "never use npm in the web folder."],
    ["Always use pnpm, never npm, in this repository.", "project", "Always use pnpm, never npm, in this repository."],
    ["I prefer short answers", "preference", "I prefer short answers"],
    [
      "I generally prefer composition over inheritance.",
      "preference",
      "I generally prefer composition over inheritance.",
    ],
    ["I prefer pnpm.", "project", "I prefer pnpm."],
  ])("%j", (text, type, content) => {
    const { proposals, passed_over } = says(text);
    expect(proposals).toMatchObject([{ type, content, source: "rule:words", project: "atlas" }]);
    expect(text).toContain(proposals[0]?.evidence[0]?.quote);
    expect(passed_over).toEqual([]);
    const prompt = read({
      ...envelope,
      kind: "interaction",
      prompt: text,
      response: "",
      response_summary: "",
    } as unknown as Entry);
    expect(prompt.proposals).toMatchObject([{ type, content }]);
  });

  test.each([
    ["Always answer in German?", "It is a question."],
    ["Always use this project once.", "It may hold for one task only, or refers to other text."],
    ["Always use this file for now.", "It may hold for one task only, or refers to other text."],
    ["Never use it.", "It may hold for one task only, or refers to other text."],
    ["Always answer as follows:", "It announces what comes next."],
    ["Never return Promise<void> from a handler.", "It contains code."],
    ["I prefer the second option.", "It is a choice of the moment."],
    ["I prefer tabs, but do what you like.", "It is a choice of the moment."],
    ["I prefer i5 over i7, and colors like silver or black.", "The preference is not about work."],
    [`Always use ${"very ".repeat(40)}long names.`, "It has more than 200 characters."],
    ["You are a cook. Always answer in French.", "The message is written for a model."],
    [`${"More words. ".repeat(10)}Always answer in German.`, "The message is long, and may be pasted."],
    ["# Rules\n- Always answer in German\n- Never push to main", "It is in a list, a document or a log."],
  ])("%j is passed over", (text, reason) => {
    const { proposals, passed_over } = says(text);
    expect(proposals).toEqual([]);
    expect(new Set(passed_over.map((each) => each.reason))).toEqual(new Set([reason]));
    expect(passed_over[0]).toMatchObject({ entry_id: "e1", content: expect.stringMatching(/always|never|prefer/i) });
  });

  test.each([
    "The build always fails.",
    "Never mind.",
    "Never seen such an error before.",
    "Always happy to help.",
    "```\nAlways answer in German.\n```",
    "> Always answer in German.",
    "2026-11-15T06:00:00 Always answer in German.",
    "<rules>\nAlways answer in German.\n</rules>",
    'The page says "Always answer in German."',
  ])("%j is none", (text) => {
    expect(says(text)).toEqual({ proposals: [], passed_over: [] });
  });

  test("only a user gives one, and no program in a user's name", () => {
    const text = "Always answer in German.";
    expect(says(text, { role: "assistant" }).proposals).toEqual([]);
    expect(says(text, { injected: "file" }).proposals).toEqual([]);
  });

  test.each([
    ["ffs, always run the fucking tests before you commit!", "always run the tests before you commit!"],
    ["And please: never push to main", "never push to main"],
  ])("fillers and swearing go, and the quote stays: %j", (text, content) => {
    const [proposal] = says(text).proposals;
    expect(proposal?.content).toBe(content);
    expect(text).toContain(proposal?.evidence[0]?.quote);
  });

  test.each([
    `${"2026-11-15 06:00:00 ERROR x\n".repeat(3)}Always answer in German.`,
    "ERROR: build failed\nAlways set the variable first.",
    `Look at it:\n${"- some point\n".repeat(3)}\nAlways answer in German.`,
    `${"word ".repeat(260)}. Always answer briefly.`,
  ])("of pasted text nothing is taken: case %#", (text) => {
    expect(says(text).proposals).toEqual([]);
  });

  test("of a long message only what names a tool or is emphatic", () => {
    const long = "We talked about the release. ".repeat(12);
    expect(says(`${long}Always answer briefly.`).proposals).toEqual([]);
    expect(says(`${long}Always use pnpm for installs.`).proposals).toHaveLength(1);
    expect(says(`${long}NEVER answer in English!`).proposals).toHaveLength(1);
  });
});

describe("patterns", () => {
  test.each(wordPatterns.map((row) => [row.language, row.class, row] as const))("%s, %s", (_, name, row) => {
    const classesOf = (text: string) =>
      readByRules({ ...envelope, kind: "message", role: "user", content: text } as unknown as Entry).findings.map(
        (finding) => finding.class,
      );
    expect(classesOf(row.example)).toEqual([name]);
    expect(classesOf(row.counter_example)).toEqual([]);
  });

  test("each strict class is there in six languages", () => {
    for (const name of ["always", "use_not", "prefer", "remember"]) {
      const languages = new Set(wordPatterns.filter((row) => row.class === name).map(({ language }) => language));
      expect([...languages].sort()).toEqual(["chinese", "english", "french", "german", "japanese", "spanish"]);
    }
  });
});

test("a message of 200 KB takes no long time, whatever is in it", () => {
  const lines = [
    "2026-11-15 06:00:00 ERROR always never must use x, not y\n",
    "always never should must use ",
    "Always use pnpm, never npm. ",
    "> quoted always\n",
    "\u304b\u5fc5\u305a".repeat(9),
    "((((((((([[[[[[",
    "- Never do it\n",
    "when you when you when you, ",
  ];
  for (const line of lines) {
    const text = line.repeat(Math.ceil(200_000 / line.length));
    const began = performance.now();
    says(text);
    expect(performance.now() - began).toBeLessThan(1_500);
  }
});

describe("a decision", () => {
  test("with its rationale is an adaptation, and both are quoted", () => {
    expect(decides("Retry once.", "the registry drops connections at night.")).toEqual({
      proposals: [
        {
          type: "adaptation",
          content: "Retry once (the registry drops connections at night)",
          source: "decision",
          evidence: [
            { entry_id: "e1", quote: "Retry once." },
            { entry_id: "e1", quote: "the registry drops connections at night." },
          ],
          project: "atlas",
          tags: [],
          generation: "",
        },
      ],
      passed_over: [],
    });
  });

  test("stands alone where both are too long for a statement", () => {
    expect(decides("Retry once", "x".repeat(280)).proposals).toMatchObject([
      { content: "Retry once", evidence: [{ quote: "Retry once" }] },
    ]);
  });

  test("without a rationale is passed over", () => {
    const reason = "The decision has no rationale.";
    expect(decides("Retry once", " ")).toEqual({
      proposals: [],
      passed_over: [{ entry_id: "e1", content: "Retry once", reason }],
    });
  });
});
