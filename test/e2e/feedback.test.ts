// What somebody thought of an entry, and what was taken back: recorded, found, reflected on and forgotten, on every engine.
import { expect, test } from "vitest";
import { openRecorder, type Recorder } from "../../src/index.js";
import { storeOfTest } from "../support/store.js";
import { startServer } from "./http-client.js";

async function withRecorder(work: (recorder: Recorder) => Promise<void>): Promise<void> {
  const recorder = await openRecorder({ data: await storeOfTest() });
  try {
    await work(recorder);
  } finally {
    await recorder.close();
  }
}

test("feedback takes its labels from the entry, which is disliked from then on", () =>
  withRecorder(async (recorder) => {
    const labels = { session_id: "s", project: "p", client: "c" };
    await recorder.recordInteraction({ id: "good", prompt: "a", response: "yes", ...labels });
    await recorder.recordInteraction({ id: "bad", prompt: "b", response: "no", ...labels });
    await recorder.append({ kind: "message", id: "said", role: "assistant", content: "perhaps", session_id: "t" });
    await recorder.feedback({ entry_id: "good", score: 1 });
    const receipt = await recorder.feedback({ entry_id: "bad", score: -0.5, comment: "it is the other one" });
    expect(receipt).toEqual({ status: "recorded", id: receipt.id, created_at: receipt.created_at, position: 5 });
    await recorder.feedback({ entry_id: "said", label: "unhelpful" });
    expect(await recorder.getEntry(receipt.id)).toMatchObject({ kind: "feedback", ...labels, label: "", score: -0.5 });
    const disliked = async (): Promise<readonly string[]> =>
      (await recorder.listEntries({ is: "disliked" })).entries.map(({ id }) => id);
    expect(await disliked()).toEqual(["bad"]);
    expect((await recorder.listInteractions({ is: "disliked", project: "p" })).interactions).toHaveLength(1);
    expect((await recorder.search("is:disliked no")).results).toMatchObject([{ id: "bad" }]);
    expect((await recorder.search("other one")).results).toMatchObject([{ kind: "feedback", field: "comment" }]);
    await recorder.feedback({ entry_id: "said", score: -1 });
    expect(await disliked()).toEqual(["said", "bad"]);
    expect(await recorder.session("s").summary()).toMatchObject({ entries: 4, interactions: 2 });
  }));

test("feedback names an entry that is there, and says something", () =>
  withRecorder(async (recorder) => {
    await recorder.append({ kind: "error", id: "e", error: "x" });
    const refusal = (input: object): Promise<unknown> =>
      recorder.append({ kind: "feedback", ...input } as never).catch((error: unknown) => error);
    expect(await refusal({ entry_id: "nobody", score: 1 })).toMatchObject({
      code: "entry_not_found",
      field: "entry_id",
    });
    expect(await refusal({ entry_id: "1", score: 1 })).toMatchObject({
      code: "entry_not_found",
      hint: expect.stringMatching(/position/),
    });
    expect(await refusal({ entry_id: "e" })).toMatchObject({ code: "field_missing", field: "score" });
    expect(await refusal({ entry_id: "e", label: "", comment: null })).toMatchObject({ code: "field_missing" });
    expect(await refusal({ entry_id: "e", score: -1.5 })).toMatchObject({ code: "field_invalid", field: "score" });
    expect((await recorder.health()).position).toBe(1);
    // An entry of the same batch will do, and the same feedback again is stored once.
    const batch = [
      { kind: "decision", id: "d", decision: "go", project: "p" },
      { kind: "feedback", id: "f", entry_id: "d", score: -1 },
    ] as const;
    await recorder.append(batch);
    expect(await recorder.append(batch)).toMatchObject({ status: "already_recorded" });
    expect(await recorder.getEntry("f")).toMatchObject({ project: "p" });
    expect((await recorder.listEntries({ is: "disliked" })).entries).toMatchObject([{ id: "d" }]);
  }));

