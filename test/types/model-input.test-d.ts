// A history is what providers' SDKs take, and what they answer is what a session records.
import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import type OpenAI7 from "openai-7";
import { expectTypeOf } from "vitest";
import { connectRecorder } from "../../client/index.js";
import type { AnthropicMessage, OpenAiMessage, Recorder } from "../../src/index.js";

declare const recorder: Recorder;
const session = recorder.session("s");

const openAiMessages: OpenAI.ChatCompletionMessageParam[] = await session.history();
const newerMessages: OpenAI7.ChatCompletionMessageParam[] = await session.history();
const { system, messages } = await session.history({ format: "anthropic" });
const anthropicMessages: Anthropic.MessageParam[] = messages;
expectTypeOf<OpenAiMessage>().toExtend<OpenAI.ChatCompletionMessageParam>();
expectTypeOf<AnthropicMessage>().toExtend<Anthropic.MessageParam>();

declare const openai: OpenAI;
declare const anthropic: Anthropic;
declare const openai7: OpenAI7;
await openai7.chat.completions.create({ model: "m", messages: newerMessages });
const completion = await openai.chat.completions.create({ model: "m", messages: openAiMessages });
const answer = await anthropic.messages.create({ model: "m", max_tokens: 9, system, messages: anthropicMessages });

const said = completion.choices[0]?.message as OpenAI.ChatCompletionMessage;
await session.message(said);
await session.message({ role: "assistant", content: answer.content });
// Usage is an interface in every SDK, and arguments may be one.
interface Arguments {
  city: string;
}
declare const args: Arguments;
await recorder.recordInteraction({ prompt: "p", usage: answer.usage, context_pack: { messages } });
await recorder.recordInteraction({ prompt: "p", usage: completion.usage });
await session.toolCall({ tool: "get_weather", args });

const client = connectRecorder();
await client.session("s").message(said);
await client.session("s").message({ role: "assistant", content: answer.content });
await client.recordInteraction({ prompt: "p", usage: answer.usage });
await client.session("s").toolCall({ tool: "get_weather", args });
// @ts-expect-error A role is one of a few words.
await client.session("s").message({ role: "robot", content: "beep" });
// @ts-expect-error A kind is one of a few words.
await client.append({ kind: "gossip", text: "…" });
// @ts-expect-error A format is one of two.
await session.history({ format: "xml" });
