// An agent on OpenAI's client: one line records every call, with its tools, tokens and failures.
import { connectRecorder, recordingFetch } from "hansard/client";
import OpenAI from "openai";
import { startModel } from "./stand-in-model.mjs";

const question = process.argv[2] ?? "Why is the sky blue?";
const isReal = process.env.OPENAI_API_KEY !== undefined;
const model = isReal ? undefined : await startModel();

const recorder = connectRecorder({ project: "examples", client: "openai-fetch" });
const openai = new OpenAI({
  fetch: recordingFetch(recorder),
  ...(model === undefined ? {} : { apiKey: "none", baseURL: `${model.address}/v1` }),
});

const answer = await recorder.within({ session_id: "example:openai" }, () =>
  openai.responses.create({ model: "gpt-5-mini", input: question }),
);
console.log(answer.output_text);

await recorder.close();
model?.close();
