// The passes over the record: what rules find is proposed once, what turns used is counted once, whatever is run again.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type EntryInput, openRecorder, type Recorder } from "../../src/index.js";
import { memoryRecorder, recorderAt } from "../support/memory-recorder.js";
import { storeOfTest, testEngine } from "../support/store.js";
import { repeatableContext } from "../support/write-context.js";

let recorder: Recorder;
let nowMs = 0;

beforeEach(async () => {
  nowMs = Date.parse("2026-11-15T06:00:00Z");
  const writeContext = { ...repeatableContext(), nowMs: () => nowMs };
  recorder =
    testEngine === "postgres"
      ? await recorderAt(await storeOfTest(), writeContext)
      : memoryRecorder(writeContext).recorder;
});
afterEach(() => recorder.close());

async function say(session_id: string, role: string, content: string, project = "atlas"): Promise<void> {
  await recorder.append({ kind: "message", session_id, project, role, content });
}

/** Makes a session one that a person works in: another message, and a call that touches files. */
async function attend(session_id: string, project = "atlas"): Promise<void> {
  await say(session_id, "user", "Go on.", project);
  await recorder.append({ kind: "tool_call", session_id, project, tool: "Bash", args: { command: "ls" }, result: "a" });
}

async function head(): Promise<number> {
  return (await recorder.health()).position;
}

