// One call, recorded twice: by `recordingFetch`, and by the program as a message. It counts once, and both know the request.
import { randomUUID } from "node:crypto";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { recordingFetch } from "../../client/index.js";
import { type Context, openRecorder, type Recorder } from "../../src/index.js";
import { startModel } from "../support/model-server.js";

function bare(messages: Context["messages"] = []): readonly object[] {
  return messages.map(({ entry_id: _, ...message }) => message);
}

interface Talk {
  readonly recorder: Recorder;
  readonly fetch: typeof globalThis.fetch;
  readonly address: string;
}

async function begin(newId?: () => string): Promise<Talk> {
  const recorder = await openRecorder({ data: "memory:" });
  onTestFinished(() => recorder.close());
  return { recorder, fetch: recordingFetch(recorder), address: await startModel(newId) };
}

const tool = { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } };

/** An agent's loop with OpenAI's SDK: it records what is said, and its calls are recorded as well. */
async function talkWithOpenAi({ recorder, fetch, address }: Talk, questions: readonly string[]): Promise<void> {
  const client = new OpenAI({ apiKey: "k", baseURL: `${address}/v1`, fetch, maxRetries: 0 });
  const session = recorder.session("s");
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "system", content: "Be brief about the harbour." }];
  await recorder.within({ session_id: "s" }, async () => {
    for (const content of questions) {
      messages.push({ role: "user", content });
      await session.message({ role: "user", content });
      const tools = content.includes("weather") ? [{ type: "function" as const, function: tool }] : [];
      const { choices } = await client.chat.completions.create({ model: "asked", messages, tools });
      const message = choices[0]?.message as OpenAI.ChatCompletionMessage;
      messages.push(message);
      await session.message(message);
      for (const { id: tool_call_id } of message.tool_calls ?? []) {
        messages.push({ role: "tool", tool_call_id, content: "sunny at the harbour" });
        await session.toolCall({ tool: "get_weather", result: "sunny at the harbour", tool_call_id });
      }
    }
  });
}

test.each([
  ["as providers give them", randomUUID],
  ["the same for every answer, as some servers give them", () => "1"],
])(
  "a loop with OpenAI's SDK, its ids %s: each call counts once, and context is exact from either side",
  async (_, newId) => {
    const talk = await begin(newId);
    const { recorder } = talk;
    await talkWithOpenAi(talk, ["hello", "the weather?", "hello"]);
    const { entries } = await recorder.listEntries({ session_id: "s", limit: 500 });
    const interactions = entries.filter(({ kind }) => kind === "interaction");
    const answers = entries.filter((entry) => "role" in entry && entry.role === "assistant");
    expect([interactions.length, answers.length]).toEqual([3, 3]);

    const history = await recorder.session("s").history();
    expect(history.map(({ role }) => role)).toEqual([
      ...["user", "assistant", "user", "assistant", "tool", "user", "assistant"],
    ]);
    // An id is counted once.
    if (newId === randomUUID) expect((await recorder.usage()).total).toMatchObject({ calls: 3, output_tokens: 21 });
    const { reviewed } = await recorder.reflect({ limit: 500 });
    expect(reviewed).toBe(entries.length - 3);

    for (const [nth, answer] of answers.entries()) {
      const context = await recorder.context(answer.id);
      expect(context).toMatchObject({ exact: true, source: "request" });
      const own = await recorder.context(interactions[nth]?.id as string);
      expect(bare(context?.messages)).toEqual(bare(own?.messages));
      expect(context?.previous?.entry_id).toBe(own?.previous?.entry_id);
      expect(await recorder.told(answer.id, "brief about the harbour")).toMatchObject({
        verdict: "given",
        exact: true,
      });
      expect(await recorder.told(answer.id, "a lighthouse far away")).toMatchObject({ verdict: "never", exact: true });
    }
  },
);

test("the same with Anthropic's, whose calls are blocks; a call that failed adds nothing to history", async () => {
  const { recorder, fetch, address } = await begin(randomUUID);
  const client = new Anthropic({ apiKey: "k", baseURL: address, fetch, maxRetries: 0 });
  const session = recorder.session("s");
  const messages: Anthropic.MessageParam[] = [];
  await recorder.within({ session_id: "s" }, async () => {
    for (const content of ["hello", "fail 429", "the weather?"]) {
      messages.push({ role: "user", content });
      await session.message({ role: "user", content });
      const request = { model: "asked", max_tokens: 9, system: "Be brief.", messages };
      const tools: Anthropic.Tool[] = [{ name: "get_weather", input_schema: { type: "object" } }];
      const answer = await client.messages.create({ ...request, tools }).catch(() => undefined);
      if (answer === undefined) {
        messages.pop();
        continue;
      }
      messages.push({ role: "assistant", content: answer.content });
      await session.message({ role: "assistant", content: answer.content });
    }
  });
  const { messages: history } = await session.history({ format: "anthropic" });
  expect(history.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect((await recorder.usage()).total.calls).toBe(2);
  const { entries } = await recorder.listEntries({ session_id: "s", kind: "message", role: "assistant" });
  for (const { id } of entries) expect(await recorder.context(id)).toMatchObject({ exact: true, system: "Be brief." });
});

test("an interaction that no message tells of stands in history where it was recorded", async () => {
  const { recorder } = await begin();
  const session = recorder.session("s");
  await session.message({ role: "user", content: "first" });
  await session.message({ role: "assistant", content: "one" });
  await session.interaction({ prompt: "second", response: "two" });
  await session.message({ role: "user", content: "third" });
  await session.interaction({ prompt: "third", response: "three" });
  expect(await session.history()).toEqual([
    { role: "user", content: "first" },
    { role: "assistant", content: "one" },
    { role: "user", content: "second" },
    { role: "assistant", content: "two" },
    { role: "user", content: "third" },
    { role: "assistant", content: "three" },
  ]);
});
