// Memory files: which statements they hold, and what the record says of each.
import { describe, expect, test } from "vitest";
import { entrySaid } from "../../../test/support/proposals.js";
import type { KnownMemory } from "../judge/judgement.js";
import type { QuotedEntry } from "../text/quoted-entry.js";
import { Stems } from "../text/stems.js";
import { audited, FileCopies } from "./file-audit.js";
import { statementsOf } from "./statements.js";

const stems = new Stems();

test("list items and sentences are statements; code, headings, tables, comments and front matter are none", () => {
  const file = [
    "---",
    "name: memories",
    "---",
    "# Project",
    "<!-- Nobody",
    "- reads this -->",
    "This project uses pnpm. Tests run with `pnpm test`,",
    "and never in parallel.",
    "",
    "## Style",
    "Rules:",
    "- Use **tabs** for indentation",
    "  in every file",
    "* [ ] Never commit to main. Ever.",
    "1. Keep functions small. Then look at these:",
    "",
    "```sh",
    "- pnpm run deploy everything",
    "```",
    "| a table | of things |",
    "@docs/other.md",
    "-----",
    "short",
    "- docs/ARCHITECTURE.md",
    "### Deeper",
    "最后一条规则是用中文写注释。",
  ].join("\r\n");
  expect(statementsOf(file)).toEqual([
    { text: "This project uses pnpm.", line: 7, under: ["Project"] },
    { text: "Tests run with `pnpm test`, and never in parallel.", line: 7, under: ["Project"] },
    { text: "Use tabs for indentation in every file", line: 12, under: ["Project", "Style"] },
    { text: "Never commit to main. Ever.", line: 14, under: ["Project", "Style"] },
    { text: "Keep functions small.", line: 15, under: ["Project", "Style"] },
    { text: "最后一条规则是用中文写注释。", line: 26, under: ["Project", "Style", "Deeper"] },
  ]);
  expect(statementsOf("")).toEqual([]);
});

test("a long list item is several statements", () => {
  expect(statementsOf(`- ${"This sentence is about tabs. ".repeat(12)}`)).toHaveLength(12);
});