describe("extract", () => {
  beforeEach(async () => {
    await say("s", "user", "From now on write all commit messages in English. Then go on.");
    await attend("s");
    await say("s", "assistant", "Maybe we should use Rust.\n\n## Decision: keep the index in a file of its own");
    await recorder.append({
      kind: "decision",
      session_id: "s",
      project: "atlas",
      decision: "We decided to ship on Monday",
    });
  });

  test("proposes what rules find, with evidence, and reports what was dropped and why", async () => {
    const { candidates, dropped, dropped_by_gate } = await recorder.memories.extract({ words: true });
    expect(candidates.map(({ type, project, source, status }) => [type, project, source, status])).toContainEqual([
      ...["preference", "atlas", "rule:words", "candidate"],
    ]);
    for (const { evidence, supported } of candidates) {
      expect(supported).toBe(true);
      expect(evidence).toHaveLength(1);
    }
    expect(dropped).toHaveLength(Object.values(dropped_by_gate).reduce((sum, count) => sum + count, 0));
  });

  test("appends nothing when it is run again, whatever the verdicts were", async () => {
    const { candidates } = await recorder.memories.extract({ words: true });
    expect(candidates.length).toBeGreaterThanOrEqual(2);
    const [first, second, ...others] = candidates.map(({ id }) => id) as [string, string, ...string[]];
    const again = async (): Promise<void> => {
      const before = await head();
      expect((await recorder.memories.extract({ words: true })).candidates).toEqual([]);
      expect(await head()).toBe(before);
    };
    await again();
    await recorder.memories.reject(first, { reason: "obvious" });
    await recorder.memories.promote(second, { content: "In other words altogether" });
    await again();
    await recorder.memories.supersede(second);
    for (const id of others) await recorder.memories.supersede(id);
    await again();
  });

  test("the same statement elsewhere is evidence for the waiting candidate, and counts as another session", async () => {
    const { candidates } = await recorder.memories.extract({ words: true });
    const found = candidates.find(({ type }) => type === "preference");
    await say("t", "user", "From now on write all commit messages in English.");
    await attend("t");
    const { dropped } = await recorder.memories.extract({ words: true });
    expect(dropped).toContainEqual(expect.objectContaining({ dropped: "known", adds_evidence_to: found?.id }));
    const memory = await recorder.memories.get(found?.id ?? "");
    expect(memory?.evidence).toHaveLength(2);
    const before = await head();
    await recorder.memories.extract({ words: true });
    expect(await head()).toBe(before);
  });

  test("what a session was given is not learned in it", async () => {
    await recorder.append({
      kind: "interaction",
      session_id: "packed",
      project: "other",
      prompt: "Go on",
      context_pack: { text: "Every log line has a request id" },
      response: "As noted:\n## Requirement: every log line has a request id",
    });
    const { candidates, dropped_by_gate } = await recorder.memories.extract({ project: "other" });
    expect([candidates, dropped_by_gate]).toEqual([[], { feedback_guard: 1 }]);
  });

  test("a command that failed in two sessions and worked with few words changed is learned", async () => {
    for (const session_id of ["one", "two"]) {
      const call = { kind: "tool_call", session_id, project: "atlas", tool: "bash" } as const;
      await recorder.append({
        ...call,
        args: { command: "npm test --all-files" },
        is_error: true,
        result: "unknown flag",
      });
      await recorder.append({ ...call, args: { command: "npm test -- --all" }, is_error: false, result: "ok" });
    }
    const { candidates } = await recorder.memories.extract();
    expect(candidates).toContainEqual(
      expect.objectContaining({ type: "adaptation", content: expect.stringContaining("npm test -- --all") }),
    );
  });

  test("questions and trials are no decisions", async () => {
    const decided = [
      ["Should we use Redis for the cache?", "open"],
      ["Try out Redis for the cache", "just a trial"],
      ["Use Redis for the cache", "only as a trial"],
      ["Maybe move the cache to Redis", "it is faster than the disk"],
      ["Use Redis for the cache", "open"],
    ] as const;
    for (const [nth, [decision, rationale]] of decided.entries()) {
      await recorder.append({ kind: "decision", session_id: `d${nth}`, project: "borealis", decision, rationale });
    }
    const { candidates, dropped } = await recorder.memories.extract({ project: "borealis" });
    expect(candidates).toEqual([]);
    expect(dropped.map((one) => one.dropped)).toEqual(decided.map(() => "hedge"));
  });

  test("a session has three decisions proposed, and a day five of a project; the others are counted, run again too", async () => {
    const names = ["alder", "birch", "cedar", "dogwood", "elm", "fir", "ginkgo", "hazel"];
    for (const session_id of ["first", "second"]) {
      for (const name of names) {
        // No two of them are alike.
        const [one, other, third, fourth] = ["a", "b", "c", "d"].map((end) => `${name}${session_id}${end}`);
        const decision = `Store ${one} within ${other}`;
        const rationale = `${third} and ${fourth} asked`;
        await recorder.append({ kind: "decision", session_id, project: "borealis", decision, rationale });
      }
    }
    const { candidates, dropped, dropped_by_gate } = await recorder.memories.extract({ project: "borealis" });
    expect(candidates).toHaveLength(5);
    expect(dropped_by_gate).toEqual({ limit: 11 });
    expect(dropped[0]?.reason).toContain("from this session");
    expect(dropped.at(-1)?.reason).toMatch(/session|day/);
    const again = await recorder.memories.extract({ project: "borealis" });
    expect(again.candidates).toEqual([]);
    expect(again.dropped_by_gate.limit).toBe(11);
  });

  test("a decision with its reason and standing instructions are proposed; skipped texts are reported", async () => {
    const envelope = { session_id: "words", project: "words" } as const;
    await say("words", "user", "Never push to main. Always use this for now. Maybe fix the login?", "words");
    const reason = "the registry drops connections at night";
    await recorder.append({ kind: "decision", ...envelope, decision: "Retry once", rationale: reason });
    await recorder.append({ kind: "decision", ...envelope, decision: "Use another port", rationale: "" });
    await recorder.recordInteraction({ ...envelope, prompt: "I prefer answers in German", response: "Gern." });
    const call = { kind: "tool_call", tool: "Bash", args: { command: "ls" }, result: "a" } as const;
    await recorder.append({ ...call, ...envelope });
    const off = await recorder.memories.extract({ session_id: "words" });
    expect(off.candidates.map(({ source }) => source)).toEqual(["decision"]);
    expect(off.passed_over.filter(({ reason }) => reason.includes("--words"))).toHaveLength(2);
    const found = await recorder.memories.extract({ session_id: "words", words: true });
    expect(found.candidates.map(({ source, type, content, tags }) => [source, type, content, ...tags])).toEqual([
      ["rule:words", "preference", "Never push to main", "always"],
      ["rule:words", "preference", "I prefer answers in German", "prefer"],
    ]);
    expect(found.looked_at).toEqual({ entries: 5, users: 2, assistants: 1, decisions: 2, tool_calls: 1 });
    expect(found.passed_over.map(({ content }) => content)).toEqual(["Always use this for now.", "Use another port"]);
  });

  test("sentences count in a person's session only, and others than the strict ones once two sessions have them", async () => {
    const whenever = "Whenever you change the schema, run the generator.";
    await say("alone", "user", "Always run the tests first.");
    await say("chat", "user", "Always keep the tests small.");
    await say("chat", "user", "Thanks.");
    await recorder.append({ kind: "session_info", session_id: "sub", project: "atlas", parent: "alone" });
    for (const session_id of ["sub", "main/agent-1"]) {
      await say(session_id, "user", "Never touch the lock file.");
      await attend(session_id);
    }
    const extract = async () =>
      (await recorder.memories.extract({ words: true })).candidates.map(({ content }) => content);
    const first = await extract();
    for (const rule of ["Always", "Never"]) expect(first.join()).not.toContain(rule);
    for (const session_id of ["one", "two"]) {
      expect((await extract()).filter((one) => one.startsWith("Whenever"))).toEqual([]);
      await say(session_id, "user", whenever);
      await say(session_id, "user", whenever);
      await attend(session_id);
    }
    expect(await extract()).toEqual([whenever.slice(0, -1)]);
    const { memories } = await recorder.memories.list({ status: "candidate" });
    expect(memories.find(({ content }) => content.startsWith("Whenever"))).toMatchObject({
      tags: ["whenever"],
      confidence: 0.4,
      evidence: [{ quote: whenever }, { quote: whenever }],
    });
  });

  test("what a session was given is proposed by nobody, wherever it stands", async () => {
    const fact = "Deploys of atlas need the approval of two people";
    const heading = `Noted.\n## Fact: ${fact}`;
    const user = `Remember that ${fact}.`;
    const file = { args: { file_path: "/srv/atlas/CLAUDE.md" }, result: `# Rules\n- ${fact}.` };
    const call = { kind: "tool_call", project: "atlas", tool: "Read" } as const;
    const said = { kind: "message", project: "atlas" } as const;
    const { id } = await recorder.memories.add({ content: fact, type: "project", project: "elsewhere" });
    const recalled = { source: "hansard.recall", record: { memories: [id] } };
    // Twenty places: five ways to be given it, four ways to say it again.
    const given: readonly ((session_id: string) => EntryInput)[] = [
      (session_id) => ({ ...said, session_id, role: "user", content: `<rules>${fact}</rules>`, injected: "file" }),
      (session_id) => ({ kind: "raw", session_id, project: "atlas", ...recalled }),
      (session_id) => ({ ...call, session_id, tool: "mcp__hansard__recall", args: { q: "x" }, result: `- ${fact}` }),
      (session_id) => ({ ...call, session_id, ...file }),
      (session_id) => ({ ...call, session_id, tool: "Bash", args: { command: "cat AGENTS.md" }, result: file.result }),
    ];
    const again: readonly ((session_id: string) => EntryInput)[] = [
      (session_id) => ({ ...said, session_id, role: "assistant", content: heading }),
      (session_id) => ({ ...said, session_id, role: "user", content: user }),
      (session_id) => ({ ...said, session_id, role: "user", content: `From now on: ${fact.toLowerCase()}` }),
      (session_id) => ({ kind: "decision", session_id, project: "atlas", decision: fact, rationale: "they said so" }),
    ];
    for (const [nth, give] of given.entries()) {
      for (const [way, say_again] of again.entries()) {
        const session_id = `given-${nth}-${way}`;
        await recorder.append(give(session_id));
        await recorder.append(say_again(session_id));
        await attend(session_id);
      }
    }
    const { candidates, dropped } = await recorder.memories.extract({ words: true });
    expect(candidates.map(({ content }) => content).filter((content) => content.includes("approval"))).toEqual([]);
    expect(dropped.length).toBeGreaterThanOrEqual(20);
  });

  test("one interaction alone, with the response that came later", async () => {
    const { id } = await recorder.recordInteraction({ prompt: "Which file?", project: "atlas" });
    await recorder.completeInteraction(id, { response: "## Requirement: every export has a header line" });
    const { candidates } = await recorder.memories.extract({ interaction_id: id });
    expect(candidates).toMatchObject([{ type: "project", source: "rule:words" }]);
    expect((await recorder.memories.extract({ interaction_id: id })).candidates).toEqual([]);
    await expect(recorder.memories.extract({ interaction_id: "nobody" })).rejects.toMatchObject({
      code: "interaction_not_found",
    });
  });
});

