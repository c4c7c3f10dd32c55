// OpenTelemetry's semantic conventions for generative AI: attributes and the event with a call's details, and the events per
// message that came before (until 1.36). AI SDK 7, the Anthropic SDK, Copilot and many others write them.
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { type Attributes, fromText, numberAt, textAt, valueAt } from "../attributes.js";
import type { CallMeaning, Dialect, LogReading, RetrievalMeaning, SpanMeaning, ToolMeaning } from "../meaning.js";
import { answerOf, textOf, toMessages, unwrapped } from "../messages.js";
import { CLIENT, type LogItem, type SpanItem } from "../telemetry-items.js";
import { documentsIn, settingsOf, usageOf } from "./shared.js";

const DETAILS = "gen_ai.client.inference.operation.details";

type Kind = "call" | "tool" | "step" | "retrieval" | "memory_read" | "memory_write";

const kindByOperation: { readonly [operation: string]: Kind } = {
  chat: "call",
  text_completion: "call",
  completion: "call",
  generate_content: "call",
  message: "call",
  messages: "call",
  responses: "call",
  execute_tool: "tool",
  invoke_agent: "step",
  create_agent: "step",
  agent_step: "step",
  invoke_workflow: "step",
  plan: "step",
  retrieval: "retrieval",
  search_memory: "memory_read",
  read_memory: "memory_read",
  get_memory: "memory_read",
  create_memory: "memory_write",
  update_memory: "memory_write",
  upsert_memory: "memory_write",
  delete_memory: "memory_write",
};

export const genAi: Dialect = {
  name: "gen-ai",
  span(span) {
    const operation = textAt(span.attributes, "gen_ai.operation.name");
    const kind = operation === undefined ? undefined : kindByOperation[operation];
    if (kind !== undefined) return readers[kind](span);
    return operation === undefined && isOldCall(span) ? genAiCall(span) : undefined;
  },
  logs: looseDetails,
};

const readers: { readonly [K in Kind]: (span: SpanItem) => SpanMeaning } = {
  call: genAiCall,
  tool: genAiTool,
  // An agent elsewhere is called like a model; its own spans, if any came, tell more.
  step: (span) => ({ is: "step", ...(span.kind === CLIENT ? { alone: genAiCall(span) } : {}) }),
  retrieval: genAiRetrieval,
  memory_read: (span) => ({ is: "memory", records: memoriesIn(span.attributes), is_read: true }),
  memory_write: (span) => ({ is: "memory", records: memoriesIn(span.attributes), is_read: false }),
};

/** Before operations had names, calls were known by what was asked of a model. */
function isOldCall({ attributes, events }: SpanItem): boolean {
  if (textAt(attributes, "gen_ai.system", "gen_ai.provider.name") === undefined) return false;
  if (textAt(attributes, "gen_ai.request.model") === undefined) return false;
  return (
    numberAt(attributes, "gen_ai.usage.input_tokens") !== undefined ||
    events.some(({ name }) => name === "gen_ai.choice")
  );
}

export function genAiCall(span: SpanItem): CallMeaning {
  const attributes = withDetails(span);
  const said = conversationOf(attributes, span);
  const answer = said.output.length === 0 ? undefined : answerOf(said.output);
  const finish = valueAt(attributes, "gen_ai.response.finish_reasons");
  return {
    is: "call",
    messages: said.input,
    system: systemOf(attributes),
    tools: valueAt(attributes, "gen_ai.tool.definitions"),
    response: answer?.response,
    tool_calls: answer?.tool_calls ?? [],
    reasoning: answer?.reasoning,
    model: textAt(attributes, "gen_ai.response.model", "gen_ai.request.model"),
    provider: textAt(attributes, "gen_ai.provider.name", "gen_ai.system"),
    message_id: textAt(attributes, "gen_ai.response.id"),
    request_id: textAt(attributes, "request_id", "aws.request_id"),
    usage: genAiUsage(attributes),
    finish_reason: Array.isArray(finish) ? textIn(finish[0]) : textIn(finish),
    settings: settingsOf(attributes, "gen_ai.request.", ["model"]),
    first_token_ms: firstTokenOf(attributes),
    chunks: documentsIn(valueAt(attributes, "gen_ai.retrieval.documents")),
    memories: memoriesIn(attributes),
  };
}

