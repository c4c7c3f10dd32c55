// Adapters with the real packages: the AI SDK, LangChain.js and the OpenAI Agents SDK.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAI } from "@ai-sdk/openai";
import { tool } from "@langchain/core/tools";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import {
  Agent,
  type AgentInputItem,
  tool as agentTool,
  Runner,
  setTraceProcessors,
  setTracingDisabled,
} from "@openai/agents-core";
import { OpenAIProvider, OpenAIResponsesCompactionSession } from "@openai/agents-openai";
import { tool as aiTool, generateText, streamText, wrapLanguageModel } from "ai";
import OpenAI from "openai";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { recordedSession, recordingCallbacks, recordingMiddleware, recordingTraces } from "../../client/index.js";
import { openRecorder, type Recorder } from "../../src/index.js";
import { startModel } from "../support/model-server.js";

async function openMemory(): Promise<Recorder> {
  const recorder = await openRecorder({ data: "memory:" });
  onTestFinished(() => recorder.close());
  return recorder;
}

// biome-ignore lint/suspicious/noExplicitAny: each has other fields, and the assertions are the check.
async function interactionsOf(recorder: Recorder, count: number): Promise<any[]> {
  // Nobody waits for what is recorded.
  await vi.waitFor(async () => expect((await recorder.listInteractions()).interactions).toHaveLength(count), 20_000);
  const { interactions } = await recorder.listInteractions();
  return Promise.all(interactions.toReversed().map(({ id }) => recorder.getInteraction(id)));
}

test("the AI SDK: the middleware records generated and streamed calls, and failures", async () => {
  const [recorder, address] = [await openMemory(), await startModel()];
  const openai = createOpenAI({ apiKey: "k", baseURL: `${address}/v1` });
  const model = wrapLanguageModel({ model: openai.chat("asked"), middleware: recordingMiddleware(recorder) });
  const tools = { get_weather: aiTool({ inputSchema: z.object({ city: z.string() }) }) as never };
  expect((await generateText({ model, prompt: "hello", maxRetries: 0 })).text).toBe("You said: hello 👋🏽 é");
  let text = "";
  for await (const piece of streamText({ model, prompt: "hello", maxRetries: 0 }).textStream) text += piece;
  expect(text).toBe("You said: hello 👋🏽 é");
  const { toolCalls } = await generateText({ model, prompt: "the weather?", tools, maxRetries: 0 });
  expect(toolCalls[0]?.input).toEqual({ city: "Köln" });
  await expect(generateText({ model, prompt: "fail 429", maxRetries: 0 })).rejects.toThrow("too many requests");
  const picture = { type: "file", data: new Uint8Array(300_000).fill(7), mediaType: "image/png" } as const;
  const shown = [{ role: "user" as const, content: [{ type: "text" as const, text: "hello" }, picture] }];
  await generateText({ model, messages: shown, maxRetries: 0 });
  const [whole, streamed, called, failed, seen] = await interactionsOf(recorder, 5);
  // As many values as it has bytes would be refused.
  expect(JSON.stringify(seen.context_pack.messages)).toContain("BwcHBwcH");
  for (const one of [whole, streamed]) {
    expect(one).toMatchObject({ prompt: "hello", response: text, model: "stand-in-1", error: "" });
    expect(one.usage).toEqual({ input_tokens: 11, output_tokens: 7, cache_read_tokens: 3, reasoning_tokens: 2 });
    expect(one.extra).toMatchObject({ message_id: expect.stringMatching(/^chatcmpl-/), finish_reason: "stop" });
  }
  expect(called.extra.tool_calls[0].function).toEqual({ name: "get_weather", arguments: '{"city":"Köln"}' });
  expect(called.context_pack.tools[0].name).toBe("get_weather");
  expect(failed).toMatchObject({ prompt: "fail 429", model: "asked", error: "too many requests" });
});

