// Every gate on both sides of what it decides, in the order in which proposals meet them.
import { describe, expect, test } from "vitest";
import { droppedBy, entrySaid, gateContextOf, judged, keptOf, proposalOf } from "../../../test/support/proposals.js";
import type { Evidence, MemorySource, MemoryStatus, MemoryType } from "../../model/memory.js";
import type { Speaker } from "../text/quoted-entry.js";
import { Stems } from "../text/stems.js";
import { judge } from "./gates.js";
import type { GivenText, KnownMemory } from "./judgement.js";
import { wordsOf } from "./statement.js";

const stems = new Stems();

test("the gates stand in the order of the contract: what every one would drop is dropped by the first that is left", () => {
  const said = "The build needs Docker on every machine";
  const memories: readonly KnownMemory[] = [{ id: "m1", content: said, project: "", status: "active" }];
  const given: readonly GivenText[] = [{ session_id: "s1", from: "memory", words: wordsOf(said) }];
  const inNoProject = { said, proposal: { type: "knowledge" }, entry: { project: "" } } as const;
  const templates = new Set(["e1"]);
  const other = entrySaid("user", said, { entry_id: "e2", project: "other" });
  const evidence = ["e1", "e2"].map((entry_id) => ({ entry_id, quote: said }));
  const inTwoProjects = proposalOf(said, { type: "knowledge", evidence });
  const nobodySaid = [{ entry_id: "e1", quote: "These are words that nobody said" }];
  const unsaid = { ...inNoProject, proposal: { ...inNoProject.proposal, evidence: nobodySaid } };
  const flawed = [
    judged({ ...unsaid, content: `Maybe ${said} 8080 ${"x".repeat(281)}`, ground: { given, memories } }),
    judged({ ...unsaid, content: `Maybe ${said} 8080`, ground: { given, memories } }),
    judged({ ...inNoProject, content: `Maybe ${said} 8080`, ground: { given, memories } }),
    judged({ ...inNoProject, content: `Maybe ${said}`, ground: { given, memories } }),
    judged({ ...inNoProject, content: said, ground: { given, memories, templates } }),
    judged({ ...inNoProject, content: said, ground: { memories, templates } }),
    judged({ ...inNoProject, content: said, ground: { memories } }),
    judge(inTwoProjects, gateContextOf([entrySaid("user", said), other]), stems),
  ];
  const order = ["form", "evidence", "grounding", "hedge", "feedback_guard", "template", "known", "project"];
  expect(flawed.map(droppedBy)).toEqual(order);
});

describe("form", () => {
  test.each([
    ["a".repeat(7), "form"],
    ["a".repeat(8), undefined],
    ["a".repeat(280), undefined],
    ["a".repeat(281), "form"],
    ["😀".repeat(280), undefined],
    ["😀".repeat(281), "form"],
    [`${"a".repeat(280)}...`, undefined],
    ["a b\u200b\u200b\u200b\u200b\u200b c", "form"],
    ["x".repeat(100 * 1024), "form"],
    ["", "form"],
    ["。！？…,;:. \n\t", "form"],
  ])("case %#", (content, gate) => {
    const said = "Always keep the tests beside their source.";
    expect(droppedBy(judged({ content, said }))).toBe(gate);
  });

  test("white space is collapsed, invisible characters and trailing marks go, names keep their marks", () => {
    const cleanedOf = (content: string) => keptOf(judged({ content, said: "I write C# and C++ with tabs" })).content;
    expect(cleanedOf("  I write\n\t C#  with\u00a0tabs !. ")).toBe("I write C# with tabs");
    expect(cleanedOf("I wr\u200bite\u202e C#\u0000 with t\ufeffabs…")).toBe("I write C# with tabs");
    expect(cleanedOf("I write tabs and C++.")).toBe("I write tabs and C++");
    expect(cleanedOf("I write tabs and C#")).toBe("I write tabs and C#");
  });
});

