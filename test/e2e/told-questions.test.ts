// Questions as people ask them, of a talk with a provider's SDK: what they copy has other line breaks, quotes and escapes than
// what was sent, and the talk was recorded by the program, by `recordingFetch`, or by both.
import { randomUUID } from "node:crypto";
import OpenAI from "openai";
import { describe, expect, onTestFinished, test } from "vitest";
import { recordingFetch } from "../../client/index.js";
import { openRecorder, type Recorder, type Told } from "../../src/index.js";
import { startModel } from "../support/model-server.js";

const SYSTEM = "You help on the quay.\n\n  Never push to “main” — ask\n  the captain’s mate first…";
const PROMPTS = [
  "Plan the trip\n\tto the old\r\nharbour: “at dawn” – not later…",
  "Is it safe? Ask for the weather.",
  'Sign it with {"name":"Kévin","ship":"Étoile du Nord"}',
  "It’s the captain’s chart, isn’t it?",
];
/** As a tool writes it: strings with escapes, and JSON inside of one. */
const RESULT = String.raw`{"wind":"north\nby\tnorth-west","file":"C:\\maps\\bay.txt","said":"he shouted \"cast off\" twice","ship":"\u00c9toile","raw":"{\"depth\":\"three\\nfathoms\"}"}`;

type How = "messages" | "fetch" | "both";

/** Answers are 0 (the trip), 1 (a call of a tool), 2 (the weather), 3 (the signature), 4 (the chart), without the first turn. */
const questions: readonly (readonly [answer: number, text: string, verdict: Told["verdict"]])[] = [
  [0, "Plan the trip to the old harbour", "given"],
  [0, "plan   the\ntrip\nTO THE old", "given"],
  [0, 'harbour: "at dawn" - not later...', "given"],
  [0, "harbour: «at dawn» — not later…", "given"],
  [0, 'Never push to "main" - ask the captain\'s mate first...', "given"],
  [0, "north by north-west", "never"],
  [0, "plan the trip to the new harbour", "never"],
  [1, 'he shouted "cast off" twice', "never"],
  [1, "Is it safe?\n\nAsk for\nthe weather.", "given"],
  [2, "north\nby north–west", "given"],
  [2, "C:\\maps\\bay.txt", "given"],
  [2, 'he shouted "cast off" twice', "given"],
  [2, String.raw`he shouted \"cast off\" twice`, "given"],
  [2, "he shouted “cast off” twice", "given"],
  [2, "three fathoms", "given"],
  [2, "Plan the trip to the old harbour", "given"],
  [3, 'Sign it with\n{"name":"Kévin","ship":"Étoile', "given"],
  [3, "“ship”:“Étoile du Nord”", "given"],
  [4, "It's the captain's chart, isn't it?", "given"],
  [4, "a lighthouse on the far shore", "never"],
];

async function talk(how: How): Promise<{ readonly recorder: Recorder; readonly answers: readonly string[] }> {
  const recorder = await openRecorder({ data: "memory:" });
  onTestFinished(() => recorder.close());
  const baseURL = `${await startModel(randomUUID)}/v1`;
  const fetch = how === "messages" ? globalThis.fetch : recordingFetch(recorder);
  const client = new OpenAI({ apiKey: "k", baseURL, fetch, maxRetries: 0 });
  const session = recorder.session("s");
  const isTold = how !== "fetch";
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "system", content: SYSTEM }];
  // A program that records messages alone says there what it told the model.
  if (how === "messages") await session.message({ role: "system", content: SYSTEM });
  const answers: string[] = [];
  const ask = async (): Promise<OpenAI.ChatCompletionMessage> => {
    const tools = [{ type: "function" as const, function: { name: "get_weather" } }];
    const { choices } = await client.chat.completions.create({ model: "asked", messages, tools });
    const message = choices[0]?.message as OpenAI.ChatCompletionMessage;
    messages.push(message);
    if (isTold) answers.push((await session.message(message)).id);
    return message;
  };
  await recorder.within({ session_id: "s" }, async () => {
    for (const content of PROMPTS) {
      messages.push({ role: "user", content });
      if (isTold) await session.message({ role: "user", content });
      const { tool_calls = [] } = await ask();
      for (const { id: tool_call_id } of tool_calls) {
        messages.push({ role: "tool", tool_call_id, content: RESULT });
        if (isTold) await session.toolCall({ tool: "get_weather", result: RESULT, tool_call_id });
        await ask();
      }
    }
  });
  if (isTold) return { recorder, answers };
  const { interactions } = await recorder.listInteractions();
  return { recorder, answers: interactions.map(({ id }) => id).toReversed() };
}

describe.each<How>(["both", "messages", "fetch"])("recorded by %s", (how) => {
  test("all questions are answered right", async () => {
    const { recorder, answers } = await talk(how);
    expect(answers).toHaveLength(5);
    const told = [];
    for (const [answer, text] of questions) {
      const { verdict } = (await recorder.told(answers[answer] as string, text)) ?? {};
      told.push([answer, text, verdict]);
    }
    expect(told).toEqual(questions);
    expect(questions).toHaveLength(20);
  });
});

test("recorded by both, either record of a call answers alike, and exactly", async () => {
  const { recorder, answers } = await talk("both");
  const { interactions } = await recorder.listInteractions();
  const calls = interactions.map(({ id }) => id).toReversed();
  for (const [answer, text, verdict] of questions) {
    const [one, other] = [answers, calls].map((ids) => ids[answer] as string);
    const told = await recorder.told(one as string, text);
    expect(told, text).toMatchObject({ verdict, exact: true });
    const { answer: _, ...rest } = (await recorder.told(other as string, text)) as Told;
    const { answer: __, ...same } = told as Told;
    expect(rest, text).toEqual(same);
  }
});

test.each<How>(["both", "fetch"])("recorded by %s, what the program no longer sends fell out", async (how) => {
  const { recorder } = await talk(how);
  const session = recorder.session("s");
  const baseURL = `${await startModel(randomUUID)}/v1`;
  const client = new OpenAI({ apiKey: "k", baseURL, fetch: recordingFetch(recorder), maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "And now?" }];
  const { message } = await recorder.within({ session_id: "s" }, async () => {
    if (how === "both") await session.message({ role: "user", content: "And now?" });
    const { choices } = await client.chat.completions.create({ model: "asked", messages });
    return choices[0] as OpenAI.ChatCompletion.Choice;
  });
  const said = how === "both" ? await session.message(message) : undefined;
  const [newest] = (await recorder.listInteractions()).interactions;
  const id = said?.id ?? (newest?.id as string);
  for (const text of ["plan the\ntrip to the old harbour", 'Never push to "main"', "C:\\maps\\bay.txt"]) {
    expect(await recorder.told(id, text), text).toMatchObject({ verdict: "fell_out", why: "removed", exact: true });
  }
});