describe("reinforce", () => {
  const content = "The staging database of atlas lives on port 5433 behind the gateway";
  let id = "";

  beforeEach(async () => {
    id = (await recorder.memories.add({ content, type: "project", project: "atlas" })).id;
  });

  async function counts(): Promise<readonly unknown[]> {
    const { given, used, confirmed, confidence } = (await recorder.memories.get(id)) ?? {};
    return [given, used, confirmed, confidence];
  }

  test("given and repeated is used, and proves nothing", async () => {
    const recalled = await recorder.memories.recall({ project: "atlas" });
    const asked = { ...recalled, session_id: "s", project: "atlas", prompt: "Where is the database?" };
    await recorder.recordInteraction({ ...asked, response: `As I was told: ${content}.` });
    const { reinforced } = await recorder.memories.reinforce();
    expect(reinforced).toMatchObject([{ memory_id: id, given: true, used: true, confirmed: false }]);
    expect(await counts()).toEqual([1, 1, 0, 0.5]);
  });

  test("repeated without having been given is confirmed, once a turn, and only then more certain", async () => {
    const prompt = "Mind that the staging database of atlas lives on port 5433, behind the gateway.";
    await recorder.recordInteraction({ session_id: "s", project: "atlas", prompt, response: "Noted." });
    await recorder.recordInteraction({ session_id: "t", project: "elsewhere", prompt, response: "Noted." });
    expect((await recorder.memories.reinforce()).reinforced).toMatchObject([{ memory_id: id, confirmed: true }]);
    expect(await counts()).toEqual([0, 0, 1, 0.52]);
    const before = await head();
    expect((await recorder.memories.reinforce()).reinforced).toEqual([]);
    expect(await head()).toBe(before);
    expect((await recorder.memories.get(id))?.last_confirmed_at).toBeDefined();
  });

  test.each([
    "Answers in German",
    "Never push to main",
    "Use port 4747",
    "Prices are always in cents",
    "We deploy only from the release branch",
  ])("a short memory that is repeated word for word is used, or confirmed: %s", async (short) => {
    const memory = await recorder.memories.add({ content: short, type: "project", project: "atlas" });
    const turn = { project: "atlas", prompt: "Go on", response: `As you know: ${short}.` };
    await recorder.recordInteraction({ ...turn, session_id: "given", memories_used: [memory.id] });
    await recorder.recordInteraction({ ...turn, session_id: "not-given", prompt: `${short}!`, response: "Yes." });
    await recorder.recordInteraction({ ...turn, session_id: "neither", response: "Done." });
    await recorder.memories.reinforce();
    expect(await recorder.memories.get(memory.id)).toMatchObject({ given: 1, used: 1, confirmed: 1 });
  });

  test("results of tools in the user's name begin no turn", async () => {
    const said = { kind: "message", session_id: "s", project: "atlas" } as const;
    await say("s", "user", "Where does it live?");
    for (const call of ["c1", "c2", "c3"]) {
      const asked = { type: "tool_use", id: call, name: "grep", input: {} };
      await recorder.append({ ...said, role: "assistant", content: [{ type: "text", text: content }, asked] });
      const result = { type: "tool_result", tool_use_id: call, content: "It does." };
      await recorder.append({ ...said, role: "user", content: [result] });
    }
    await say("s", "user", "Thank you.");
    expect((await recorder.memories.reinforce()).reinforced).toMatchObject([{ memory_id: id, confirmed: true }]);
    expect(await counts()).toEqual([0, 0, 1, 0.52]);
    expect(await recorder.reflect()).toMatchObject({ users: 2 });
  });

  test("turns that were counted in part are counted for the rest, many with one commit", async () => {
    const said = { kind: "interaction", project: "atlas", prompt: content } as const;
    await recorder.append(Array.from({ length: 20 }, (_, nth) => ({ ...said, id: `t${nth}`, session_id: `s${nth}` })));
    await recorder.memories.reinforce({ interaction_id: "t3" });
    nowMs += 3_600_000;
    const before = await head();
    expect((await recorder.memories.reinforce()).reinforced).toHaveLength(19);
    expect(await head()).toBe(before + 19);
    expect(await counts()).toEqual([0, 0, 20, 0.9]);
  });

  test("a memory that is met again and again keeps its whole life in its history", async () => {
    const said = { kind: "interaction", project: "atlas", prompt: content, response: "Yes." } as const;
    await recorder.append(Array.from({ length: 510 }, (_, nth) => ({ ...said, session_id: `s${nth}` })));
    await recorder.memories.reinforce();
    const { confirmed, history = [], uses } = (await recorder.memories.get(id)) ?? {};
    expect(confirmed).toBe(510);
    expect(history.slice(0, 2)).toMatchObject([{ kind: "memory_proposed", content }, { kind: "memory_promoted" }]);
    expect(history).toHaveLength(502);
    expect(uses).toHaveLength(50);
  });

  test("texts from before it was active, or after it was superseded, do not count", async () => {
    const later = "Deploys of atlas happen on Thursday evening after the backup has run";
    await say("s", "user", `Remember: ${later}`);
    const { id: late } = await recorder.memories.add({ content: later, type: "project", project: "atlas" });
    await recorder.memories.supersede(id);
    await recorder.recordInteraction({ session_id: "s", project: "atlas", prompt: content, response: "Yes." });
    nowMs += 3_600_000;
    expect((await recorder.memories.reinforce()).reinforced).toEqual([]);
    expect((await recorder.memories.get(late))?.confirmed).toBe(0);
  });

  test("a memory recalled in a session counts as given there, whoever recalled it", async () => {
    await recorder.memories.recall({ project: "atlas", session_id: "s" });
    await say("s", "user", "Where is the database?");
    await say("s", "assistant", `${content}.`);
    expect(await recorder.memories.reinforce()).toMatchObject({ reinforced: [], waiting: [expect.any(String)] });
    await say("s", "user", "Thanks");
    const { reinforced } = await recorder.memories.reinforce();
    expect(reinforced).toMatchObject([{ memory_id: id, given: true, used: true, confirmed: false }]);
  });

  test("a memory recalled between a question and its answer is given, so the answer only repeats it", async () => {
    const asked = await recorder.recordInteraction({ session_id: "s", project: "atlas", prompt: "Where is it?" });
    await recorder.memories.recall({ project: "atlas", session_id: "s" });
    await recorder.completeInteraction(asked.id, { response: `${content}.` });
    const { reinforced } = await recorder.memories.reinforce();
    expect(reinforced).toMatchObject([{ memory_id: id, given: true, used: true, confirmed: false }]);
    expect(await counts()).toEqual([1, 1, 0, 0.5]);
    await recorder.memories.supersede(id);
    const evidence = [{ entry_id: asked.id, quote: content }];
    const proposed = await recorder.memories.propose({ type: "episodic", content, evidence });
    expect(proposed).toMatchObject({ dropped: "feedback_guard" });
  });

  test("the record of the past says what it said at once, whatever order the passes have", async () => {
    await say("s", "user", `${content}, right?`);
    await say("s", "assistant", "Right.");
    await recorder.recordInteraction({ session_id: "u", project: "atlas", prompt: content, response: "Yes." });
    nowMs += 3_600_000;
    const first = await recorder.memories.reinforce();
    expect(first.reinforced).toHaveLength(2);
    const before = await recorder.memories.get(id);
    await recorder.rebuildIndex();
    expect(await recorder.memories.get(id)).toEqual(before);
  });
});