test("reflection shows disliked answers with their feedback", () =>
  withRecorder(async (recorder) => {
    for (let at = 0; at < 40; at += 1)
      await recorder.recordInteraction({ id: `i${at}`, prompt: "q", response: `a${at}` });
    for (const at of [1, 20, 39]) await recorder.feedback({ entry_id: `i${at}`, score: -1, comment: `not ${at}` });
    await recorder.feedback({ entry_id: "i39", score: 1, comment: "fine after all" });
    const report = await recorder.reflect();
    expect(report).toMatchObject({ reviewed: 30, disliked: { count: 2 } });
    expect(report.disliked.items).toMatchObject([
      { id: "i39", text: "a39", comment: "not 39", score: -1 },
      { id: "i20", comment: "not 20" },
    ]);
    expect(report.markdown).toMatch(/### Disliked answers \(2\)\n\n- \S+Z a39: “not 39”, score -1 \(#40, #43\)\n/);
    expect((await recorder.reflect({ limit: 100, is: "disliked" })).disliked.count).toBe(3);
  }));

test("feedback is forgotten with its entry, and the dislike is gone if only the feedback is forgotten", () =>
  withRecorder(async (recorder) => {
    await recorder.recordInteraction({ id: "a", prompt: "q", response: "r" });
    await recorder.recordInteraction({ id: "b", prompt: "q", response: "r" });
    await recorder.feedback({ id: "on-a", entry_id: "a", score: -1, comment: "about the secret" });
    await recorder.feedback({ id: "also-a", entry_id: "a", label: "bad" });
    await recorder.feedback({ id: "on-b", entry_id: "b", score: -1 });
    expect(await recorder.forget({ entry: "a", reason: "asked" })).toMatchObject({ entries: 3, positions: [1, 3, 4] });
    expect((await recorder.search("secret")).results).toEqual([]);
    expect((await recorder.listEntries({ is: "disliked" })).entries).toMatchObject([{ id: "b" }]);
    await recorder.forget({ entry: "on-b", reason: "asked" });
    expect((await recorder.listEntries({ is: "disliked" })).entries).toEqual([]);
    await recorder.rebuildIndex();
    expect((await recorder.listEntries({ is: "disliked" })).entries).toEqual([]);
    expect((await recorder.reflect()).disliked.count).toBe(0);
    expect(await recorder.verify()).toMatchObject({ ok: true });
    await expect(recorder.feedback({ entry_id: "a", score: 1 })).rejects.toMatchObject({ code: "entry_not_found" });
    // What was acknowledged once is acknowledged again, although what it named is gone.
    const again = await recorder.feedback({ id: "on-a", entry_id: "a", score: -1, comment: "about the secret" });
    expect(again).toMatchObject({ status: "already_recorded", position: 3 });
  }));

test("a call that failed is answered, is an error, and cannot be completed", () =>
  withRecorder(async (recorder) => {
    await recorder.recordInteraction({ id: "own", prompt: "a", error: "overloaded" });
    await recorder.recordInteraction({ id: "later", prompt: "b" });
    await recorder.recordInteraction({ id: "open", prompt: "c" });
    expect(await recorder.completeInteraction("later", { error: "timed out" })).toMatchObject({ error: "timed out" });
    const ids = async (is: string): Promise<readonly string[]> =>
      (await recorder.listInteractions({ is })).interactions.map(({ id }) => id);
    expect(await ids("error")).toEqual(["later", "own"]);
    expect(await ids("unanswered")).toEqual(["open"]);
    for (const id of ["own", "later"]) {
      const completed = recorder.completeInteraction(id, { response: "now" });
      await expect(completed).rejects.toMatchObject({ code: "already_completed" });
    }
    expect((await recorder.search("overloaded")).results).toMatchObject([{ id: "own", field: "error" }]);
    expect(await recorder.reflect()).toMatchObject({ users: 3, responses: 0, errors: 2 });
  }));

test("a withdrawal names a message of its session, on every way in", async () => {
  const server = await startServer();
  const message = (session_id: string): object => ({ kind: "message", session_id, role: "user", content: session_id });
  const { body } = await server.post("/entries", [
    message("s"),
    message("t"),
    { kind: "error", error: "e", session_id: "s" },
  ]);
  expect(body.entries).toHaveLength(3);
  for (const withdraws of [2, 3, 4, 1e9, Number.MAX_SAFE_INTEGER]) {
    const refused = await server.post("/entries", { kind: "withdrawal", session_id: "s", withdraws });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: "field_invalid", field: "withdraws" } } });
    await expect(server.recorder.session("s").withdraw(withdraws)).rejects.toMatchObject({ field: "withdraws" });
  }
  const batch = [message("s"), { kind: "withdrawal", session_id: "s", withdraws: 2 }];
  expect((await server.post("/entries", batch)).body.error).toMatchObject({ index: 1, field: "withdraws" });
  expect((await server.get("/health")).body.position).toBe(3);
  expect((await server.post("/entries", { kind: "withdrawal", session_id: "s", withdraws: 1 })).status).toBe(201);
  expect((await server.get("/sessions/s/history")).body).toEqual({ messages: [] });
  expect((await server.get("/search?q=kind:message+s")).body.results).toHaveLength(1);
});

test("receipts name the fields that a kind does not know, over HTTP too", async () => {
  const server = await startServer();
  const one = await server.post("/interactions", { prompt: "p", respons: "r", extra: { note: 1 } });
  expect(one.body).toMatchObject({ status: "recorded", unknown_fields: ["respons"] });
  const many = [
    { kind: "error", id: "e", error: "x", sevrity: 1, __proto_: 2 },
    { kind: "error", error: "y", extra: { severity: 1 } },
  ];
  const { body } = await server.post("/entries", many);
  expect(body.entries[0].unknown_fields).toEqual(["sevrity", "__proto_"]);
  expect(body.entries[1]).not.toHaveProperty("unknown_fields");
  const again = await server.post("/entries", many[0]);
  expect(again.body.entries).toMatchObject([{ status: "already_recorded", unknown_fields: ["sevrity", "__proto_"] }]);
  expect((await server.post("/sessions/s/clear", { why: "new topic" })).body.unknown_fields).toEqual(["why"]);
});

test("a prompt that is a list of messages is refused with the way to do it", async () => {
  const server = await startServer();
  const refused = await server.post("/interactions", { prompt: [{ role: "user", content: "hi" }] });
  expect(refused).toMatchObject({ status: 400, body: { error: { code: "prompt_blank", field: "prompt" } } });
  expect(refused.body.error.hint).toContain("context_pack.messages");
});

test("include=reasoning over HTTP, and anything else is a 400", async () => {
  const server = await startServer();
  const entries = [
    { kind: "message", session_id: "s", role: "user", content: "q" },
    { kind: "message", session_id: "s", role: "model", content: "a", reasoning_content: "hm" },
  ];
  await server.post("/entries", entries);
  const { body } = await server.get("/sessions/s/history?include=reasoning");
  expect(body.messages[1]).toEqual({ role: "assistant", content: "a", reasoning_content: "hm" });
  expect((await server.get("/sessions/s/history?include=all")).status).toBe(400);
  expect((await server.get("/entries?role=assistant")).body.entries).toHaveLength(1);
});