describe("evidence", () => {
  const said = "Please keep the tests beside their source files.";
  const withEvidence = (evidence: readonly Evidence[], source: MemorySource = "agent") =>
    droppedBy(judged({ content: "Tests lie beside their source", said, proposal: { evidence, source } }));

  test("a quote stands word for word in its entry, and has 20 characters or is all of it", () => {
    expect(withEvidence([{ entry_id: "e1", quote: said.slice(7, 27) }])).toBeUndefined();
    expect(withEvidence([{ entry_id: "e1", quote: said.slice(7, 26) }])).toBe("evidence");
    expect(withEvidence([{ entry_id: "e1", quote: "keep the Tests beside their source" }])).toBe("evidence");
    expect(withEvidence([{ entry_id: "e1", quote: "" }])).toBe("evidence");
    expect(withEvidence([{ entry_id: "forgotten", quote: said }])).toBe("evidence");
    expect(
      withEvidence([
        { entry_id: "e1", quote: said },
        { entry_id: "e1", quote: "invented, and long enough" },
      ]),
    ).toBe("evidence");
    expect(droppedBy(judged({ content: "use tabs" }))).toBeUndefined();
  });

  test("only a person needs none", () => {
    const without = ["person", "agent", "rule:words", "decision", "import", "model"].map((source) =>
      withEvidence([], source as MemorySource),
    );
    expect(without).toEqual([undefined, ...Array<string>(5).fill("evidence")]);
    expect(withEvidence([{ entry_id: "e1", quote: "invented, and long enough" }], "person")).toBe("evidence");
  });

  const outcome = (type: MemoryType, by: Speaker, source: MemorySource = "agent") => {
    const judgement = judged({ content: "The tests lie beside their source", by, proposal: { type, source } });
    return "kept" in judgement ? judgement.kept.type : judgement.dropped;
  };

  test.each<[MemoryType, string, string, string, string]>([
    // type, from a user, a tool, an assistant, a system message
    ["identity", "identity", "evidence", "episodic", "evidence"],
    ["preference", "preference", "evidence", "episodic", "evidence"],
    ["project", "project", "project", "episodic", "evidence"],
    ["knowledge", "knowledge", "knowledge", "episodic", "evidence"],
    ["episodic", "episodic", "episodic", "episodic", "episodic"],
    ["adaptation", "adaptation", "adaptation", "episodic", "adaptation"],
  ])("%s, said by user, tool, assistant, system: %s, %s, %s, %s", (type, ...outcomes) => {
    for (const source of ["agent", "model", "import"] as const) {
      expect((["user", "tool", "assistant", "system"] as const).map((by) => outcome(type, by, source))).toEqual(
        outcomes,
      );
    }
  });

  test("rules and decisions keep the type that they have from where they were found", () => {
    expect(outcome("project", "assistant", "rule:words")).toBe("project");
    expect(outcome("preference", "assistant", "rule:words")).toBe("preference");
    expect(outcome("adaptation", "assistant", "rule:commands")).toBe("adaptation");
    expect(outcome("adaptation", "assistant", "decision")).toBe("adaptation");
  });

  test("one quote of a user is enough among others", () => {
    const entries = [
      entrySaid("user", said),
      entrySaid("assistant", "Tests will lie beside sources.", { entry_id: "e2" }),
    ];
    const evidence = [
      { entry_id: "e2", quote: "Tests will lie beside sources." },
      { entry_id: "e1", quote: said },
    ];
    const judgement = judge(proposalOf("Tests lie beside sources", { evidence }), gateContextOf(entries), stems);
    expect(keptOf(judgement).type).toBe("preference");
  });
});

describe("grounding", () => {
  const said =
    "The API listens on port 8080 (20.19 on CI), see src/memories/text/stems.ts, run `npm run check --fix`, ask ops@example.org, set MAX_RETRIES in loadConfig(). 端口是5432。It takes 500 ms.";
  test.each([
    ["The API listens on port 8080", undefined],
    ["The API listens on port 808", "grounding"],
    ["The API listens on port 80", "grounding"],
    ["The API listens on port 9090", "grounding"],
    ["CI has version 20.19", undefined],
    ["CI has version 20 of it", "grounding"],
    ["CI has version 19 of it", "grounding"],
    ["See src/memories/text/stems.ts for it", undefined],
    ["See src/review/words.ts for it", "grounding"],
    ["See stems.ts for all of it", undefined],
    ["Run npm with --fix always", undefined],
    ["Run npm with --force always", "grounding"],
    ["Ask ops@example.org first", undefined],
    ["Ask ops@example.com first", "grounding"],
    ["Set MAX_RETRIES somewhere", undefined],
    ["Set MIN_RETRIES somewhere", "grounding"],
    ["It is set in loadConfig()", undefined],
    ["It is set in loadConf()", "grounding"],
    ["It is set in saveConfig", "grounding"],
    ["See https://example.org/x", "grounding"],
    ["数据库端口是5432", undefined],
    ["数据库端口是5433", "grounding"],
    ["It takes 500ms to answer", undefined],
    ["It takes 50ms to answer", "grounding"],
    ["Run `npm run check` always", undefined],
    ["Run `npm run lint` always", "grounding"],
    ["Use the API and/or the CI", undefined],
    ["Set Max_Retries somewhere", undefined],
    ["Set max-retries somewhere", undefined],
    ["Set `MAX RETRIES` somewhere", undefined],
    ["Set RETRIES_MAX somewhere", "grounding"],
    ["It is set in LoadConfig", undefined],
  ])("%s: %s", (content, gate) => {
    expect(droppedBy(judged({ content, said }))).toBe(gate);
  });
});

