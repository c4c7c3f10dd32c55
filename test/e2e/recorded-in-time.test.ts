// When a call returns, it is recorded; what went wrong is named by its kind and cause; attempts of one call are linked.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, onTestFinished, test, vi } from "vitest";
import { recordingFetch } from "../../client/index.js";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { type Interaction, openRecorder, type Recorder } from "../../src/index.js";
import { startModel } from "../support/model-server.js";
import { folderOfTest } from "../support/temporary-folder.js";

async function openMemory(): Promise<Recorder> {
  const recorder = await openRecorder({ data: "memory:" });
  onTestFinished(() => recorder.close());
  return recorder;
}

/** A provider that answers as a test says. */
async function provider(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => answer(request, response));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** As they are at once: nobody waits for them. */
async function interactionsOf(recorder: Recorder): Promise<readonly Interaction[]> {
  const { interactions } = await recorder.listInteractions();
  const whole = await Promise.all(interactions.toReversed().map(({ id }) => recorder.getInteraction(id)));
  return whole as unknown as readonly Interaction[];
}

const messages = [{ role: "user" as const, content: "hello" }];

test("an awaited call is recorded when it returns, streamed or not, with the time of its first token", async () => {
  const recorder = await openMemory();
  const fetch = recordingFetch(recorder);
  const client = new OpenAI({ apiKey: "k", baseURL: `${await startModel()}/v1`, fetch, maxRetries: 0 });
  for (let calls = 1; calls <= 5; calls += 1) {
    await client.chat.completions.create({ model: "m", messages });
    expect(await interactionsOf(recorder)).toHaveLength(2 * calls - 1);
    for await (const _ of await client.chat.completions.create({ model: "m", messages, stream: true }));
    expect(await interactionsOf(recorder)).toHaveLength(2 * calls);
  }
  const [whole, streamed] = await interactionsOf(recorder);
  expect(whole).not.toHaveProperty("first_token_ms");
  expect(streamed?.first_token_ms).toBeGreaterThanOrEqual(0);
  expect(streamed?.first_token_ms).toBeLessThanOrEqual(streamed?.latency_ms as number);
});

test("a recorder that hangs delays the end of an answer by a quarter of a second, and no more", async () => {
  const fetch = recordingFetch({ recordInteraction: () => new Promise(() => undefined) });
  const client = new OpenAI({ apiKey: "k", baseURL: `${await startModel()}/v1`, fetch, maxRetries: 0 });
  const startMs = performance.now();
  await client.chat.completions.create({ model: "m", messages });
  const ms = performance.now() - startMs;
  expect(ms).toBeGreaterThan(240);
  expect(ms).toBeLessThan(2_000);
});

test("the prompt of a call that takes long is recorded before its answer", async () => {
  const recorder = await openMemory();
  let answer: () => void = () => undefined;
  const address = await provider((_, response) => {
    answer = () =>
      response.end(
        JSON.stringify({ id: "c1", model: "m-1", choices: [{ message: { content: "late" }, finish_reason: "stop" }] }),
      );
    response.setHeader("content-type", "application/json");
  });
  const client = new OpenAI({ apiKey: "k", baseURL: address, fetch: recordingFetch(recorder), maxRetries: 0 });
  const call = client.chat.completions.create({ model: "m", messages });
  await vi.waitFor(async () => expect(await interactionsOf(recorder)).toHaveLength(1), { timeout: 10_000 });
  const [pending] = await interactionsOf(recorder);
  expect(pending).toMatchObject({ prompt: "hello", response: "", error: "", context_pack: { messages } });
  answer();
  await call;
  const all = await interactionsOf(recorder);
  expect(all).toMatchObject([
    { id: pending?.id, response: "late", model: "m-1", extra: { message_id: "c1", finish_reason: "stop" } },
  ]);
  expect(all[0]?.latency_ms).toBeGreaterThan(1_900);
});

