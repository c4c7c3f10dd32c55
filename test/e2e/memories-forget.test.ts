// Forgetting what memories rest on: quotes go with what they quote, and statements with them unless a person vouches for
// them in words of their own.
import { beforeAll, describe, expect, test } from "vitest";
import { openRecorder, type Recorder } from "../../src/index.js";
import { filesHolding } from "../crash/file-bytes.js";
import { testEngine } from "../support/store.js";
import { serverOfFile } from "./http-client.js";

const server = serverOfFile();
const reason = "it was asked for";
let recorder: Recorder;
const ids: { [name: string]: string } = {};

async function say(id: string, session_id: string, content: string): Promise<void> {
  await recorder.append({ kind: "message", id, session_id, project: "p", role: "user", content });
}

/** A candidate with these entries as evidence, all of it quoted. */
async function propose(name: string, content: string, quotes: { readonly [entry_id: string]: string }): Promise<void> {
  const evidence = Object.entries(quotes).map(([entry_id, quote]) => ({ entry_id, quote }));
  const proposed = await recorder.memories.propose({ content, type: "preference", evidence });
  if (!("id" in proposed)) throw new Error(`${name}: ${JSON.stringify(proposed)}`);
  ids[name] = proposed.id;
}

beforeAll(async () => {
  recorder = server().recorder;
  await say("WORDMARK-1", "gone", "From now on WORDMARK answers come in German, always");
  await say("WORDMARK-2", "gone", "Please remember that WORDMARK builds run at night, thanks");
  await say("WORDMARK-3", "gone", "Please keep WORDMARK functions below forty lines each");
  await say("WORDMARK-4", "gone", "The WORDMARK release happens on Friday afternoon");
  await say("stays-3", "stays", "I said it: keep functions below forty lines each");
  await propose("candidate", "WORDMARK builds run at night", { "WORDMARK-2": "WORDMARK builds run at night" });
  await propose("verbatim", "WORDMARK answers come in German", { "WORDMARK-1": "WORDMARK answers come in German" });
  await propose("own words", "Likes releases late in the week", { "WORDMARK-4": "release happens on Friday" });
  await propose("two", "Wants functions below forty lines", {
    "WORDMARK-3": "WORDMARK functions below forty lines",
    "stays-3": "keep functions below forty lines",
  });
  for (const name of ["verbatim", "own words"]) await recorder.memories.promote(ids[name] as string);
  await recorder.memories.add({ content: "A person's word stays", project: "p" });
});

describe("a session that memories rest on", () => {
  beforeAll(async () => {
    const { body } = await server().post("/forget", { session_id: "gone", reason });
    expect(body.by_kind).toEqual({ message: 4, memory_proposed: 2, memory_edited: 4, memory_promoted: 1 });
  });

  test("takes candidates and statements in its very words with it", async () => {
    for (const name of ["candidate", "verbatim"]) {
      expect((await server().get(`/memories/${ids[name]}`)).status, name).toBe(404);
      expect((await server().get(`/entries/${ids[name]}`)).body).toMatchObject({ erased: true });
    }
  });

  test("leaves what a person accepted in other words, unsupported and never recalled", async () => {
    const { body } = await server().get(`/memories/${ids["own words"]}`);
    expect(body).toMatchObject({ status: "active", supported: false, evidence: [] });
    const recalled = (await server().get("/recall?project=p")).body;
    expect(recalled.memories_used).not.toContain(ids["own words"]);
    expect(recalled.context_pack.text).toContain("A person's word stays");
  });

  test("leaves a candidate that has other evidence too, with that alone", async () => {
    const { body } = await server().get(`/memories/${ids.two}`);
    expect(body).toMatchObject({ status: "candidate", supported: true });
    expect(body.evidence).toEqual([{ entry_id: "stays-3", quote: "keep functions below forty lines" }]);
  });

  test("leaves no byte of its words, says the same after a rebuild and elsewhere, and the chain holds", async () => {
    const before = (await server().get("/memories")).body;
    const other = await openRecorder({ data: server().data });
    await other.rebuildIndex();
    expect(await other.memories.list()).toEqual(before);
    expect(await other.verify()).toMatchObject({ ok: true });
    await other.close();
    if (testEngine === "sqlite") expect(filesHolding(server().data, "WORDMARK")).toEqual([]);
  });
});

test("a memory is forgotten by its id, with its verdicts; a project with all of its memories", async () => {
  const added = await recorder.memories.add({ content: "SINGLEMARK is to go", project: "other" });
  const forgotten = await recorder.forget({ entry: added.id, reason });
  expect(forgotten.by_kind).toEqual({ memory_proposed: 1, memory_promoted: 1 });
  expect(await recorder.memories.get(added.id)).toBeUndefined();
  await recorder.memories.add({ content: "PROJECTMARK is to go", project: "other" });
  await recorder.forget({ project: "other", reason });
  expect((await recorder.memories.list({ project: "other" })).memories).toEqual([]);
  if (testEngine === "sqlite") expect(filesHolding(server().data, "SINGLEMARK")).toEqual([]);
  if (testEngine === "sqlite") expect(filesHolding(server().data, "PROJECTMARK")).toEqual([]);
});

test("what quotes a forgotten entry is no evidence", async () => {
  const evidence = [{ entry_id: "WORDMARK-1", quote: "WORDMARK answers come in German" }];
  const dropped = await recorder.memories.propose({ content: "WORDMARK answers in German", evidence });
  expect(dropped).toMatchObject({ dropped: "evidence" });
});

