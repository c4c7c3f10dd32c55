// Standing instructions of users and decisions with their reason: what is taken, and what is passed over and why.
import { describe, expect, test } from "vitest";
import type { Entry } from "../../../model/entry.js";
import { readByRules } from "./rules.js";

const envelope = { id: "e1", session_id: "s1", project: "atlas", extra: {} };
const says = (content: string, about: object = {}) =>
  readByRules({ ...envelope, kind: "message", role: "user", content, ...about } as unknown as Entry);
const decides = (decision: string, rationale: string) =>
  readByRules({ ...envelope, kind: "decision", decision, rationale } as unknown as Entry);

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
    const prompt = readByRules({
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
    ["Never mind.", '"mind" is not a known instruction.'],
    ["Never seen such an error before.", '"seen" is not a known instruction.'],
    ["Always happy to help.", '"happy" is not a known instruction.'],
    ["Always answer as follows:", "It announces what comes next."],
    ["Never return Promise<void> from a handler.", "It contains code."],
    ["I prefer the second option.", "It is a choice of the moment."],
    ["I prefer tabs, but do what you like.", "It is a choice of the moment."],
    ["I prefer i5 over i7, and colors like silver or black.", "The preference is not about work."],
    [`Always use ${"very ".repeat(40)}long names.`, "It has more than 200 characters."],
    ["You are a cook. Always answer in French.", "The message is written for a model."],
    [`${"More words. ".repeat(10)}Always answer in German.`, "The message is long, and may be pasted."],
    ["# Rules\n- Always answer in German\n- Never push to main", "It is in a list or a document."],
  ])("%j is passed over", (text, reason) => {
    const { proposals, passed_over } = says(text);
    expect(proposals).toEqual([]);
    expect(new Set(passed_over.map((each) => each.reason))).toEqual(new Set([reason]));
    expect(passed_over[0]).toMatchObject({ entry_id: "e1", content: expect.stringMatching(/always|never|prefer/i) });
  });

  test.each([
    "The build always fails.",
    "```\nAlways answer in German.\n```",
    "> Always answer in German.",
    "2026-11-15T06:00:00 Always answer in German.",
    "<rules>\nAlways answer in German.\n</rules>",
    'The page says "Always answer in German."',
  ])("%j is none", (text) => {
    expect(says(text)).toEqual({ proposals: [], passed_over: [] });
  });

  test("only a user gives one, and no agent in a user's name", () => {
    const text = "Always answer in German.";
    expect(says(text, { role: "assistant" }).proposals).toEqual([]);
    expect(says(text, { injected: "file" }).proposals).toEqual([]);
    const { proposals, passed_over } = says(text, { session_id: "claude-code:1/agent-7" });
    expect([proposals, passed_over[0]?.reason]).toEqual([[], "Another agent wrote it: the session is a subagent's."]);
  });
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
