// Judging under random and hostile input: nothing throws, nothing gets past a gate, and nothing takes long.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { audited } from "../../src/memories/files/file-audit.js";
import { statementsOf } from "../../src/memories/files/statements.js";
import { judge } from "../../src/memories/judge/gates.js";
import { hedgeIn } from "../../src/memories/judge/hedges.js";
import type { GateContext } from "../../src/memories/judge/judgement.js";
import { particularsOf } from "../../src/memories/judge/particulars.js";
import { wordsOf } from "../../src/memories/judge/statement.js";
import { parseAnswer } from "../../src/memories/propose/model/model-pass.js";
import { segmentsOf } from "../../src/memories/propose/model/segments.js";
import { MemoryIndex } from "../../src/memories/reinforce/matching.js";
import type { QuotedEntry } from "../../src/memories/text/quoted-entry.js";
import { sentencesOf } from "../../src/memories/text/sentences.js";
import { Stems } from "../../src/memories/text/stems.js";
import type { Entry } from "../../src/model/entry.js";
import { memorySources, memoryStatuses, memoryTypes, type Proposal } from "../../src/model/memory.js";
import { ruleProposals } from "../support/rule-proposals.js";

const stems = new Stems();

/** Words that rules, gates and languages listen to, among anything else. */
const words =
  "remember that from now on I prefer decided to the requirement is ## Decision: maybe not never 8080 src/a.ts --flag `code` user tabs spaces port server ? ! . \n ``` > ab jetzt nicht à partir de maintenant recuerda que 记住 端口 不要 今後は 覚えておいて".split(
    /(?<! ) /,
  );
const text = fc.oneof(
  { weight: 4, arbitrary: fc.array(fc.constantFrom(...words), { maxLength: 25 }).map((some) => some.join(" ")) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
);
const speaker = fc.constantFrom("user", "tool", "assistant", "system" as const);
const project = fc.constantFrom("", "atlas", "other");
const entry: fc.Arbitrary<QuotedEntry> = fc.record({
  entry_id: fc.constantFrom("e1", "e2", "e3"),
  session_id: fc.constantFrom("s1", "s2"),
  project,
  said: fc.array(fc.record({ by: speaker, text }), { minLength: 1, maxLength: 3 }),
});
const ground: fc.Arbitrary<GateContext> = fc.record({
  entriesById: fc
    .array(entry, { minLength: 1, maxLength: 3 })
    .map((entries) => new Map(entries.map((each) => [each.entry_id, each]))),
  given: fc.array(
    fc.record({
      session_id: fc.constantFrom("s1", "s2"),
      from: fc.constantFrom("context_pack", "memory", "consolidation" as const),
      words: text.map(wordsOf),
    }),
    { maxLength: 2 },
  ),
  memories: fc.array(
    fc.record({ id: fc.constantFrom("m1", "m2"), content: text, project, status: fc.constantFrom(...memoryStatuses) }),
    { maxLength: 3 },
  ),
});

/** A proposal that mostly quotes what is there, so it reaches the later gates. */
const trial = ground.chain((around) => {
  const texts = [...around.entriesById.values()].flatMap(({ entry_id, said }) =>
    said.map((each) => ({ entry_id, quote: each.text })),
  );
  const evidence = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...texts) },
    { weight: 1, arbitrary: fc.record({ entry_id: fc.constantFrom("e1", "e9"), quote: text }) },
  );
  const proposal: fc.Arbitrary<Proposal> = fc.record({
    type: fc.constantFrom(...memoryTypes),
    content: fc.oneof(fc.constantFrom(...texts.map(({ quote }) => quote)), text),
    source: fc.constantFrom(...memorySources),
    evidence: fc.array(evidence, { maxLength: 3 }),
    project,
    tags: fc.constant([]),
    generation: fc.constant(""),
  });
  return proposal.map((each) => ({ proposal: each, around }));
});

