// What persons say of memories: their words have the form of a statement, say nothing twice, and belong where their evidence is.
import { beforeEach, describe, expect, test } from "vitest";
import type { Recorder } from "../../src/index.js";
import { composeInMemory, type MemoryRecorder, memoryRecorder } from "../support/memory-recorder.js";
import { repeatableContext } from "../support/write-context.js";

let made: MemoryRecorder;
let recorder: Recorder;
const said = { kind: "message", role: "user" } as const;
const REQUEST = "I want every commit message in English";

beforeEach(async () => {
  made = memoryRecorder();
  recorder = made.recorder;
  await recorder.append([
    { ...said, id: "a1", session_id: "s1", project: "atlas", content: `${REQUEST}, please.` },
    { ...said, id: "a2", session_id: "s2", project: "atlas", content: `Again: ${REQUEST}.` },
    { ...said, id: "b1", session_id: "s3", project: "borealis", content: `${REQUEST} here too.` },
  ]);
});

const propose = async (entry_id: string, from = recorder, content = "Wants every commit message in English") =>
  from.memories.propose({ type: "preference", content, evidence: [{ entry_id, quote: REQUEST }] });

async function candidate(entry_id = "a1"): Promise<string> {
  const proposed = await propose(entry_id);
  if (!("id" in proposed)) throw new Error(JSON.stringify(proposed));
  return proposed.id;
}

describe("a wording", () => {
  const refused = { code: "field_invalid", field: "content" };
  test.each([
    ["seven characters", "English"],
    ["281 characters", "x".repeat(281)],
    ["nothing that is seen", "\u200b".repeat(20)],
    ["marks", "…!!! ??? ..."],
  ])("of %s is none, whether a memory is added, edited or put in the place of another", async (_, content) => {
    const id = await candidate();
    await expect(recorder.memories.add({ content })).rejects.toMatchObject(refused);
    await expect(recorder.memories.promote(id, { content })).rejects.toMatchObject(refused);
    await expect(recorder.memories.supersede(id, { content })).rejects.toMatchObject(refused);
    expect((await recorder.memories.list()).memories).toMatchObject([{ id, status: "candidate" }]);
  });

  test("of 8 or 280 characters is one, cleaned as every candidate's", async () => {
    expect(await recorder.memories.add({ content: "Tea  only.\u200b" })).toMatchObject({ content: "Tea only" });
    expect(await recorder.memories.add({ content: "y".repeat(280) })).toMatchObject({ status: "active" });
    const edited = { content: " Commit  messages are English. " };
    expect(await recorder.memories.promote(await candidate(), edited)).toMatchObject({
      status: "active",
      content: "Commit messages are English",
    });
  });
});

