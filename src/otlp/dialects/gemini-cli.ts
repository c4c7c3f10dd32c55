// Gemini CLI: calls in spans and, without spans, in the event with their details; both tell of the same calls.
import { isJsonObject, type JsonValue } from "../../model/json.js";
import { shortHash } from "../../model/telemetry.js";
import { numberAt, textAt, valueAt } from "../attributes.js";
import type { CallMeaning, Dialect, LogMeaning, SpanMeaning } from "../meaning.js";
import { answerOf, textOf, toMessages } from "../messages.js";
import type { LogItem, SpanItem } from "../telemetry-items.js";
import { detailedCall, GEMINI_SCOPE, genAiCall, isDetails } from "./gen-ai.js";

export const geminiCli: Dialect = {
  name: "gemini-cli",
  span(span) {
    if (span.scope.name !== GEMINI_SCOPE) return undefined;
    const operation = textAt(span.attributes, "gen_ai.operation.name") ?? span.name;
    if (operation === "llm_call") return unique(genAiCall(span), span, span.attributes);
    return operation === "tool_call" ? toolOf(span) : { is: "step" };
  },
  logs: (logs, spans) =>
    logs.flatMap((log) => {
      const meaning = log.scope.name === GEMINI_SCOPE ? readLog(log, spans) : undefined;
      return meaning === undefined ? [] : [{ log, meaning }];
    }),
};

/** The pieces of a stream are messages here. */
function unique(call: CallMeaning, { labels }: SpanItem | LogItem, attributes: SpanItem["attributes"]): CallMeaning {
  const output = toMessages(valueAt(attributes, "gen_ai.output.messages"), "assistant");
  const said = output.length === 0 ? call : { ...call, ...answerOf(output, "") };
  const { usage = {}, response = "" } = said;
  const parts = [labels.session_id, usage.input_tokens, usage.output_tokens, response.replaceAll(/\s/g, "")];
  const prompt = typedIn(said.messages);
  return { ...said, prompt, unique: `gemini-cli ${shortHash(JSON.stringify(parts))}` };
}

/** What the user typed last: the program puts its own words in front, as parts or messages of the user. */
function typedIn(messages: CallMeaning["messages"]): string | undefined {
  for (const { role, content } of messages.toReversed()) {
    if (role !== "user") continue;
    const parts = Array.isArray(content) ? (content as readonly JsonValue[]) : [content];
    const texts = parts.map((part) => textOf(isJsonObject(part) ? [part] : (part ?? "")));
    const typed = texts.filter((text) => text.trim() !== "" && !text.startsWith("<session_context>"));
    if (typed.length > 0) return typed.join("\n");
  }
  return undefined;
}

function toolOf({ attributes, name }: SpanItem): SpanMeaning {
  const input = valueAt(attributes, "gen_ai.input.messages");
  const output = valueAt(attributes, "gen_ai.output.messages");
  const done = isJsonObject(output) ? output : {};
  return {
    is: "tool",
    tool: textAt(attributes, "gen_ai.tool.name") ?? name,
    args: isJsonObject(input) ? input.args : input,
    result: resultIn(done) ?? output,
    call_id: textAt(attributes, "gen_ai.tool.call_id", "gen_ai.tool.call.id"),
    ...(done.status === "error" ? { is_error: true } : {}),
  };
}

/** What the model is given of a result. */
function resultIn({ response }: { readonly [name: string]: JsonValue }): JsonValue | undefined {
  if (!isJsonObject(response)) return response;
  const parts = Array.isArray(response.responseParts) ? (response.responseParts as readonly JsonValue[]) : [];
  for (const part of parts) {
    const given =
      isJsonObject(part) && isJsonObject(part.functionResponse) ? part.functionResponse.response : undefined;
    if (isJsonObject(given)) return given.output ?? given.error ?? given;
  }
  return response.resultDisplay ?? response;
}

function readLog(log: LogItem, spans: readonly SpanItem[]): LogMeaning | undefined {
  const { attributes, event } = log;
  if (isDetails(log)) {
    const call = detailedCall(log);
    return call && unique(call, log, attributes);
  }
  if (event === "gemini_cli.api_error") {
    const error = textAt(attributes, "error.message", "error") ?? "failed without a message";
    return { is: "error", error, context: textAt(attributes, "model", "model_name") ?? "" };
  }
  // A span tells of the same run, with its result.
  const isTold = spans.some(({ trace_id, scope }) => trace_id === log.trace_id && scope.name === GEMINI_SCOPE);
  if (event !== "gemini_cli.tool_call" || isTold) return undefined;
  const failed = attributes.success === false;
  return {
    is: "tool",
    tool: textAt(attributes, "function_name") ?? "unknown",
    args: valueAt(attributes, "function_args"),
    ...(failed ? { is_error: true, result: textAt(attributes, "error") } : {}),
    duration_ms: numberAt(attributes, "duration_ms"),
  };
}
