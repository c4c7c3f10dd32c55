// Gemini's generateContent: contents are lists of parts, and a stream repeats whole answers with a little more each.
import {
  contentText,
  errorText,
  isJson,
  type Json,
  jsonAt,
  listAt,
  type Provider,
  type ProviderAnswer,
  textAt,
  toolCall,
  usageOf,
} from "./provider.js";

const path = /\/([^/:]+):(?:stream)?[gG]enerateContent$/;

export const gemini: Provider = {
  serves: (pathname) => path.test(pathname),
  given({ contents, systemInstruction, tools, ...settings }, pathname) {
    const list = Array.isArray(contents) ? contents : contents === undefined ? [] : [contents];
    const model = path.exec(pathname)?.[1];
    return { model, messages: list.map(toMessage), system: systemOf(systemInstruction), tools, settings };
  },
  answer(documents) {
    const parts = documents.flatMap((one) => listAt(jsonAt(firstCandidate(one), "content"), "parts"));
    const ended = documents.findLast((one) => textAt(firstCandidate(one), "finishReason") !== undefined);
    const last = documents.at(-1);
    return {
      // Parts of a stream go on where the last one ended.
      text: parts.map((part) => contentText([part])).join(""),
      tool_calls: callsOf(parts),
      usage: documents.map(({ usageMetadata }) => usageOf(usageMetadata, usagePlaces)).findLast(Boolean),
      model: textAt(last, "modelVersion"),
      message_id: textAt(last, "responseId"),
      finish_reason: textAt(firstCandidate(ended), "finishReason"),
      ...(parts.some((part) => textAt(part, "text") === undefined || part.thought === true) ? { content: parts } : {}),
      error: documents.map(errorText).find(Boolean) ?? textAt(jsonAt(last, "promptFeedback"), "blockReason"),
      is_whole: ended !== undefined || "promptFeedback" in (last ?? {}),
    };
  },
};

function firstCandidate(document: Json | undefined): Json {
  return listAt(document, "candidates")[0] ?? {};
}

function toMessage(content: unknown): unknown {
  if (typeof content === "string") return { role: "user", content };
  if (!isJson(content)) return content;
  const { role = "user", parts, ...rest } = content;
  return { role, content: parts ?? [], ...rest };
}

function systemOf(instruction: unknown): unknown {
  if (!isJson(instruction)) return instruction;
  return contentText(instruction.parts) || instruction;
}

function callsOf(parts: readonly Json[]): ProviderAnswer["tool_calls"] {
  return parts
    .map((part) => jsonAt(part, "functionCall"))
    .filter(({ name }) => name !== undefined)
    .map(({ id, name, args }) => toolCall(id, name, args));
}

const usagePlaces = {
  input_tokens: [["promptTokenCount"]],
  output_tokens: [["candidatesTokenCount"]],
  cache_read_tokens: [["cachedContentTokenCount"]],
  reasoning_tokens: [["thoughtsTokenCount"]],
} as const;