describe("known statements", () => {
  const known = { code: "memory_known", field: "content" };

  test("are not added again, with the same text, to the project or globally", async () => {
    const { id } = await recorder.memories.add({ content: "Tests run with npm test", project: "atlas" });
    const again = recorder.memories.add({ content: "tests run with NPM test!", project: "atlas" });
    await expect(again).rejects.toMatchObject({ ...known, message: expect.stringContaining(id) });
    await recorder.memories.add({ content: "Tests run with npm test", project: "borealis" });
    await recorder.memories.add({ content: "Answers are short", type: "preference" });
    await expect(recorder.memories.add({ content: "Answers are short", project: "atlas" })).rejects.toMatchObject(
      known,
    );
    // Almost the same is for a person to say.
    await recorder.memories.add({ content: "Tests run with npm test in Docker", project: "atlas" });
    expect((await recorder.memories.list()).memories).toHaveLength(4);
  });

  test("is added once by two at once, and a call that is repeated is acknowledged", async () => {
    const adding = () => recorder.memories.add({ content: "Tests run with npm test", project: "atlas" });
    const settled = await Promise.allSettled([adding(), adding(), adding()]);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const own = { id: "mem-1", content: "Builds run with npm run build" };
    expect(await recorder.memories.add(own)).toMatchObject({ id: "mem-1" });
    expect(await recorder.memories.add(own)).toMatchObject({ id: "mem-1" });
  });

  test("is for the queue while it waits, and for a person to say once it was rejected or superseded", async () => {
    const id = await candidate();
    const content = "Wants every commit message in English";
    const adding = () => recorder.memories.add({ content, project: "atlas", type: "preference" });
    await expect(adding()).rejects.toMatchObject({ ...known, hint: "Promote that one." });
    await recorder.memories.reject(id);
    const added = await adding();
    await recorder.memories.supersede(added.id);
    expect(await adding()).toMatchObject({ status: "active" });
  });

  test("is no wording for a candidate, nor for what takes the place of another", async () => {
    const { id: other } = await recorder.memories.add({ content: "Commits speak English", project: "atlas" });
    const { id: third } = await recorder.memories.add({ content: "Deploys are on Fridays", project: "atlas" });
    const id = await candidate();
    await expect(recorder.memories.promote(id, { content: "Commits speak English" })).rejects.toMatchObject(known);
    await expect(recorder.memories.supersede(third, { content: "commits speak english" })).rejects.toMatchObject(known);
    expect(await recorder.memories.get(id)).toMatchObject({ status: "candidate" });
    // Its own words may stay.
    await recorder.memories.promote(id, { content: "Wants every commit message in English" });
    expect(await recorder.memories.get(other)).toMatchObject({ status: "active" });
  });
});

test("if two servers get the same statement at once, the first one's waits, with the evidence of both", async () => {
  const { log, index } = made;
  const second = composeInMemory({ log, index, writeContext: repeatableContext(1) });
  const answers = await Promise.all([propose("a1"), propose("a2", second)]);
  expect(answers.filter((answer) => "dropped" in answer)).toMatchObject([{ dropped: "known" }]);
  const { memories, pending } = await recorder.memories.list({ status: "candidate" });
  expect([memories.map(({ evidence }) => evidence.map(({ entry_id }) => entry_id).sort()), pending]).toEqual([
    [["a1", "a2"]],
    1,
  ]);
  const { position } = await recorder.health();
  expect(await propose("a2")).toMatchObject({ dropped: "known" });
  expect((await recorder.health()).position).toBe(position);
});

test("a contradiction and a similarity are shown on both sides, as long as both are active or waiting", async () => {
  const first = await recorder.memories.add({ content: "The server of atlas listens on port 5000", project: "atlas" });
  const second = await recorder.memories.add({ content: "The server of atlas listens on port 8080", project: "atlas" });
  expect(second.conflicts_with).toEqual([first.id]);
  expect(await recorder.memories.get(first.id)).toMatchObject({ conflicts_with: [second.id] });
  await recorder.memories.add({ content: "Answers are short", type: "preference" });
  const { memories } = await recorder.memories.list({ similar: true });
  expect(memories.map(({ id }) => id)).toEqual([second.id, first.id]);
  await recorder.memories.supersede(second.id);
  expect(await recorder.memories.get(first.id)).toMatchObject({ conflicts_with: [] });
});

test("a memory belongs to the project of its evidence, whatever project a person gives", async () => {
  const evidence = [{ entry_id: "b1", quote: REQUEST }];
  const added = await recorder.memories.add({ content: "Commits are in English", project: "atlas", evidence });
  expect(added).toMatchObject({ project: "borealis" });
  const both = [...evidence, { entry_id: "a1", quote: REQUEST }];
  const refused = recorder.memories.add({ content: "Commits are in English always", evidence: both });
  await expect(refused).rejects.toMatchObject({ code: "field_invalid", field: "evidence" });
  const memory = { content: "Commits are always in English", type: "preference", evidence: both } as const;
  expect(await recorder.memories.add({ ...memory, project: "atlas" })).toMatchObject({ project: "" });
});