function textIn(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Tokens as the conventions name them; input includes what was cached. */
function genAiUsage(attributes: Attributes): JsonObject | undefined {
  return usageOf(attributes, {
    input_tokens: ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"],
    output_tokens: ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"],
    cache_read_tokens: ["gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"],
    cache_write_tokens: [
      "gen_ai.usage.cache_write.input_tokens",
      "gen_ai.usage.cache_creation.input_tokens",
      "gen_ai.usage.cache_creation_input_tokens",
    ],
    reasoning_tokens: [
      "gen_ai.usage.reasoning.output_tokens",
      "gen_ai.usage.reasoning_tokens",
      "ai.usage.outputTokenDetails.reasoningTokens",
    ],
  });
}

function firstTokenOf(attributes: Attributes): number | undefined {
  const seconds = numberAt(attributes, "gen_ai.response.time_to_first_chunk", "gen_ai.server.time_to_first_token");
  if (seconds !== undefined) return seconds * 1_000;
  return numberAt(attributes, "ai.response.msToFirstChunk");
}

function systemOf(attributes: Attributes): JsonValue | undefined {
  const given = valueAt(attributes, "gen_ai.system_instructions");
  if (given === undefined || typeof given === "string") return given;
  const text = textOf(Array.isArray(given) ? given : [given]);
  return text === "" ? given : text;
}

/** A span's attributes, and those of the event with its details, in the span or in a log record. */
function withDetails(span: SpanItem): Attributes {
  const details = [
    ...span.events.filter(({ name }) => name === DETAILS).map((event) => event.attributes),
    ...span.logs.filter(({ event }) => event === DETAILS).map(detailsOf),
  ];
  return details.length === 0 ? span.attributes : Object.assign({}, ...details, span.attributes);
}

/** In a log record they are attributes, or in the body. */
function detailsOf({ attributes, body }: LogItem): Attributes {
  return isJsonObject(body) ? { ...body, ...attributes } : attributes;
}

interface Conversation {
  readonly input: readonly JsonObject[];
  readonly output: readonly JsonObject[];
}

function conversationOf(attributes: Attributes, span: SpanItem): Conversation {
  const input = toMessages(valueAt(attributes, "gen_ai.input.messages", "gen_ai.prompt"));
  const output = toMessages(valueAt(attributes, "gen_ai.output.messages", "gen_ai.completion"), "assistant");
  if (input.length + output.length > 0) return { input, output };
  return eventsOf(span);
}

const messageEvents: { readonly [name: string]: string } = {
  "gen_ai.system.message": "system",
  "gen_ai.user.message": "user",
  "gen_ai.assistant.message": "assistant",
  "gen_ai.tool.message": "tool",
};

/** Older conventions: an event per message, in the span or as log records. */
function eventsOf({ events, logs }: SpanItem): Conversation {
  const input: JsonObject[] = [];
  const output: JsonObject[] = [];
  const listed = [
    ...events.map(({ name, attributes }) => ({ name, fields: attributes as JsonObject })),
    ...logs.map(({ event, body, attributes }) => ({ name: event, fields: isJsonObject(body) ? body : attributes })),
  ];
  for (const { name, fields } of listed) {
    const role = messageEvents[name];
    const read = structured(fields);
    if (role !== undefined) input.push(...toMessages({ ...read, role }));
    else if (name === "gen_ai.choice") output.push(...toMessages(choiceOf(read), "assistant"));
    else if (name === "gen_ai.content.prompt") input.push(...toMessages(read["gen_ai.prompt"]));
    else if (name === "gen_ai.content.completion") output.push(...toMessages(read["gen_ai.completion"], "assistant"));
  }
  return { input, output };
}

/** Attributes are texts; those of a message may be JSON. */
function structured(fields: JsonObject): JsonObject {
  const { "event.name": _, "gen_ai.system": __, "gen_ai.provider.name": ___, ...own } = fields;
  return Object.fromEntries(
    Object.entries(own).map(([name, value]) => [name, typeof value === "string" ? fromText(value) : value]),
  );
}

function choiceOf({ message, content, tool_calls, ...rest }: JsonObject): JsonObject {
  const inner = isJsonObject(message) ? message : { content: message ?? content ?? "" };
  const calls = tool_calls ?? rest.toolCalls;
  return { role: "assistant", ...inner, ...(calls === undefined ? {} : { tool_calls: calls }) };
}

function genAiTool(span: SpanItem): ToolMeaning {
  const { attributes, events } = span;
  const details = withDetails(span);
  const choice = events.find(({ name }) => name === "gen_ai.choice")?.attributes;
  const given = events.find(({ name }) => name === "gen_ai.tool.message")?.attributes;
  return {
    is: "tool",
    tool: textAt(attributes, "gen_ai.tool.name") ?? span.name.replace(/^execute_tool /, ""),
    args:
      valueAt(details, "gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "input") ?? (given && fromContent(given)),
    result:
      unwrapped(valueAt(details, "gen_ai.tool.call.result", "gen_ai.tool.result", "output")) ??
      (choice && (valueAt(choice, "message") ?? fromContent(choice))),
    call_id: textAt(attributes, "gen_ai.tool.call.id", "gen_ai.tool.call_id"),
  };
}

function fromContent(attributes: Attributes): JsonValue | undefined {
  return valueAt(attributes, "content", "message");
}

function genAiRetrieval({ attributes }: SpanItem): RetrievalMeaning {
  return { is: "retrieval", documents: documentsIn(valueAt(attributes, "gen_ai.retrieval.documents")) };
}

function memoriesIn(attributes: Attributes): readonly string[] {
  const records = valueAt(attributes, "gen_ai.memory.records");
  const own = textAt(attributes, "gen_ai.memory.record.id", "gen_ai.memory.id");
  return [...documentsIn(records), ...(own === undefined ? [] : [own])];
}

/**
 * Calls that only log records tell of, because spans are not exported: records with the same span id are one call. A request
 * without its answer is none.
 */
function looseDetails(logs: readonly LogItem[], spans: readonly SpanItem[]): readonly LogReading[] {
  const known = new Set(spans.map(({ span_id }) => span_id));
  const calls = new Map<string, { readonly log: LogItem; attributes: Attributes }>();
  for (const log of logs) {
    if (!isDetails(log) || log.scope.name === GEMINI_SCOPE || known.has(log.span_id)) continue;
    const key = log.span_id === "" ? log.id : log.span_id;
    const before = calls.get(key);
    calls.set(key, { log: before?.log ?? log, attributes: { ...before?.attributes, ...detailsOf(log) } });
  }
  return [...calls.values()].flatMap(({ log, attributes }) => {
    const meaning = detailedCall(log, attributes);
    return meaning === undefined ? [] : [{ log, meaning }];
  });
}

/** It tells of its calls in spans, too. */
export const GEMINI_SCOPE = "gemini-cli";

export function isDetails({ event }: LogItem): boolean {
  return event === DETAILS;
}

/** Undefined for a request whose answer, or failure, has a record of its own. */
export function detailedCall(log: LogItem, attributes = detailsOf(log)): CallMeaning | undefined {
  const error = textAt(attributes, "error.type");
  const none = { parent_span_id: "", events: [], logs: [], is_failed: false, status_message: "" };
  const span = { ...log, ...none, attributes, name: log.event, kind: CLIENT, start: log.time, end: log.time };
  const call = genAiCall(span);
  const isTold = call.response !== undefined || call.usage !== undefined || error !== undefined;
  return isTold ? { ...call, ...(error === undefined ? {} : { error }) } : undefined;
}