test("a provider's error in a stream is an error, although the SDK stops reading then", async () => {
  const recorder = await openMemory();
  const address = await provider((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(
      `event: message_start\ndata: ${JSON.stringify({ type: "message_start", message: { id: "m1", model: "m" } })}\n\n`,
    );
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    response.write(`event: error\ndata: ${JSON.stringify(error)}\n\n`);
  });
  const client = new Anthropic({ apiKey: "k", baseURL: address, fetch: recordingFetch(recorder), maxRetries: 0 });
  await expect(client.messages.stream({ model: "m", max_tokens: 9, messages }).finalMessage()).rejects.toThrow(
    "Overloaded",
  );
  await vi.waitFor(async () => expect(await interactionsOf(recorder)).toHaveLength(1));
  expect(await interactionsOf(recorder)).toMatchObject([{ error: "Overloaded", extra: { error_kind: "provider" } }]);
});

test("only the caller aborts; a reader that stops behind the whole answer has not", async () => {
  const recorder = await openMemory();
  const client = new OpenAI({
    apiKey: "k",
    baseURL: `${await startModel()}/v1`,
    fetch: recordingFetch(recorder),
    maxRetries: 0,
  });
  const abort = new AbortController();
  const slowly = [{ role: "user" as const, content: "slowly" }];
  const stream = await client.chat.completions.create(
    { model: "m", messages: slowly, stream: true },
    { signal: abort.signal },
  );
  for await (const _ of stream) abort.abort();
  await vi.waitFor(async () => expect(await interactionsOf(recorder)).toHaveLength(1));
  expect(await interactionsOf(recorder)).toMatchObject([
    { error: expect.stringContaining("aborted"), extra: { error_kind: "aborted" } },
  ]);
});

test("a connection that cannot be made is named by its cause", async () => {
  const recorder = await openMemory();
  const fetch = recordingFetch(recorder);
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const client = new OpenAI({ apiKey: "k", baseURL: `http://127.0.0.1:${port}/v1`, fetch, maxRetries: 0 });
  await expect(client.chat.completions.create({ model: "m", messages })).rejects.toThrow();
  expect(await interactionsOf(recorder)).toMatchObject([
    { error: expect.stringMatching(/refused.*ECONNREFUSED|ECONNREFUSED/), extra: { error_kind: "connection" } },
  ]);
});

test("attempts of an SDK are linked, each to the one before", async () => {
  const recorder = await openMemory();
  let asked = 0;
  const address = await provider((_, response) => {
    asked += 1;
    response.setHeader("content-type", "application/json");
    response.statusCode = asked < 3 ? 503 : 200;
    const answer = { choices: [{ message: { content: "at last" }, finish_reason: "stop" }] };
    response.setHeader("retry-after-ms", "1");
    response.end(JSON.stringify(asked < 3 ? { error: { message: "busy" } } : answer));
  });
  const client = new OpenAI({ apiKey: "k", baseURL: address, fetch: recordingFetch(recorder), maxRetries: 2 });
  await client.chat.completions.create({ model: "m", messages });
  await client.chat.completions.create({ model: "m", messages });
  const [first, second, third, other] = await interactionsOf(recorder);
  expect([first?.extra.retry_of, second?.extra.retry_of, third?.extra.retry_of, other?.extra.retry_of]).toEqual([
    ...[undefined, first?.id, second?.id, undefined],
  ]);
  expect(third).toMatchObject({ response: "at last", error: "" });
});

test("calls for embeddings are raw entries with their usage, without the vectors", async () => {
  const recorder = await openMemory();
  const address = await provider((_, response) => {
    response.setHeader("content-type", "application/json");
    const data = [{ embedding: [0.25, 0.5] }, { embedding: [0.75, 1] }];
    response.end(JSON.stringify({ model: "e-1", data, usage: { prompt_tokens: 7, total_tokens: 7 } }));
  });
  const client = new OpenAI({ apiKey: "k", baseURL: address, fetch: recordingFetch(recorder), maxRetries: 0 });
  await recorder.within({ session_id: "s", user_id: "anna" }, () =>
    client.embeddings.create({ model: "e", input: ["one", "two"], encoding_format: "float" }),
  );
  const { entries } = await recorder.listEntries({ kind: "raw" });
  expect(entries).toMatchObject([
    {
      ...{ session_id: "s", user_id: "anna", source: "embeddings" },
      record: { request: { input: ["one", "two"] }, response: { vectors: 2 } },
    },
  ]);
  expect(JSON.stringify(entries)).not.toContain("0.25");
  expect((await recorder.usage()).total).toMatchObject({ calls: 1, input_tokens: 7 });
});