test("a program that learns comes to the end of closing, whenever it is closed", async () => {
  const index = new URL("../../src/index.js", import.meta.url).href;
  const script = `
    import { openRecorder } from ${JSON.stringify(index)};
    for (const ms of [0, 5, 10, 15, 20, 25]) {
      const recorder = await openRecorder({ data: "memory:" });
      await recorder.learn({ gather_ms: 0, model: { via: "cat > /dev/null; sleep 60; echo late" }, look_ms: 1 });
      await recorder.append({ kind: "message", session_id: "s", role: "user", content: "Hello", created_at: "2020-01-01" });
      await new Promise((resolve) => setTimeout(resolve, ms));
      await recorder.close();
    }
    console.log("closed");
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
  expect(stdout).toBe("closed\n");
});

test("one program per store learns in the background, each entry once, and continues where another stopped", async () => {
  const data = await storeOfTest();
  const [one, other] = [await openRecorder({ data }), await openRecorder({ data })];
  for (const each of [one, other]) await each.learn({ gather_ms: 0, onTrouble: (error) => expect.fail(String(error)) });
  const message = { kind: "message", session_id: "live", project: "atlas", role: "assistant" } as const;
  await other.append({ ...message, content: "## Decision: write all commit messages in English" });
  await other.append({ ...message, created_at: "2020-01-01", content: "## Decision: use tabs in all files" });
  const waiting = async (): Promise<readonly string[]> =>
    (await other.memories.list({ status: "candidate" })).memories.map(({ content }) => content);
  await expect.poll(waiting).toHaveLength(1);
  await one.close();
  await other.append({ ...message, content: "## Decision: answer every question in German" });
  await other.append({ ...message, content: "## Decision: answer every question in German" });
  await expect.poll(waiting).toHaveLength(2);
  expect((await other.listEntries({ kind: "memory_proposed" })).entries).toHaveLength(2);
  await other.close();
});

test("background learning proposes the same as a pass over the past", async () => {
  const entries = [
    { kind: "message", role: "user", content: "Never push to main. Always use this for now." },
    { kind: "decision", decision: "Retry once", rationale: "the registry drops connections at night" },
    { kind: "interaction", prompt: "I prefer answers in German", response: "Gern." },
    { kind: "tool_call", tool: "Bash", args: { command: "ls" }, result: "a" },
  ] as const;
  const record = async (isLive: boolean): Promise<readonly unknown[]> => {
    const each = await openRecorder({ data: await storeOfTest() });
    const words = true;
    if (isLive) await each.learn({ words, gather_ms: 0, onTrouble: (error) => expect.fail(String(error)) });
    for (const entry of entries) await each.append({ ...entry, session_id: "s", project: "atlas" });
    if (!isLive) await each.memories.extract({ words });
    const proposed = async () =>
      (await each.memories.list({ status: "candidate" })).memories.map(({ source, type, content, project }) =>
        [source, type, content, project].join(" | "),
      );
    await expect.poll(proposed).toHaveLength(3);
    const found = (await proposed()).toSorted();
    await each.close();
    return found;
  };
  expect(await record(true)).toEqual(await record(false));
});

test("uses are counted although captures never pause", async () => {
  const steady = await openRecorder({ data: await storeOfTest() });
  const { id } = await steady.memories.add({ content: "The gateway of atlas restarts at midnight", project: "atlas" });
  await steady.learn({ gather_ms: 0, onTrouble: (error) => expect.fail(String(error)) });
  const turn = { session_id: "s", project: "atlas", prompt: "When?", response: "At midnight.", memories_used: [id] };
  for (let counted = 0; counted < 20; counted = (await steady.memories.get(id))?.given ?? 0) {
    await steady.recordInteraction(turn);
    // Fewer than what makes it stand back.
    await new Promise((resolve) => setTimeout(resolve, 12));
  }
  await steady.close();
});