describe("text that also occurs outside of the forgotten entry", () => {
  const quote = "the HIDDENMARK code 7788 opens the archive room";
  const { memories, gone } = { memories: () => recorder.memories, gone: () => server().get("/search?q=HIDDENMARK") };

  async function expectNothingLeft(): Promise<void> {
    expect((await gone()).body.results).toEqual([]);
    if (testEngine === "sqlite") expect(filesHolding(server().data, "HIDDENMARK")).toEqual([]);
  }

  test("go with the wording that a person has changed since, and with what took its place", async () => {
    for (const [name, change] of [
      ["edited", (id: string) => memories().promote(id, { content: "There is an archive room behind a locked door" })],
      ["superseded", (id: string) => memories().supersede(id, { content: `${quote}, but not at night` })],
    ] as const) {
      await say(`hidden-${name}`, "hidden", `Remember that ${quote}`);
      await propose(name, quote, { [`hidden-${name}`]: quote });
      await change(ids[name] as string);
      await recorder.forget({ entry: `hidden-${name}`, reason });
      expect(await memories().get(ids[name] as string), name).toBeUndefined();
      await expectNothingLeft();
    }
  });

  test("go although another entry that says less supports the statement", async () => {
    await say("hidden-more", "hidden", `Remember that ${quote}`);
    await say("hidden-less", "hidden", "Remember that the code opens the archive room");
    await propose("more", quote, { "hidden-more": quote, "hidden-less": "the code opens the archive room" });
    await recorder.forget({ entry: "hidden-more", reason });
    await expectNothingLeft();
  });

  test("go with a response, although they are quoted of its interaction, which stays", async () => {
    const { id } = await recorder.recordInteraction({ prompt: "Which code opens the archive room?", project: "p" });
    const evidence = [{ entry_id: id, quote }];
    const { response_id } = (await recorder.completeInteraction(id, { response: `I know that ${quote}` })) as {
      readonly response_id?: string;
    };
    const own = [{ entry_id: id, quote: "Which code opens the archive room?" }];
    const asked = await memories().add({ content: "Asks for codes", project: "p", evidence: own });
    const added = await memories().add({ content: "Knows how to get in", project: "p", evidence });
    await recorder.forget({ entry: response_id as string, reason });
    expect(await memories().get(added.id)).toMatchObject({ evidence: [], supported: false });
    expect(await memories().get(asked.id)).toMatchObject({ evidence: own, supported: true });
    await expectNothingLeft();
  });

  test("go with feedback that goes with its entry", async () => {
    await say("hidden-liked", "hidden", "That is how it is done");
    await recorder.feedback({ id: "hidden-comment", entry_id: "hidden-liked", score: -1, comment: `No: ${quote}` });
    const evidence = [{ entry_id: "hidden-comment", quote }];
    const added = await memories().add({ content: "Corrects what is wrong", project: "p", evidence });
    await recorder.feedback({ entry_id: added.id, score: 1, comment: "Stays, as its memory does" });
    await recorder.forget({ entry: "hidden-liked", reason });
    expect(await memories().get(added.id)).toMatchObject({ evidence: [], supported: false });
    await expectNothingLeft();
  });
});

test("words that are forgotten while they are quoted do not outlive it", async () => {
  for (let round = 0; round < 10; round += 1) {
    const id = `race-${round}`;
    await say(id, id, `From now on round ${round} RACEMARK is played in the evening`);
    const quote = `round ${round} RACEMARK is played in the evening`;
    const [, forgotten] = await Promise.all([
      recorder.memories.propose({
        content: `Round ${round} is played in the evening`,
        type: "preference",
        evidence: [{ entry_id: id, quote }],
      }),
      recorder.forget({ session_id: id, reason }),
    ]);
    expect(forgotten.entries).toBeGreaterThanOrEqual(1);
  }
  const { memories } = await recorder.memories.list({ status: "candidate", limit: 500 });
  expect(memories.flatMap(({ evidence }) => evidence).filter(({ entry_id }) => entry_id.startsWith("race-"))).toEqual(
    [],
  );
  if (testEngine === "sqlite") expect(filesHolding(server().data, "RACEMARK")).toEqual([]);
});

test("a verdict with another wording does not outlive a memory that is forgotten meanwhile", async () => {
  const words = "amber birch cedar dove elk fern garnet heron iris jade".split(" ");
  for (const [round, word] of words.entries()) {
    const id = `verdict-race-${round}`;
    const quote = `the ${word} VERDICTMARK lies in drawer ${word}${round}`;
    await say(id, id, `Remember that ${quote}`);
    await propose(id, quote, { [id]: quote });
    const memory = ids[id] as string;
    const content = `In short, ${quote}`;
    const { memories } = recorder;
    await Promise.all([
      recorder.forget({ session_id: id, reason }),
      (round % 2 === 0 ? memories.promote(memory, { content }) : memories.supersede(memory, { content })).catch(
        (error: unknown) => expect(error).toMatchObject({ code: "memory_not_found" }),
      ),
    ]);
    expect(await memories.get(memory)).toBeUndefined();
  }
  expect((await server().get("/search?q=VERDICTMARK")).body.results).toEqual([]);
  if (testEngine === "sqlite") expect(filesHolding(server().data, "VERDICTMARK")).toEqual([]);
});