test("the AI SDK: an aborted stream is recorded, even if its reader stops", async () => {
  const recorder = await openMemory();
  let abort: (reason: Error) => void = () => undefined;
  const stream = new ReadableStream<object>({
    start(to) {
      for (const text of ["one", "two", "three"]) to.enqueue({ type: "text-delta", delta: text });
      abort = (reason) => to.error(reason);
    },
  });
  const call = { params: { prompt: [{ role: "user", content: "hello" }] }, model: { modelId: "asked" } };
  await recordingMiddleware(recorder).wrapStream({ ...call, doStream: async () => ({ stream }) });
  // One part is read ahead, and no more before somebody asks.
  await new Promise(setImmediate);
  abort(new Error("aborted by its user"));
  const [aborted] = await interactionsOf(recorder, 1);
  expect(aborted).toMatchObject({ prompt: "hello", model: "asked", error: "aborted by its user" });
});

test("LangChain.js: callbacks record models and tools, and their failures", async () => {
  const recorder = await openMemory();
  const callbacks = [recordingCallbacks(recorder)];
  const model = new FakeListChatModel({ responses: ["hi"] });
  await model.invoke(
    [
      ["system", "be"],
      ["human", "hello"],
    ],
    { callbacks },
  );
  const list = tool(async ({ dir }) => (dir === "." ? "a b" : Promise.reject(new Error("no such folder"))), {
    name: "ls",
    description: "lists",
    schema: z.object({ dir: z.string() }),
  });
  await list.invoke({ dir: "." }, { callbacks });
  await expect(list.invoke({ dir: "/none" }, { callbacks })).rejects.toThrow("no such folder");
  const [interaction] = await interactionsOf(recorder, 1);
  expect(interaction).toMatchObject({ prompt: "hello", response: "hi" });
  expect(interaction.context_pack.messages).toMatchObject([{ role: "system" }, { role: "user", content: "hello" }]);
  const listed = () => recorder.listEntries({ kind: "tool_call" });
  await vi.waitFor(async () => expect((await listed()).entries).toHaveLength(2), 20_000);
  const { entries } = await listed();
  expect(entries).toMatchObject([
    { tool: "ls", result: "no such folder", is_error: true, args: { input: '{"dir":"/none"}' } },
    { tool: "ls", result: "a b", is_error: false },
  ]);
});

test("LangChain.js: tools that are bound to a model are part of what it was given, and the record is there when a call returns", async () => {
  class Bound extends FakeListChatModel {
    override invocationParams(options: this["ParsedCallOptions"]) {
      return { ...options, tools: [{ type: "function", function: { name: "ls" } }] };
    }
  }
  const recorder = await openMemory();
  await new Bound({ responses: ["hi"] }).invoke("hello", { callbacks: [recordingCallbacks(recorder)] });
  const { interactions } = await recorder.listInteractions();
  expect(interactions).toHaveLength(1);
  const whole = await recorder.getInteraction(interactions[0]?.id as string);
  expect(whole?.context_pack).toMatchObject({
    tools: [{ function: { name: "ls" } }],
    messages: [{ content: "hello" }],
  });
});

test("OpenAI Agents: traces record model calls with instructions, tools and usage, and the tools that ran", async () => {
  const [recorder, address] = [await openMemory(), await startModel(randomUUID)];
  const traces = recordingTraces(recorder);
  setTracingDisabled(false);
  setTraceProcessors([traces]);
  onTestFinished(() => {
    setTraceProcessors([]);
    setTracingDisabled(true);
  });
  const weather = agentTool({
    name: "get_weather",
    description: "d",
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => `sunny in ${city}`,
  });
  const agent = new Agent({ name: "a", model: "asked", instructions: "Be brief.", tools: [weather] });
  for (const useResponses of [true, false]) {
    const provider = new OpenAIProvider({ apiKey: "k", baseURL: `${address}/v1`, useResponses });
    await new Runner({ modelProvider: provider, groupId: `group-${useResponses}` }).run(agent, "the weather?");
    await traces.forceFlush();
    const { entries } = await recorder.listEntries({ session_id: `group-${useResponses}` });
    expect(entries.map(({ kind }) => kind)).toEqual(["interaction", "tool_call", "interaction"]);
    const calls = await Promise.all(entries.map(({ id }) => recorder.getEntry(id)));
    expect(calls[1]).toMatchObject({ tool: "get_weather", result: "sunny in Köln", is_error: false });
    const [last, , first] = calls as unknown as { context_pack: object; usage: object; extra: object }[];
    expect(JSON.stringify(first?.context_pack)).toContain("the weather?");
    expect(JSON.stringify(last)).toContain("sunny in Köln");
    expect(last).toMatchObject({ usage: { input_tokens: 11, output_tokens: 7 } });
    if (useResponses) expect(first?.extra).toMatchObject({ tool_calls: [{ function: { name: "get_weather" } }] });
  }
});

