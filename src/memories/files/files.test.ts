// Memory files: which statements they hold, and what the record says of each.
import { describe, expect, test } from "vitest";
import { entrySaid } from "../../../test/support/proposals.js";
import type { KnownMemory } from "../judge/judgement.js";
import type { QuotedEntry } from "../text/quoted-entry.js";
import { Stems } from "../text/stems.js";
import { audited, FileCopies } from "./file-audit.js";
import { statementsOf } from "./statements.js";
import { SupportSearch } from "./support.js";

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
  ) => audited(content, { entries, packs, memories, support: new SupportSearch(stems) }, stems);
  const memory = (content: string, status: KnownMemory["status"]): KnownMemory => ({
    id: "m1",
    content,
    project: "atlas",
    status,
  });
  const said = "Sure. The shop is deployed on Fridays, that happens at 14:00. Thanks.";

  test("supported by a user or a tool, with the quote", () => {
    for (const by of ["user", "tool"] as const) {
      expect(judged({ entries: [entrySaid(by, said)] })).toMatchObject({
        verdict: "supported",
        evidence: { entry_id: "e1", quote: "The shop is deployed on Fridays, that happens at 14:00." },
      });
    }
  });

  test("mentioned if only assistants or packs say it", () => {
    expect(judged({ entries: [entrySaid("assistant", said)] })).toMatchObject({
      verdict: "mentioned",
      evidence: { entry_id: "e1" },
    });
    expect(judged({ packs: [entrySaid("system", said)] })).toMatchObject({ verdict: "mentioned" });
    expect(
      judged({ entries: [entrySaid("assistant", said), entrySaid("user", said, { entry_id: "e2" })] }),
    ).toMatchObject({
      verdict: "supported",
      evidence: { entry_id: "e2" },
    });
  });

  test.each([
    ["nothing at all", ""],
    ["another number and other words", "The office opens at 15:00 every day."],
    ["a guess", "Maybe the shop is deployed on Fridays, that happens at 14:00."],
    ["a question", "Is the shop deployed on Fridays, does that happen at 14:00?"],
    ["too few of its words", "The shop is closed on Fridays."],
    [
      "words scattered over more than three sentences",
      "Deploys are hard. A. The shop sells. B. Fridays are free. C. Things happen. D. It was 14:00.",
    ],
  ])("unsupported by %s", (_, text) => {
    expect(judged({ entries: [entrySaid("user", text)] }).verdict).toBe("unsupported");
  });

  test("contradicted by what a user said last, or by an active memory", () => {
    const otherwise = "The deploys of the shop happen on Fridays at 16:00.";
    expect(judged({ entries: [entrySaid("user", otherwise)] })).toMatchObject({
      verdict: "contradicted",
      evidence: { quote: otherwise },
    });
    for (const [asked, content] of [
      ["Please remember that the staging database listens on port 5433.", "The staging database listens on port 5434"],
      ["Bitte merk dir: die Datenbank von atlas läuft auf Port 5433.", "Die Datenbank von atlas läuft auf Port 5434"],
      ["从现在起部署之前不要运行测试。", "部署之前要运行测试"],
    ] as const) {
      expect(judged({ entries: [entrySaid("user", asked)] }, content).verdict, asked).toBe("contradicted");
    }
    expect(judged({ entries: [entrySaid("user", said), entrySaid("user", otherwise)] }).verdict).toBe("contradicted");
    expect(judged({ entries: [entrySaid("user", otherwise), entrySaid("user", said)] }).verdict).toBe("supported");
    expect(
      judged({ memories: [memory("Deploys of the shop never happen on Fridays at 14:00", "active")] }),
    ).toMatchObject({ verdict: "contradicted", memory: "m1" });
    expect(
      judged({ memories: [memory("Deploys of the shop never happen on Fridays at 14:00", "candidate")] }).verdict,
    ).toBe("unsupported");
  });

  test("a sentence that says what the statement denies is no evidence of it, whatever else it says", () => {
    for (const [text, content] of [
      ["git push origin main", "Never push to main."],
      ["Nobody on this team should ever worry: never push to main without a review.", "Push to main."],
    ] as const) {
      expect(judged({ entries: [entrySaid("tool", text)] }, content).verdict, text).toBe("unsupported");
    }
    const same = "As we said last week in the meeting, never push to main.";
    expect(judged({ entries: [entrySaid("user", same)] }, "Never push to main.").verdict).toBe("supported");
  });

  test("superseded where a memory that says it was, and none that is active says it", () => {
    expect(judged({ entries: [entrySaid("user", said)], memories: [memory(statement, "superseded")] })).toMatchObject({
      verdict: "superseded",
      memory: "m1",
    });
    expect(judged({ memories: [memory(statement, "superseded"), memory(statement, "active")] }).verdict).toBe(
      "unsupported",
    );
  });

  test("a statement of few words needs all of them in one sentence", () => {
    expect(judged({ entries: [entrySaid("user", "We use pnpm here.")] }, "Use pnpm here").verdict).toBe("supported");
    expect(judged({ entries: [entrySaid("user", "We use npm here.")] }, "Use pnpm here").verdict).toBe("unsupported");
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