describe("audit", () => {
  const statement = "Deploys of the shop happen on Fridays at 14:00";
  const judged = (
    { entries = [] as QuotedEntry[], packs = [] as QuotedEntry[], memories = [] as KnownMemory[] },
    content = statement,
  ) => audited(content, { entries, packs, memories }, stems);
  const memory = (content: string, status: KnownMemory["status"]): KnownMemory => ({
    id: "m1",
    content,
    project: "atlas",
    status,
  });
  const said = "Sure. The deploys of the shop happen on Fridays at 14:00. Thanks.";
  const otherwise = "The deploys of the shop happen on Fridays at 16:00.";

  test("quoted says who, with the quote", () => {
    for (const by of ["user", "tool", "assistant"] as const) {
      expect(judged({ entries: [entrySaid(by, said)] })).toMatchObject({
        verdict: "quoted",
        by,
        evidence: { entry_id: "e1", quote: "The deploys of the shop happen on Fridays at 14:00." },
      });
    }
    const asked = "Please remember that the staging database listens on port 5433.";
    expect(judged({ entries: [entrySaid("user", asked)] }, "The staging database listens on port 5433")).toMatchObject({
      verdict: "quoted",
      by: "user",
    });
    expect(judged({ entries: [entrySaid("user", "Never push to main, ever.")] }, "Never push to main").verdict).toBe(
      "quoted",
    );
  });

  test("against has the same sentence with another number, and a person's last word counts", () => {
    expect(judged({ entries: [entrySaid("user", otherwise)] })).toMatchObject({
      verdict: "against",
      reason: "A user said otherwise: the record has 16:00, not 14:00.",
      evidence: { quote: otherwise },
    });
    expect(judged({ entries: [entrySaid("user", said), entrySaid("user", otherwise)] }).verdict).toBe("against");
    expect(judged({ entries: [entrySaid("user", otherwise), entrySaid("user", said)] }).verdict).toBe("quoted");
    expect(judged({ entries: [entrySaid("user", said), entrySaid("assistant", otherwise)] }).verdict).toBe("quoted");
  });

  test.each([
    ["Maybe the deploys of the shop happen on Fridays at 14:00.", "the record only supposes it (“Maybe”)"],
    ["Do the deploys of the shop happen on Fridays at 14:00?", "the record asks it"],
    ["The deploys of the shop never happen on Fridays at 14:00.", "one of the two denies it"],
    ["Deploys of the shop happen on Fridays.", "the record does not have 14:00"],
    [
      "The shop has deploys that happen on Fridays at 14:00 and are announced to all teams.",
      "the record says it in other words",
    ],
  ])("mentioned with what differs: %j", (text, differs) => {
    const { verdict, reason, passages } = judged({ entries: [entrySaid("user", text)] });
    expect([verdict, passages?.[0]?.differs]).toEqual(["mentioned", differs]);
    expect(reason).toContain(differs);
  });

  test("what was only given to models is mentioned, and said by nobody", () => {
    expect(judged({ packs: [entrySaid("system", said)] })).toMatchObject({
      verdict: "mentioned",
      reason: "It was only given to models, never said.",
    });
  });

  test.each([
    ["nothing at all", ""],
    ["another number and other words", "The office opens at 15:00 every day."],
    ["too few of its words", "The shop is closed on Fridays."],
  ])("not found with %s", (_, text) => {
    expect(judged({ entries: [entrySaid("user", text)] }).verdict).toBe("not_found");
  });

  test("a sentence that says what the statement denies is no quote of it, whatever else it says", () => {
    for (const [text, content] of [
      ["git push origin main", "Never push to main."],
      ["Nobody on this team should ever worry: never push to main without a review.", "Push to main."],
    ] as const) {
      expect(judged({ entries: [entrySaid("tool", text)] }, content).verdict, text).not.toBe("quoted");
    }
  });

  test("a memory that says the same is named, with its status", () => {
    expect(judged({ entries: [entrySaid("user", said)], memories: [memory(statement, "superseded")] })).toMatchObject({
      verdict: "quoted",
      memory: "m1",
      memory_status: "superseded",
    });
  });

  test("a statement of few words needs all of them in one sentence", () => {
    expect(judged({ entries: [entrySaid("user", "We use pnpm here.")] }, "Use pnpm here").verdict).toBe("quoted");
    expect(judged({ entries: [entrySaid("user", "We use npm here.")] }, "Use pnpm here").verdict).toBe("not_found");
  });
});

describe("copies of the file", () => {
  const ten = Array.from({ length: 9 }, (_, nth) => `- Rule ${nth} is about tree number ${nth}`);
  const file = ["# Rules of the forest", ...ten].join("\n");
  const isCopy = (by: "user" | "tool" | "assistant", text: string, of = file) =>
    new FileCopies(of).split([entrySaid(by, text)]).copies.length === 1;

  test("are known by four fifths of its lines", () => {
    expect(isCopy("tool", file.split("\n").slice(0, 8).join("\n"))).toBe(true);
    expect(isCopy("tool", file.split("\n").slice(0, 7).join("\n"))).toBe(false);
    expect(isCopy("assistant", `I wrote:\n${file.toUpperCase()}`)).toBe(true);
    expect(isCopy("tool", "- a b\n- c d", "- a b\n- c d")).toBe(false);
    expect(isCopy("tool", "- a b\n- c d\n- e f", "- a b\n- c d\n- e f")).toBe(true);
  });

  test("are none where a user dictated the lines without the headings", () => {
    expect(isCopy("user", ten.join("\n"))).toBe(false);
    expect(isCopy("user", ten.join("\n"), ten.join("\n"))).toBe(false);
    expect(isCopy("user", `Contents of it:\n${file}`)).toBe(true);
  });

  test("go apart from what else an entry says", () => {
    const entry = { ...entrySaid("user", "Write the rules"), said: [{ by: "user" as const, text: "Write the rules" }] };
    const both = { ...entry, said: [...entry.said, { by: "tool" as const, text: file }] };
    expect(new FileCopies(file).split([both])).toEqual({
      said: [entry],
      copies: [{ ...entry, said: [{ by: "system", text: file }] }],
    });
  });
});