test("what passes has passed every gate, and the same input is judged the same", () => {
  let kept = 0;
  fc.assert(
    fc.property(trial, ({ proposal, around }) => {
      const judgement = judge(proposal, around, stems);
      expect(judge(proposal, around, new Stems())).toEqual(judgement);
      if ("dropped" in judgement) {
        expect(judgement.reason).toMatch(/\S.*\.$/s);
        return;
      }
      kept += 1;
      const { content, evidence, type, source } = judgement.kept;
      const chars = [...content].length;
      expect(chars >= 8 && chars <= 280).toBe(true);
      expect(content).not.toMatch(/[\p{Cc}\p{Cf}]|^\s|\s$|\s\s/u);
      if (source !== "rule:commands") expect(hedgeIn(content)).toBeUndefined();
      const quoted = evidence.map(({ entry_id, quote }) => {
        const found = around.entriesById.get(entry_id);
        const said = found?.said.filter((each) => each.text.includes(quote)) ?? [];
        expect(said.length).toBeGreaterThan(0);
        return { project: found?.project, speakers: said.map(({ by }) => by) };
      });
      if (source === "person" && evidence.length === 0) return;
      expect(evidence.length).toBeGreaterThan(0);
      const bare = (words: string) =>
        words
          .normalize("NFKC")
          .toLowerCase()
          .replaceAll(/[\s_.`…-]+/gu, "");
      const said = evidence.flatMap(({ entry_id }) => around.entriesById.get(entry_id)?.said ?? []);
      for (const particular of particularsOf(content))
        expect(said.some((each) => bare(each.text).includes(bare(particular)))).toBe(true);
      if (source === "agent" || source === "model" || source === "import") {
        const speakers = quoted.flatMap((each) => each.speakers);
        if (type === "preference" || type === "identity") expect(speakers).toContain("user");
        if (type === "project" || type === "knowledge")
          expect(speakers.some((by) => by === "user" || by === "tool")).toBe(true);
      }
      if (judgement.kept.project !== "")
        expect(quoted.every((each) => each.project === judgement.kept.project)).toBe(true);
      else if (type !== "preference" && type !== "identity")
        expect(new Set(quoted.map((each) => each.project)).size).toBeLessThanOrEqual(1);
    }),
    { numRuns: 1_500 },
  );
  expect(kept).toBeGreaterThan(20);
});

test("rules quote any text word for word, and nothing throws", () => {
  fc.assert(
    fc.property(text, text, fc.constantFrom("user", "assistant"), (content, other, role) => {
      const message = {
        id: "e1",
        kind: "message",
        session_id: "s1",
        project: "atlas",
        role,
        content,
      } as unknown as Entry;
      for (const proposal of ruleProposals(message)) {
        for (const { quote } of proposal.evidence) {
          expect(content).toContain(quote);
          expect([...quote].length >= 20 || quote === content).toBe(true);
        }
      }
      for (const { text: sentence, start, end } of sentencesOf(content))
        expect(content.slice(start, end)).toBe(sentence);
      new MemoryIndex([{ id: "m1", content: other }], stems).matchedIn(content);
      const quoted = { entry_id: "e1", session_id: "s1", project: "", said: [{ by: "user" as const, text: content }] };
      for (const statement of statementsOf(content))
        audited(statement.text, { entries: [quoted], packs: [], memories: [] }, stems);
      for (const segment of segmentsOf([quoted])) parseAnswer(other, segment, "g");
    }),
    { numRuns: 1_000 },
  );
});

test("a JSON answer of any shape becomes proposals or reasons", () => {
  const quoted = { entry_id: "e1", session_id: "s1", project: "", said: [{ by: "user" as const, text: "x" }] };
  const segment = segmentsOf([quoted])[0]!;
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.json().map((json) => `{"memories":${json}}`),
        fc.json().map((json) => `{"memories":[${json}]}`),
      ),
      (answer) => {
        expect(Array.isArray(parseAnswer(answer, segment, "g").proposals)).toBe(true);
      },
    ),
  );
});

describe("5 MB of anything take seconds at most", () => {
  const size = 5_000_000;
  const filled = (unit: string) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
  const memories = [{ id: "m-1", content: "Use tabs for indentation, not spaces, in every file of the project" }];
  const index = new MemoryIndex(memories, stems);

  test.each([
    ["line breaks", "\n"],
    ["marks and a letter", "!!!!!!!!!!!!!!!!x"],
    ["backticks", "`"],
    ["headings", "# Decision: "],
    ["triggers", "remember that I prefer decided to "],
    ["conditions", "if if if the user "],
    ["tags", "<note "],
    ["digits", "1.2,3:"],
    ["Chinese", "端口不要运行测试"],
    ["combining marks", "e\u0301"],
    ["asterisks", "*_*"],
  ])(
    "%s",
    (_, unit) => {
      const long = filled(unit);
      const started = performance.now();
      for (const role of ["user", "assistant"]) {
        ruleProposals({
          id: "e1",
          kind: "message",
          session_id: "s1",
          project: "",
          role,
          content: long,
        } as unknown as Entry);
      }
      index.matchedIn(long);
      index.containedIn(long);
      const quoted: QuotedEntry = {
        entry_id: "e1",
        session_id: "s1",
        project: "atlas",
        said: [{ by: "user", text: long }],
      };
      const around: GateContext = {
        entriesById: new Map([["e1", quoted]]),
        given: [{ session_id: "s1", from: "context_pack", words: wordsOf(long) }],
        memories: [],
      };
      const proposal = { type: "preference", source: "agent", project: "", tags: [], generation: "" } as const;
      judge(
        { ...proposal, content: long.slice(0, 250), evidence: [{ entry_id: "e1", quote: long.slice(0, 100_000) }] },
        around,
        stems,
      );
      judge({ ...proposal, content: long, evidence: [{ entry_id: "e1", quote: long }] }, around, stems);
      audited(memories[0]!.content, { entries: [quoted], packs: [], memories: [] }, stems);
      statementsOf(long);
      segmentsOf([quoted]);
      parseAnswer(
        long,
        segmentsOf([quoted])[0] ?? { session_id: "", project: "", entries: [], entryIds: [], text: "" },
        "g",
      );
      expect(performance.now() - started).toBeLessThan(15_000);
    },
    60_000,
  );
});