describe("hedge", () => {
  test.each([
    ["The cache might be stale", "hedge"],
    ["Maybe the cache is stale", "hedge"],
    ["The cache is probably stale", "hedge"],
    ["I think the cache is stale", "hedge"],
    ["Let me try the other cache", "hedge"],
    ["Is the cache stale?", "hedge"],
    ["Der Cache ist wahrscheinlich alt", "hedge"],
    ["Le cache est peut-être vieux", "hedge"],
    ["Quizás la caché es vieja", "hedge"],
    ["缓存可能已经过期了吧", "hedge"],
    ["キャッシュは古いかもしれない", "hedge"],
    ["The cache seems stale", "hedge"],
    ["This should work on every machine", "hedge"],
    ["Assuming the cache is stale, restart", "hedge"],
    ["Check the cache instead of assuming things", undefined],
    ["The cache is stale after a deploy", undefined],
    ["An order may be cancelled until it ships", undefined],
    ["This kind of error is fatal", undefined],
    ["没有密钥就不可能登录服务器", undefined],
    ["Almighty is the name of the cache", undefined],
    ["The cache thinks in pages of memory", undefined],
    ["Der Cache ist nach jedem Deploy alt", undefined],
    ["部署之后缓存总是过期的", undefined],
    ["デプロイ後のキャッシュは必ず古い", undefined],
  ])("%s: %s", (content, gate) => {
    expect(droppedBy(judged({ content }))).toBe(gate);
  });

  test("a quote that was cut out of a guess or a question is no evidence of a fact, whatever else is quoted; a plain sentence that says so is", () => {
    const quoting = (text: string, quote: string) =>
      droppedBy(
        judge(
          proposalOf("The cache is stale", { evidence: [{ entry_id: "e1", quote }] }),
          gateContextOf([entrySaid("user", text)]),
          stems,
        ),
      );
    expect(quoting("Maybe the cache is stale after all.", "the cache is stale after all")).toBe("hedge");
    expect(
      quoting("Is it so? The cache is stale after all.", "the cache is stale after all".replace("t", "T")),
    ).toBeUndefined();
    expect(quoting("I think so. The cache is stale.", "I think so. The cache is stale.")).toBeUndefined();
    expect(quoting("Thank you. Is the cache stale?", "Thank you. Is the cache stale?")).toBe("hedge");
    expect(quoting("Thank you. The cache might be stale.", "Thank you. The cache might be stale.")).toBe("hedge");
    expect(quoting("Thank you. Is it? The cache is stale.", "Thank you. Is it? The cache is stale.")).toBeUndefined();
  });
});

describe("feedback guard", () => {
  const said = "The deploy runs on Fridays at noon, as always.";
  const given = (text: string, about: Partial<GivenText> = {}): GivenText => ({
    session_id: "s1",
    from: "memory",
    words: wordsOf(text),
    ...about,
  });
  const guarded = (texts: readonly GivenText[], by: Speaker = "user") =>
    droppedBy(judged({ content: "Deploys run on Fridays at noon", said, by, ground: { given: texts } }));

  test.each(["context_pack", "memory", "consolidation"] as const)(
    "what stood in a %s of the session was not learned there",
    (from) => {
      expect(guarded([given(`Known: the deploy  runs on fridays at noon — as always! Also tea.`, { from })])).toBe(
        "feedback_guard",
      );
      expect(guarded([given(said, { from, session_id: "another" })])).toBeUndefined();
      expect(guarded([given("The deploy runs on Mondays at noon, as always.", { from })])).toBeUndefined();
    },
  );

  test("an assistant that wraps a memory in words of its own repeats it; a user who says more than it says something", () => {
    const memory = [given("The deploy runs on Fridays at noon")];
    expect(guarded(memory, "assistant")).toBe("feedback_guard");
    expect(guarded(memory, "user")).toBeUndefined();
  });
});

