// An agent on Anthropic's client: the answer is streamed to the terminal as it comes, and recorded whole.
import Anthropic from "@anthropic-ai/sdk";
import { connectRecorder, recordingFetch } from "hansard/client";
import { startModel } from "./stand-in-model.mjs";

const question = process.argv[2] ?? "Why is the sky blue?";
const isReal = process.env.ANTHROPIC_API_KEY !== undefined;
const model = isReal ? undefined : await startModel();

const recorder = connectRecorder({ project: "examples", client: "anthropic-fetch" });
const anthropic = new Anthropic({
  fetch: recordingFetch(recorder),
  ...(model === undefined ? {} : { apiKey: "none", baseURL: model.address }),
});

await recorder.within({ session_id: "example:anthropic" }, async () => {
  const request = { model: "claude-haiku-4-5", max_tokens: 200 };
  const stream = anthropic.messages.stream({ ...request, messages: [{ role: "user", content: question }] });
  stream.on("text", (text) => process.stdout.write(text));
  await stream.finalMessage();
});
console.log();

await recorder.close();
model?.close();
