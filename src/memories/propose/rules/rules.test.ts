// Rules: what they find, in which words, and what they leave alone.
import { describe, expect, test } from "vitest";
import { ruleProposals } from "../../../../test/support/rule-proposals.js";
import type { Entry } from "../../../model/entry.js";

const envelope = { id: "e1", session_id: "s1", project: "atlas", extra: {} };
const message = (role: string, content: unknown) =>
  ({ ...envelope, kind: "message", role, content }) as unknown as Entry;
const proposalsOf = ruleProposals;
const found = (entry: Entry) => proposalsOf(entry).map(({ type, content }) => [type, content]);

describe("headings", () => {
  test.each([
    ["# Decision: use SQLite", [["adaptation", "use SQLite"]]],
    ["###### decision - use SQLite", [["adaptation", "use SQLite"]]],
    ["## CONSTRAINT — no downtime", [["project", "no downtime"]]],
    ["##Requirement: fast answers ##", [["project", "fast answers"]]],
    ["text\n\n  ## Fact: retries are billed\nmore", [["knowledge", "retries are billed"]]],
    ["## **Decision:** use SQLite", [["adaptation", "use SQLite"]]],
    ["####### Decision: seven levels", []],
    ["Decision: no heading", []],
    ["## Decisions: plural", []],
    ["## Decision", []],
    ["## Decision:", []],
    ["```\n## Decision: in a fence\n```", []],
    ["````\n```\n## Decision: in a fence of four\n```\n````", []],
    ["```\n## Decision: fence that never ends", []],
    ["> ## Decision: quoted", []],
    ["```\ncode\n```\n## Decision: after the fence", [["adaptation", "after the fence"]]],
  ])("%j", (text, expected) => {
    expect(found(message("assistant", text))).toEqual(expected);
  });

  test("users and tools write none", () => {
    expect(found(message("user", "## Decision: use SQLite"))).toEqual([]);
    expect(found(message("tool", "## Decision: use SQLite"))).toEqual([]);
    expect(found(message("system", "## Decision: use SQLite"))).toEqual([]);
  });
});

describe("sentences of assistants", () => {
  test.each([
    ["So far so good. I prefer small modules. Next.", [["preference", "I prefer small modules."]]],
    ["THE USER PREFERS tabs.", [["preference", "THE USER PREFERS tabs."]]],
    ["- We decided to wait", [["adaptation", "We decided to wait"]]],
    ["The requirement is that it works offline.", [["project", "The requirement is that it works offline."]]],
    ["It was decided to wait for the audit.", [["adaptation", "It was decided to wait for the audit."]]],
    ["The user prefersomething", []],
    ["We undecided to wait", []],
    ["Does the user prefer tabs?", []],
    ["Has anybody decided to wait?", []],
  ])("%j", (text, expected) => {
    expect(found(message("assistant", text))).toEqual(expected);
  });

  test("they are read in answers, summaries and decisions, and not in what users say", () => {
    const text = "We decided to wait for the audit";
    const interaction = { ...envelope, kind: "interaction", prompt: text, response: "", response_summary: text };
    expect(found(interaction as unknown as Entry)).toEqual([["adaptation", text]]);
    expect(
      found({ ...envelope, kind: "response", response: text, response_summary: "" } as unknown as Entry),
    ).toHaveLength(1);
    expect(found({ ...envelope, kind: "decision", decision: "x", rationale: text } as unknown as Entry)).toHaveLength(
      1,
    );
    expect(found(message("user", text))).toEqual([]);
    expect(
      found({ ...envelope, kind: "tool_call", tool: "t", args: { text }, result: text } as unknown as Entry),
    ).toEqual([]);
    expect(found(message("assistant", [{ type: "text", text }]))).toHaveLength(1);
  });
});

describe("what users want remembered", () => {
  test.each([
    ["Remember that Friday is free.", "preference", "Friday is free."],
    ["remember: Friday is free", "preference", "Friday is free"],
    ["Please remember Friday is free", "preference", "Friday is free"],
    ["From now on, answer briefly", "preference", "answer briefly"],
    ["From now on, **always** format *every* file", "preference", "always format every file"],
    [
      "From now on, format *.ts and src/**/*.js, not __init__.py",
      "project",
      "format *.ts and src/**/*.js, not __init__.py",
    ],
    ["For future reference: Friday is free", "preference", "Friday is free"],
    ["Fix it. Also, from now on use src/api only.", "project", "use src/api only."],
    ["remember that we test with pytest", "project", "we test with pytest"],
    ["Merk dir, dass Freitag frei ist", "preference", "Freitag frei ist"],
    ["Ab jetzt bitte kurz antworten", "preference", "bitte kurz antworten"],
    ["Souviens-toi que vendredi est libre", "preference", "vendredi est libre"],
    ["À partir de maintenant, réponds brièvement", "preference", "réponds brièvement"],
    ["Recuerda que el viernes es libre", "preference", "el viernes es libre"],
    ["De ahora en adelante responde brevemente", "preference", "responde brevemente"],
    ["请记住，周五全公司放假一天。", "preference", "周五全公司放假一天。"],
    ["从现在开始，用中文回答", "preference", "从现在开始，用中文回答"],
    ["今後は、回答を短くしてください。", "preference", "回答を短くしてください。"],
    ["毎週金曜日は休みだと覚えておいてください。", "preference", "毎週金曜日は休みだ"],
  ])("%s", (text, type, content) => {
    expect(found(message("user", text))).toEqual([[type, content]]);
    expect(found(message("assistant", text))).toEqual([]);
  });

  test.each([
    "I remember that Friday is free",
    "Do you remember that Friday is free?",
    "Remember that?",
    "Remember that time in May",
    "please remember this",
    '"From now on" is a song',
    "> from now on, answer briefly",
    "<note>\nfrom now on, answer briefly\n</note>",
    "remembering that Friday is free",
  ])("%j is none", (text) => {
    expect(found(message("user", text))).toEqual([]);
  });
});

test("a quote stands in the text, and has 20 characters or is all of it", () => {
  const text = "Hi 😀! Remember: use tabs. OK 😀";
  const [proposal] = proposalsOf(message("user", text));
  expect(text).toContain(proposal?.evidence[0]?.quote);
  expect([...(proposal?.evidence[0]?.quote ?? "")].length).toBeGreaterThanOrEqual(20);
  expect(proposalsOf(message("user", "Remember: use it"))[0]?.evidence[0]?.quote).toBe("Remember: use it");
});

test("the same statement twice in an entry is one proposal", () => {
  expect(proposalsOf(message("user", "From now on, use tabs. From now on, use tabs."))).toHaveLength(1);
});
