// recordingFetch under the providers' own SDKs: what they get is what they would have got, and all of it is recorded.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { expect, onTestFinished, test, vi } from "vitest";
import { type ClientRecorder, connectRecorder, recordingFetch } from "../../client/index.js";
import { openRecorder } from "../../src/index.js";
import { startModel } from "../support/model-server.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { startServer, type TestServer } from "./http-client.js";

interface Setting {
  readonly model: string;
  readonly server: TestServer;
  readonly recorder: ClientRecorder;
  readonly fetch: typeof globalThis.fetch;
  /** Interactions as they were recorded, the oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: each has other fields, and the assertions are the check.
  recorded(): Promise<any[]>;
}

async function setUp(): Promise<Setting> {
  const [model, server] = [await startModel(), await startServer()];
  const recorder = connectRecorder({ url: server.address, spool: folderOfTest(), linger_ms: 1 });
  onTestFinished(async () => void (await recorder.close()));
  const recorded = async () => {
    await recorder.flush({ timeout_ms: 60_000 });
    const { interactions } = (await server.get("/interactions?limit=500")).body;
    const whole = interactions.map(({ id }: { id: string }) => server.get(`/interactions/${id}`));
    const bodies = (await Promise.all(whole)).map(({ body }) => body);
    return bodies.sort((one, other) => one.client_seq - other.client_seq);
  };
  return { model, server, recorder, fetch: recordingFetch(recorder), recorded };
}

const tool = {
  name: "get_weather",
  description: "d",
  parameters: { type: "object", properties: { city: { type: "string" } } },
};
const reply = "You said: hello 👋🏽 é";
const counted = { input_tokens: 11, output_tokens: 7, cache_read_tokens: 3 };

interface Provider {
  readonly name: string;
  readonly usage: object;
  /** Asks with the provider's own SDK, and answers with the text and the arguments of the call that came back. */
  ask(setting: Setting, words: string, isStream: boolean, signal?: AbortSignal): Promise<readonly [string, unknown]>;
  /** The same request without an SDK. */
  plain(words: string, isStream: boolean): { readonly path: string; readonly body: object };
}

