// Rules: what they find, in which words, and what they leave alone.
import { describe, expect, test } from "vitest";
import type { Entry, EntryOf } from "../../../model/entry.js";
import { FailedCommands } from "./commands.js";
import { readByRules } from "./rules.js";

const envelope = { id: "e1", session_id: "s1", project: "atlas", extra: {} };
const message = (role: string, content: unknown) =>
  ({ ...envelope, kind: "message", role, content }) as unknown as Entry;
const proposalsOf = (entry: Entry) => readByRules(entry).proposals;
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

describe("commands that failed and then worked", () => {
  const call = (session_id: string, command: unknown, is_error: boolean | undefined, project = "atlas") =>
    ({
      ...envelope,
      id: `${session_id}:${JSON.stringify(command)}:${is_error}`,
      kind: "tool_call",
      tool: "bash",
      session_id,
      project,
      args: { command },
      result: "",
      is_error,
    }) as unknown as EntryOf<"tool_call">;
  const learned = (...calls: readonly EntryOf<"tool_call">[]) => {
    const commands = new FailedCommands();
    for (const each of calls) commands.add(each);
    return commands.newProposals().map(({ proposal }) => proposal);
  };
  const many = (count: number) => Array.from({ length: count }, (_, nth) => nth);
  const repaired = (session: string, failed = "npm test", worked = "npm run test -- --run") => [
    call(session, failed, true),
    call(session, worked, undefined),
  ];

  test("in two sessions, each time with at most four words changed: both are quoted", () => {
    expect(learned(...repaired("s1"), ...repaired("s2"))).toEqual([
      expect.objectContaining({
        type: "adaptation",
        source: "rule:commands",
        project: "atlas",
        content: "`npm test` fails; `npm run test -- --run` works",
        evidence: [
          { entry_id: 's1:"npm test":true', quote: "npm test" },
          { entry_id: 's1:"npm run test -- --run":undefined', quote: "npm run test -- --run" },
          { entry_id: 's2:"npm test":true', quote: "npm test" },
          { entry_id: 's2:"npm run test -- --run":undefined', quote: "npm run test -- --run" },
        ],
      }),
    ]);
  });

  test.each<[string, readonly EntryOf<"tool_call">[], number]>([
    ["one session", repaired("s1"), 0],
    [
      "four words changed",
      [...repaired("s1", "a b c d e", "a 1 2 3 4"), ...repaired("s2", "a b c d e", "a 1 2 3 4")],
      1,
    ],
    [
      "five words changed",
      [...repaired("s1", "a b c d e f", "a 1 2 3 4 5"), ...repaired("s2", "a b c d e f", "a 1 2 3 4 5")],
      0,
    ],
    ["nothing left the same", [...repaired("s1", "ls", "pwd"), ...repaired("s2", "ls", "pwd")], 0],
    ["it never worked in the second", [...repaired("s1"), call("s2", "npm test", true)], 0],
    [
      "it worked before it failed",
      [...repaired("s1"), call("s2", "npm run test", false), call("s2", "npm test", true)],
      0,
    ],
    [
      "it worked unchanged",
      [
        ...repaired("s1"),
        call("s2", "npm test", true),
        call("s2", "npm test", false),
        call("s2", "npm run test", false),
      ],
      0,
    ],
    [
      "another project",
      [...repaired("s1"), call("s2", "npm test", true, "b"), call("s2", "npm run test", false, "b")],
      0,
    ],
    [
      "a list of words for a shell",
      [call("s1", ["bash", "-lc", "npm test"], true), call("s1", "npm run test", false), ...repaired("s2")],
      1,
    ],
    ["no command", [call("s1", 7, true), call("s1", "", true), call("s1", "x".repeat(501), true)], 0],
  ])("%s", (_, calls, count) => {
    expect(learned(...calls)).toHaveLength(count);
  });

  test("what was proposed is not proposed again until another session has learned it too", () => {
    const commands = new FailedCommands();
    const learn = (session: string) => {
      for (const each of repaired(session)) commands.add(each);
      const taught = commands.newProposals();
      for (const { done } of taught) done();
      return taught.map(({ proposal }) => proposal.evidence.length);
    };
    expect([learn("s1"), learn("s2"), learn("s2"), learn("s3")]).toEqual([[], [4], [], [6]]);
  });

  test("neither commands, sessions nor what they learned fill the memory of a program that never ends", () => {
    const others = many(10_000).map((nth) => call(`o${nth % 100}`, `make target-${nth}`, true));
    expect(learned(...repaired("s1"), ...others.slice(1), ...repaired("s2"))).toHaveLength(1);
    expect(learned(...repaired("s1"), ...others, ...repaired("s2"))).toEqual([]);
    const waiting = many(1_000).map((nth) => call(`w${nth}`, `make ${nth}`, true));
    const [failed, worked] = repaired("s2") as [EntryOf<"tool_call">, EntryOf<"tool_call">];
    expect(learned(...repaired("s1"), failed, ...waiting.slice(1), worked)).toHaveLength(1);
    expect(learned(...repaired("s1"), failed, ...waiting, worked)).toEqual([]);
    const sessions = many(51).map((nth) => `s${nth}`);
    const [lesson] = learned(...sessions.flatMap((session) => repaired(session)));
    expect(lesson?.evidence).toHaveLength(100);
  });
});