test("without a recorder, or with an unknown option, it fails at once", () => {
  const make = recordingFetch as (...given: readonly unknown[]) => unknown;
  expect(() => make()).toThrow("recordingFetch needs a recorder");
  expect(() => make({})).toThrow("recordingFetch needs a recorder");
  const recorder = { recordInteraction: async () => undefined };
  expect(() => make(recorder, { onlost: () => undefined })).toThrow("Did you mean onLost?");
});

test("session and user come from a request's metadata, and the prompt is what was typed", async () => {
  const recorder = await openMemory();
  const client = new Anthropic({
    apiKey: "k",
    baseURL: await startModel(),
    fetch: recordingFetch(recorder),
    maxRetries: 0,
  });
  const reminder = { type: "text" as const, text: "<system-reminder>Be careful.</system-reminder>" };
  const content = [reminder, { type: "text" as const, text: "hello" }];
  const ask = (metadata: Anthropic.Metadata) =>
    client.messages.create({ model: "m", max_tokens: 9, messages: [{ role: "user", content }], metadata });
  await ask({ user_id: "anna" });
  await ask({ user_id: "user_1_account__session_0f1e" });
  await ask({ user_id: "{odd\u0007}" });
  const [plain, session, odd] = await interactionsOf(recorder);
  expect(plain).toMatchObject({ user_id: "anna", session_id: "", prompt: "hello" });
  expect(session).toMatchObject({ user_id: "", session_id: "0f1e" });
  expect(odd).toMatchObject({ user_id: "", session_id: "" });
});

const programs = {
  library: `
    import { openRecorder } from "${join(repositoryRoot, "dist", "bundle", "index.js")}";
    import { recordingFetch } from "${join(repositoryRoot, "dist", "client", "index.js")}";
    const recorder = await openRecorder({ data: process.argv[1] });
    const fetch = recordingFetch(recorder);
  `,
  client: `
    import { connectRecorder, recordingFetch } from "${join(repositoryRoot, "dist", "client", "index.js")}";
    const fetch = recordingFetch(connectRecorder({ url: "http://127.0.0.1:9", spool: process.argv[1] }));
  `,
};

const ends = { SIGKILL: "process.kill(process.pid, 'SIGKILL');", "process.exit(0)": "process.exit(0);" };

test.each([
  ["library", "SIGKILL"],
  ["library", "process.exit(0)"],
  ["client", "SIGKILL"],
  ["client", "process.exit(0)"],
] as const)("the %s: %s right after an awaited call loses nothing, 20 of 20", async (how, end) => {
  const model = await startModel();
  const folders = Array.from({ length: 20 }, () => join(folderOfTest(), "kept"));
  for (const folder of folders) {
    const body = `body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "hello" }] })`;
    const asks = `await (await fetch("${model}/v1/chat/completions", { method: "POST", ${body} })).text();`;
    const script = `${programs[how]}\n${asks}\n${ends[end]}`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script, "--", folder], { stdio: "inherit" });
    await once(child, "exit");
  }
  const counts = await Promise.all(folders.map((folder) => (how === "library" ? inStore(folder) : inSpool(folder))));
  // On a busy machine a prompt is recorded before its answer, as an entry of its own.
  expect(counts.map((count) => Math.min(count, 1))).toEqual(folders.map(() => 1));
});

async function inStore(data: string): Promise<number> {
  const recorder = await openRecorder({ data });
  const { interactions } = await recorder.listInteractions();
  await recorder.close();
  return interactions.length;
}

function inSpool(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ndjson"));
  return files.flatMap((file) => readFileSync(join(folder, file), "utf8").trim().split("\n")).length;
}