describe("what stands around a quote", () => {
  test("a particular may stand in the rest of the entry, or in the turn before it", () => {
    const content = "Deploys go to port 4747";
    const quote = "yes, deploys always go there";
    const entry = entrySaid("user", `${quote}. The port is 4747.`);
    const evidence = [{ entry_id: "e1", quote }];
    expect(droppedBy(judge(proposalOf(content, { evidence }), gateContextOf([entry]), stems))).toBeUndefined();
    const bare = gateContextOf([entrySaid("user", quote)]);
    expect(droppedBy(judge(proposalOf(content, { evidence }), bare, stems))).toBe("grounding");
    const before = new Map([["e1", ["Shall deploys go to port 4747?"]]]);
    expect(droppedBy(judge(proposalOf(content, { evidence }), { ...bare, before }, stems))).toBeUndefined();
  });

  test.each([
    ["I am not sure about the rest, but deploys run on Fridays", undefined],
    ["Deploys run on Fridays, the rest might change", undefined],
    ["I think, deploys run on Fridays", "hedge"],
    ["Deploys run on Fridays, I guess", "hedge"],
    ["Deploys might run on Fridays", "hedge"],
    ["Can we always run deploys on Fridays?", undefined],
    ["Do deploys run on Fridays?", "hedge"],
  ])("the clause counts: %j is dropped by %s", (said, gate) => {
    const proposal = proposalOf("Deploys run on Fridays", { evidence: [{ entry_id: "e1", quote: said }] });
    expect(droppedBy(judge(proposal, gateContextOf([entrySaid("user", said)]), stems))).toBe(gate);
  });

  test("what was given is not learned, whatever heading or list mark stands before it", () => {
    const given = [{ session_id: "s1", from: "context_pack", words: wordsOf("Retries are billed as calls") }] as const;
    for (const said of ["## Fact: Retries are billed as calls", "- **Fact:** Retries are billed as calls"]) {
      for (const by of ["assistant", "user"] as const) {
        const judgement = judged({ content: "Retries are billed as calls", said, by, ground: { given } });
        expect(droppedBy(judgement)).toBe("feedback_guard");
      }
    }
  });

  test("what a memory file of the session says is known, a command also inside a line", () => {
    const line = (text: string, session_id = "s1") => ({ file_lines: [{ session_id, text }] });
    const content = "Never push to the main branch";
    expect(droppedBy(judged({ content, ground: line("never push to the main branch!") }))).toBe("known");
    expect(droppedBy(judged({ content, ground: line("Never push to the main branch", "s2") }))).toBeUndefined();
    expect(droppedBy(judged({ content, ground: line("Push often") }))).toBeUndefined();
    const command = "Test: `npm test` (ran 4 times in 1 session, 4 without error)";
    const proposal = { source: "rule:commands", type: "project" } as const;
    const run = { content: command, said: "npm test", proposal };
    expect(droppedBy(judged(run))).toBeUndefined();
    expect(droppedBy(judged({ ...run, ground: line("Before a commit, run `npm test`") }))).toBe("known");
    const memories = [
      { id: "m1", content: command.replaceAll("4", "9"), project: "atlas", status: "candidate" as const },
    ];
    expect(judged({ ...run, ground: { memories } })).toMatchObject({
      dropped: "known",
      adds_evidence_to: { id: "m1" },
    });
  });
});