const providers: readonly Provider[] = [
  {
    name: "chat completions",
    usage: { ...counted, reasoning_tokens: 2 },
    async ask({ model: address, fetch }, words, isStream, signal) {
      const client = new OpenAI({ apiKey: "k", baseURL: `${address}/v1`, fetch, maxRetries: 0 });
      const tools = [{ type: "function", function: tool }] as const;
      const request = {
        model: "asked",
        messages: [
          { role: "system", content: "be" },
          { role: "user", content: words },
        ],
        tools,
      };
      if (isStream) {
        const stream = client.chat.completions.stream(
          { ...request, stream_options: { include_usage: true } } as never,
          { signal },
        );
        const message = await stream.finalMessage();
        return [message.content ?? "", message.tool_calls?.[0]];
      }
      const { choices } = (await client.chat.completions.create(request as never, { signal })) as OpenAI.ChatCompletion;
      return [choices[0]?.message.content ?? "", choices[0]?.message.tool_calls?.[0]];
    },
    plain: (words, stream) => ({
      path: "/v1/chat/completions",
      body: { model: "asked", stream, messages: [{ role: "user", content: words }] },
    }),
  },
  {
    name: "responses",
    usage: { ...counted, reasoning_tokens: 2 },
    async ask({ model: address, fetch }, words, isStream, signal) {
      const client = new OpenAI({ apiKey: "k", baseURL: `${address}/v1`, fetch, maxRetries: 0 });
      const tools = [{ type: "function", strict: false, ...tool }] as const;
      const request = { model: "asked", instructions: "be", input: words, tools } as never;
      const response = isStream
        ? await client.responses.stream(request, { signal }).finalResponse()
        : ((await client.responses.create(request, { signal })) as OpenAI.Responses.Response);
      const call = response.output.find(({ type }) => type === "function_call");
      return [response.output_text, call];
    },
    plain: (words, stream) => ({ path: "/v1/responses", body: { model: "asked", stream, input: words } }),
  },
  {
    name: "messages",
    usage: { ...counted, cache_write_tokens: 1 },
    async ask({ model: address, fetch }, words, isStream, signal) {
      const client = new Anthropic({ apiKey: "k", baseURL: address, fetch, maxRetries: 0 });
      const { parameters, ...named } = tool;
      const messages = [{ role: "user", content: [{ type: "text", text: words }] }];
      const tools = [{ ...named, input_schema: parameters }];
      const request = { model: "asked", max_tokens: 9, system: "be", messages, tools } as never;
      const message = isStream
        ? await client.messages.stream(request, { signal }).finalMessage()
        : ((await client.messages.create(request, { signal })) as Anthropic.Message);
      const [block] = message.content;
      return [block?.type === "text" ? block.text : "", block?.type === "tool_use" ? block : undefined];
    },
    plain: (words, stream) => ({
      path: "/v1/messages",
      body: { model: "asked", stream, max_tokens: 9, messages: [{ role: "user", content: words }] },
    }),
  },
  {
    name: "generateContent",
    usage: { ...counted, reasoning_tokens: 2 },
    async ask({ model: address, fetch }, words, isStream, abortSignal) {
      // This SDK takes no fetch of one's own, and uses the global one.
      vi.stubGlobal("fetch", fetch);
      try {
        const client = new GoogleGenAI({
          apiKey: "k",
          httpOptions: { baseUrl: address, retryOptions: { attempts: 1 } },
        });
        const tools = [{ functionDeclarations: [{ name: tool.name, parametersJsonSchema: tool.parameters }] }];
        const config = { systemInstruction: "be", tools, ...(abortSignal === undefined ? {} : { abortSignal }) };
        const request = { model: "asked", contents: words, config };
        if (!isStream) {
          const { text, functionCalls } = await client.models.generateContent(request);
          return [text ?? "", functionCalls?.[0]];
        }
        let [text, call]: [string, unknown] = ["", undefined];
        for await (const chunk of await client.models.generateContentStream(request)) {
          text += chunk.text ?? "";
          call ??= chunk.functionCalls?.[0];
        }
        return [text, call];
      } finally {
        vi.unstubAllGlobals();
      }
    },
    plain: (words, isStream) => ({
      path: `/v1beta/models/asked:${isStream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
      body: { contents: [{ role: "user", parts: [{ text: words }] }] },
    }),
  },
];

test.each(providers)(
  "$name: the SDK works as ever, and request, answer, call, usage and failure are recorded",
  async (provider) => {
    const setting = await setUp();
    const { recorder, recorded } = setting;
    const { name, usage } = provider;
    for (const isStream of [false, true]) {
      const within = { session_id: "s", memories_used: ["m1"] };
      expect(await recorder.within(within, () => provider.ask(setting, "hello", isStream))).toEqual([reply, undefined]);
      const [text, call] = await provider.ask(setting, "the weather?", isStream);
      expect([text, JSON.stringify(call)]).toEqual(["", expect.stringContaining("Köln")]);
      await expect(provider.ask(setting, "fail 429", isStream)).rejects.toThrow(/too many requests|429/);
      await expect(provider.ask(setting, "error page", isStream)).rejects.toThrow();
    }
    await expect(provider.ask(setting, "break off", true)).rejects.toThrow();
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 150);
    await expect(provider.ask(setting, "slowly", true, stop.signal)).rejects.toThrow();
    await vi.waitFor(async () => expect(await recorded()).toHaveLength(10), 20_000);

    const all = await recorded();
    for (const [at, entry] of all.entries()) {
      expect(entry.context_pack.tools, name).toBeDefined();
      expect(JSON.stringify(entry.context_pack.system ?? entry.context_pack.messages[0])).toContain("be");
      expect(JSON.stringify(entry.context_pack.messages)).toContain(entry.prompt);
      expect([entry.session_id, entry.memories_used]).toEqual(at % 4 === 0 && at < 8 ? ["s", ["m1"]] : ["", []]);
    }
    for (const [said, called, limited, page] of [all.slice(0, 4), all.slice(4, 8)]) {
      expect(said).toMatchObject({ prompt: "hello", response: reply, model: "stand-in-1", usage, error: "" });
      expect(said.extra).toMatchObject({ message_id: expect.any(String), request_id: "req_1" });
      expect(said.latency_ms).toBeGreaterThanOrEqual(0);
      expect(called).toMatchObject({ response: "", error: "" });
      const [{ function: made }] = called.extra.tool_calls;
      expect([made.name, JSON.parse(made.arguments)]).toEqual(["get_weather", { city: "Köln" }]);
      expect(limited).toMatchObject({ prompt: "fail 429", model: "asked", error: "status 429: too many requests" });
      expect(page.error).toBe("status 502: <html>Bad gateway: é</html>");
    }
    const [broken, aborted] = all.slice(8);
    expect(broken.error).toMatch(/terminated|reset|closed|other side/);
    expect(broken.response).toMatch(/^$|^You said/);
    expect(aborted).toMatchObject({ prompt: "slowly", error: expect.stringMatching(/abort/i) });
  },
);

test("every byte goes on unchanged, as soon as it is there, for all shapes, streamed and whole", async () => {
  const { model, fetch: recording, recorded } = await setUp();
  for (const { plain } of providers) {
    for (const [words, isStream] of [
      ["hello", true],
      ["hello", false],
      ["error page", true],
      ["never end slowly", true],
    ] as const) {
      const { path, body } = plain(words, isStream);
      const init = { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
      const seen = await Promise.all(
        [fetch, recording].map((ask) => take(ask, `${model}${path}`, init, words.includes("never"))),
      );
      expect(seen[1]).toEqual(seen[0]);
    }
  }
  await vi.waitFor(async () => expect(await recorded()).toHaveLength(16), 20_000);
  const unfinished = (await recorded()).filter(({ prompt }) => prompt === "never end slowly");
  expect(unfinished.map(({ error }) => error)).toEqual(Array.from({ length: 4 }, () => "aborted by the caller"));
});

/** What somebody who reads an answer sees of it; of one that never ends, the first bytes, which must come all the same. */
async function take(ask: typeof fetch, url: string, init: RequestInit, isEndless: boolean) {
  const response = await ask(url, init);
  const head = { status: response.status, url: response.url, ok: response.ok, type: response.type };
  const headers = [...response.headers].filter(([name]) => name !== "date");
  if (!isEndless) return { ...head, headers, bytes: Buffer.from(await response.arrayBuffer()).toString("hex") };
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let bytes = Buffer.alloc(0);
  while (bytes.length < 21) bytes = Buffer.concat([bytes, (await reader.read()).value as Uint8Array]);
  await reader.cancel();
  return { ...head, headers, bytes: bytes.subarray(0, 21).toString("hex") };
}

/** What the caller sees of an answer, and of a clone of it. */
async function seenOf(ask: typeof fetch, url: string, init?: RequestInit) {
  const response = await ask(url, init);
  const facts = (one: Response) => [one.status, one.statusText, one.ok, one.url, one.redirected, one.type];
  const copy = response.clone();
  const texts = await Promise.all([response.text(), copy.text()]);
  return [facts(response), facts(copy), texts];
}

test("an answer is what it would have been, however strange: its status, its pieces, its body", async () => {
  const { model, fetch: recording, recorder, recorded } = await setUp();
  const init = { method: "POST", body: JSON.stringify({ messages: [{ role: "user", content: "hello" }] }) };
  const strange = createServer((_, response) => response.writeHead(999, "Odd").end("go away")).listen(0, "127.0.0.1");
  await once(strange, "listening");
  onTestFinished(() => void strange.close());
  const { port } = strange.address() as AddressInfo;
  for (const address of [`http://127.0.0.1:${port}`, model]) {
    const url = `${address}/v1/chat/completions`;
    expect(await seenOf(recording, url, init)).toEqual(await seenOf(fetch, url, init));
  }
  for (const input of [undefined, null, 7, {}]) {
    const refusals = [fetch, recording].map((ask) => ask(input as never, init).catch((error: Error) => error.message));
    expect(await refusals[1]).toBe(await refusals[0]);
  }

  // Pieces that share their memory, some of them empty, as a cache hands them out again and again.
  const bytes = new TextEncoder().encode(
    '{"id":"c","choices":[{"finish_reason":"stop","message":{"content":"Höhe"}}]}',
  );
  const cached: typeof fetch = async () =>
    new Response(
      new ReadableStream({
        start(to) {
          for (const [from, end] of [[0, 7], [7, 7], [7, 68], [68]]) to.enqueue(bytes.subarray(from, end));
          to.close();
        },
      }),
    );
  const url = "https://api.example.com/v1/chat/completions";
  const fromCache = recordingFetch(recorder, { fetch: cached });
  for (let turn = 0; turn < 2; turn += 1) {
    expect(await (await fromCache(url, init)).text()).toBe(new TextDecoder().decode(bytes));
  }
  // Other programs' answers have bodies of other kinds.
  const other = { status: 200, ok: true, body: { pipe: () => undefined }, text: async () => "as ever" };
  const foreign = recordingFetch(recorder, { fetch: (async () => other) as never });
  expect(await foreign(url, init)).toBe(other);

  const seen = (await recorded()).map(({ response, error }) => [response, error]);
  expect(seen).toEqual([
    ["", "status 999: go away"],
    ["You said: hello 👋🏽 é", ""],
    ...[0, 1].map(() => ["Höhe", ""]),
    ["", "the body of the answer cannot be read"],
  ]);
});

test("an endless stream is recorded up to the memory limit, and passes unchanged", async () => {
  const { recorder, recorded } = await setUp();
  const piece = new Uint8Array(1024 * 1024).fill(32);
  let left = 70;
  const endless: typeof fetch = async () =>
    new Response(
      new ReadableStream({
        pull(to) {
          if (left > 0) to.enqueue(piece);
          else to.close();
          left -= 1;
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  const ask = recordingFetch(recorder, { fetch: endless });
  const body = JSON.stringify({ messages: [{ role: "user", content: "hello" }] });
  const response = await ask("https://api.example.com/v1/messages", { method: "POST", body });
  expect((await response.arrayBuffer()).byteLength).toBe(70 * piece.length);
  await vi.waitFor(async () => expect(await recorded()).toHaveLength(1), 20_000);
  expect((await recorded())[0].error).toMatch("longer than 64 MiB");
});

test.each([
  ["a document", false],
  ["a stream", true],
])(
  "%s longer than an entry may be passes whole, and is recorded with its beginning and what was cut",
  async (_, isStream) => {
    const { recorder, recorded } = await setUp();
    const long = "long ".repeat(6 * 1024 * 1024);
    const choice = (text: string) =>
      isStream
        ? `data: ${JSON.stringify({ id: "c1", choices: [{ index: 0, delta: { content: text }, finish_reason: "stop" }] })}\n\n`
        : JSON.stringify({ id: "c1", choices: [{ index: 0, message: { content: text }, finish_reason: "stop" }] });
    const headers = { "content-type": isStream ? "text/event-stream" : "application/json" };
    const ask = recordingFetch(recorder, { fetch: async () => new Response(choice(long), { headers }) });
    const body = JSON.stringify({ messages: [{ role: "user", content: "hello" }] });
    const response = await ask("https://api.example.com/v1/chat/completions", { method: "POST", body });
    expect(await response.text()).toBe(choice(long));
    await vi.waitFor(async () => expect(await recorded()).toHaveLength(1), 20_000);
    const [interaction] = await recorded();
    expect(interaction).toMatchObject({ error: "", extra: { message_id: "c1", truncated_fields: ["response"] } });
    expect(interaction.response.length + interaction.extra.truncated).toBe(long.length);
    expect(long.startsWith(interaction.response)).toBe(true);
  },
);

test("a key that a provider repeats in its error is masked in what is recorded, and in nothing that passes", async () => {
  const { recorder, recorded } = await setUp();
  const key = "my-own-shape-of-key-123456";
  const said = { error: { message: `invalid key ${key}, see https://x.example/?key=${key}` } };
  const ask = recordingFetch(recorder, { fetch: async () => Response.json(said, { status: 401 }) });
  const body = JSON.stringify({ messages: [{ role: "user", content: "hello" }] });
  const headers = { authorization: `Bearer ${key}` };
  const response = await ask("https://api.example.com/v1/chat/completions", { method: "POST", body, headers });
  expect(await response.json()).toEqual(said);
  await vi.waitFor(async () => expect(await recorded()).toHaveLength(1), 20_000);
  const [interaction] = await recorded();
  expect(interaction.error).toContain("invalid key [masked], see https://x.example/?key=[masked]");
  expect(JSON.stringify(interaction)).not.toContain(key);
});

test("a call that cannot be recorded is reported", async () => {
  const lost: string[] = [];
  const recorder = { recordInteraction: () => Promise.reject(new Error("the disk is full")) };
  const ask = recordingFetch(recorder, { fetch: async () => Response.json({}), onLost: (why) => lost.push(why) });
  const address = "https://api.example.com/v1/chat/completions";
  await (await ask(address, { method: "POST", body: JSON.stringify({ messages: [] }) })).text();
  const stream = new Blob([JSON.stringify({ messages: [] })]).stream();
  await (await ask(address, { method: "POST", body: stream, duplex: "half" } as RequestInit)).text();
  await vi.waitFor(() => expect(lost).toEqual(["the disk is full", expect.stringContaining("is a stream")]), 5_000);
});

test("an aborted call is recorded, even if its reader stops", async () => {
  const { model, fetch, recorded } = await setUp();
  for (const pieces of [0, 1, 2]) {
    const stop = new AbortController();
    const content = "never end";
    const body = JSON.stringify({ stream: true, messages: [{ role: "user", content }] });
    const answer = await fetch(`${model}/v1/chat/completions`, { method: "POST", body, signal: stop.signal });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    for (let at = 0; at < pieces; at += 1) await reader.read();
    stop.abort();
    await vi.waitFor(async () => expect(await recorded()).toHaveLength(pieces + 1), 20_000);
    await expect(reader.read()).rejects.toThrow("aborted");
  }
  for (const { error } of await recorded()) expect(error).toContain("aborted");
});

test("other requests pass through, and a failing recorder disturbs no call", async () => {
  const { model, server, fetch: recording, recorded } = await setUp();
  const chat = { method: "POST", body: JSON.stringify({ messages: [{ role: "user", content: "hello" }] }) };
  expect((await recording(`${server.address}/health`)).status).toBe(200);
  expect((await recording(`${model}/v1/chat/completions`, { method: "POST", body: "{" })).status).toBe(400);
  expect((await recording(new Request(`${model}/v1/chat/completions`, chat))).status).toBe(200);
  await expect(recording("http://127.0.0.1:1/v1/chat/completions", chat)).rejects.toThrow("fetch failed");
  await expect(recording("no address")).rejects.toThrow("Failed to parse URL");
  const broken = recordingFetch({ recordInteraction: () => Promise.reject(new Error("no")) });
  expect(await (await broken(`${model}/v1/chat/completions`, chat)).json()).toMatchObject({
    object: "chat.completion",
  });
  const library = await openRecorder({ data: "memory:" });
  const given = { session_id: "s", project: "web", memories_used: ["m1"] };
  await library.within(given, async () => {
    const own = await recordingFetch(library)(`${model}/v1/chat/completions`, chat);
    await own.text();
    await library.append([
      { kind: "error", error: "e" },
      { kind: "decision", decision: "d", project: "mine" },
    ]);
    await library.within({ client: "bot", project: undefined }, () => library.session("t").error({ error: "f" }));
  });
  await library.append({ kind: "error", error: "outside" });
  const inSession = (id: string) => library.listEntries({ session_id: id });
  await vi.waitFor(async () => expect((await inSession("s")).entries).toHaveLength(3), 20_000);
  const { entries } = await inSession("s");
  expect(entries.find(({ kind }) => kind === "interaction")).toMatchObject(given);
  expect(entries.find(({ kind }) => kind === "decision")).toMatchObject({ project: "mine" });
  expect((await inSession("t")).entries).toMatchObject([{ project: "web", client: "bot" }]);
  expect((await inSession("-")).entries).toMatchObject([{ error: "outside", project: "" }]);
  await library.close();
  const errors = (await recorded()).map(({ error }) => error);
  expect(errors).toEqual(["bad port"]);
});

test("an agent's loop with tool results keeps the user's words as its prompt", async () => {
  const { model, fetch: recording, recorded } = await setUp();
  const anthropic = [
    { role: "user", content: "the weather?" },
    { role: "assistant", content: [{ type: "tool_use", id: "t", name: "get_weather", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "sunny" }] }] },
  ];
  const ask = (path: string, body: object) =>
    recording(`${model}${path}`, { method: "POST", body: JSON.stringify(body) });
  await (await ask("/v1/messages", { messages: anthropic, tools: [] })).text();
  await (await ask("/v1/messages", { messages: anthropic.slice(2), tools: [] })).text();
  const items = [
    { role: "user", content: [{ type: "input_text", text: "the weather?" }] },
    { type: "function_call", call_id: "c", name: "get_weather", arguments: "{}" },
    { type: "function_call_output", call_id: "c", output: "sunny" },
  ];
  await (await ask("/v1/responses", { input: items })).text();
  const all = await recorded();
  expect(all.map(({ prompt }) => prompt)).toEqual(["the weather?", "sunny", "the weather?"]);
  expect(all[2].context_pack.messages.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "tool"]);
});
