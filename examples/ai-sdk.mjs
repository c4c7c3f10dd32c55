// An agent on the AI SDK: a middleware records what its model was asked and answered, and the agent its own tools.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, tool, wrapLanguageModel } from "ai";
import { connectRecorder, recordingMiddleware } from "hansard/client";
import { startModel } from "./stand-in-model.mjs";

const question = process.argv[2] ?? "How is the weather in Köln?";
const isReal = process.env.OPENAI_API_KEY !== undefined;
const model = isReal ? undefined : await startModel();

const recorder = connectRecorder({ project: "examples", client: "ai-sdk" });
const session = recorder.session("example:ai-sdk");
const openai = createOpenAI(model === undefined ? {} : { apiKey: "none", baseURL: `${model.address}/v1` });

const get_weather = tool({
  description: "The weather in a city",
  inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
  execute: async (args) => {
    const result = "sunny, 21 °C";
    await session.toolCall({ tool: "get_weather", args, result });
    return result;
  },
});

const { text } = await recorder.within({ session_id: session.id }, () =>
  generateText({
    model: wrapLanguageModel({ model: openai.chat("gpt-5-mini"), middleware: recordingMiddleware(recorder) }),
    prompt: question,
    tools: { get_weather },
    stopWhen: stepCountIs(3),
  }),
);
console.log(text);

await recorder.close();
model?.close();