describe("known", () => {
  const memory = (content: string, about: Partial<KnownMemory> = {}): KnownMemory => ({
    id: "m1",
    content,
    project: "atlas",
    status: "active",
    ...about,
  });
  const against = (content: string, ...memories: readonly KnownMemory[]) => judged({ content, ground: { memories } });

  test("what equals an active, waiting or rejected memory is not proposed; a waiting one gets its evidence", () => {
    const by = (status: MemoryStatus) =>
      against("The build needs Docker", memory("the  build, needs docker!", { status }));
    expect((["active", "candidate", "rejected", "superseded"] as const).map((status) => droppedBy(by(status)))).toEqual(
      ["known", "known", "known", undefined],
    );
    expect(by("candidate")).toMatchObject({
      adds_evidence_to: { id: "m1", evidence: [{ entry_id: "e1", quote: "The build needs Docker" }] },
    });
    expect(by("active")).not.toHaveProperty("adds_evidence_to");
    expect(by("rejected")).not.toHaveProperty("adds_evidence_to");
  });

  test("a rejected one decides before a waiting one", () => {
    const content = "The build needs Docker";
    const waiting = memory(content, { id: "m2", status: "candidate" });
    expect(against(content, waiting, memory(content, { status: "rejected" }))).not.toHaveProperty("adds_evidence_to");
  });

  test("memories of other projects do not count, global ones do", () => {
    expect(
      droppedBy(against("The build needs Docker", memory("The build needs Docker", { project: "other" }))),
    ).toBeUndefined();
    expect(droppedBy(against("The build needs Docker", memory("The build needs Docker", { project: "" })))).toBe(
      "known",
    );
  });

  // Ten distinct words, so the share is what it says.
  const words = "alder birch cedar dogwood elm fir ginkgo hazel ironwood juniper".split(" ");
  test.each([
    [7, "known", false],
    [6, undefined, true],
    [4, undefined, true],
    [3, undefined, false],
  ] as const)("%d of 10 stems in common: dropped by %s, similar %s", (common, gate, isSimilar) => {
    const judgement = against(words.join(" "), memory(words.slice(0, common).join(" ")));
    expect(droppedBy(judgement)).toBe(gate);
    if (gate === undefined) expect(keptOf(judgement).similar_to).toEqual(isSimilar ? ["m1"] : []);
  });

  test("inflection is no difference, in any of the languages", () => {
    expect(
      droppedBy(against("Deploying the servers needs approvals", memory("Deploy the server: needs approval"))),
    ).toBe("known");
    expect(
      droppedBy(against("Die Server brauchen neue Zertifikate", memory("Alle Server brauchen ein neues Zertifikat"))),
    ).toBe("known");
    expect(droppedBy(against("部署之前必须运行所有测试", memory("必须运行所有测试，部署之前")))).toBe("known");
  });

  test.each([
    ["The staging server listens on port 9090", "The staging server listens on port 8080"],
    ["Never push directly to the main branch", "Push directly to the main branch"],
    ["Use spaces for indentation, not tabs", "Use tabs for indentation, not spaces"],
    ["Die Tests nicht parallel ausführen", "Die Tests parallel ausführen"],
    ["部署之前不要运行测试", "部署之前要运行测试"],
  ])("%s contradicts: %s", (content, other) => {
    const kept = keptOf(against(content, memory(other)));
    expect(kept.conflicts_with).toEqual(["m1"]);
    expect(kept.similar_to).toEqual([]);
  });

  test("a number more, or a rejected memory, is no contradiction", () => {
    expect(
      droppedBy(
        against("The staging server listens on port 8080", memory("The staging server listens on port 8080 and 2")),
      ),
    ).toBe("known");
    const kept = keptOf(
      against(
        "The staging server listens on port 9090",
        memory("The staging server listens on port 8080", { status: "rejected" }),
      ),
    );
    expect(kept).toMatchObject({ conflicts_with: [], similar_to: [] });
  });
});

describe("project", () => {
  const placed = (type: MemoryType, projects: readonly string[], source: MemorySource = "agent") => {
    const said = "The build needs Docker on every machine";
    const entries = projects.map((project, at) => entrySaid("user", said, { project, entry_id: `e${at}` }));
    const evidence = entries.map(({ entry_id }) => ({ entry_id, quote: said }));
    const judgement = judge(
      proposalOf(said, { type, source, evidence, project: "of the proposer" }),
      gateContextOf(entries),
      stems,
    );
    return "kept" in judgement ? judgement.kept.project : `dropped by ${judgement.dropped}`;
  };

  test("the entries' own project wins, never the proposer's word", () => {
    expect(placed("knowledge", ["atlas"])).toBe("atlas");
    expect(placed("knowledge", ["atlas", "atlas"])).toBe("atlas");
    expect(placed("preference", ["atlas"])).toBe("atlas");
    expect(placed("knowledge", ["atlas"], "person")).toBe("atlas");
  });

  test("only preference and identity may hold everywhere; others wait without a project", () => {
    const types = ["identity", "preference", "project", "episodic", "knowledge", "adaptation"] as const;
    const refused = "dropped by project";
    expect(types.map((type) => placed(type, [""]))).toEqual(["", "", "", "", "", ""]);
    expect(types.map((type) => placed(type, ["atlas", "other"]))).toEqual(["", "", refused, refused, refused, refused]);
  });

  test("a person without evidence is taken at their word", () => {
    expect(placed("knowledge", [], "person")).toBe("of the proposer");
  });

  test("what belongs to two projects adds no evidence to a candidate either", () => {
    const content = "The build needs Docker";
    const entries = ["atlas", "other"].map((project) => entrySaid("user", content, { project, entry_id: project }));
    const evidence = entries.map(({ entry_id }) => ({ entry_id, quote: content }));
    const memories = [{ id: "m1", content, project: "", status: "candidate" as const }];
    const judgement = judge(
      proposalOf(content, { type: "knowledge", evidence }),
      gateContextOf(entries, { memories }),
      stems,
    );
    expect(judgement).toMatchObject({ dropped: "project" });
    expect(judgement).not.toHaveProperty("adds_evidence_to");
  });
});