test("OpenAI Agents: a session is stored in the record, a removed item is a withdrawal, and clearing is a clear", async () => {
  const [recorder, address] = [await openMemory(), await startModel()];
  const weather = agentTool({
    name: "get_weather",
    description: "d",
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => `sunny in ${city}, token ghp_${"a1B2c3D4e5F6".repeat(3)}`,
  });
  const agent = new Agent({ name: "a", model: "asked", tools: [weather] });
  const provider = new OpenAIProvider({ apiKey: "k", baseURL: `${address}/v1`, useResponses: true });
  const runner = new Runner({ modelProvider: provider, tracingDisabled: true });
  const session = recordedSession<AgentInputItem>(recorder, "agents:1");
  const { finalOutput } = await runner.run(agent, "the weather?", { session });
  expect(finalOutput).toBe("You said: the weather? 👋🏽 é");
  const items = await session.getItems();
  expect(items.map((item) => ("role" in item ? item.role : item.type))).toEqual([
    ...["user", "function_call", "function_call_result", "assistant"],
  ]);
  // What a model was given comes back whole, also where lists would mask it.
  expect(JSON.stringify(items[2])).toContain("ghp_a1B2");
  expect((await session.getItems(2)).map((item) => item.type)).toEqual(["function_call_result", "message"]);
  const history = await recorder.session("agents:1").history();
  expect(history.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  expect(await session.popItem()).toEqual(items[3]);
  expect(await session.getItems()).toEqual(items.slice(0, 3));
  await runner.run(agent, "hello", { session });
  expect(await session.getItems()).toHaveLength(5);
  await session.clearSession();
  expect(await session.getItems()).toEqual([]);
  expect(await session.popItem()).toBeUndefined();
  expect((await recorder.count()).by_kind).toMatchObject({ message: 6, withdrawal: 1, clear: 1 });
});

test("OpenAI Agents: a compacted session restarts with its summary, and the log keeps the rest", async () => {
  const recorder = await openMemory();
  // What OpenAI answers with is sealed.
  const sealed = { type: "compaction", id: "cmp_1", encrypted_content: "sealed" };
  const asked: (string | undefined)[] = [];
  const compacting = createServer(({ url }, response) => {
    asked.push(url);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ output: [sealed] }));
  }).listen(0, "127.0.0.1");
  await once(compacting, "listening");
  onTestFinished(() => void compacting.close());
  const { port } = compacting.address() as AddressInfo;
  const client = new OpenAI({ apiKey: "k", baseURL: `http://127.0.0.1:${port}/v1` });
  const session = new OpenAIResponsesCompactionSession({
    // The package sees the types of the same client by another way.
    client: client as never,
    underlyingSession: recordedSession<AgentInputItem>(recorder, "agents:2"),
    compactionMode: "input",
  });
  await session.addItems([
    { role: "user", content: "hello" },
    { role: "assistant", status: "completed", content: [{ type: "output_text", text: "hi" }] },
  ] as AgentInputItem[]);
  await session.runCompaction({ force: true });
  expect(asked).toEqual(["/v1/responses/compact"]);
  expect(await session.getItems()).toMatchObject([{ type: "compaction", encrypted_content: "sealed" }]);
  await session.addItems([{ role: "user", content: "and now?" }] as AgentInputItem[]);
  expect(await session.getItems()).toHaveLength(2);
  expect((await recorder.session("agents:2").history()).map(({ content }) => content)).toEqual(["and now?"]);
  expect((await recorder.search("hello")).results).toHaveLength(1);
});
