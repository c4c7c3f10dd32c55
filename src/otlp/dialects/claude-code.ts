// Claude Code's spans and events. Several tell of one call: a span, its usage, its answer and, where raw bodies are logged,
// the request and the answer as they were sent.
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from "../../model/json.js";
import { type Attributes, numberAt, textAt, valueAt } from "../attributes.js";
import type { CallMeaning, Dialect, LogReading, SpanMeaning, ToolMeaning } from "../meaning.js";
import { callsIn, textOf } from "../messages.js";
import { failureOf, type LogItem, type SpanItem } from "../telemetry-items.js";

const SPANS = "com.anthropic.claude_code.tracing";
const EVENT = /^(?:claude_code\.)?(\w+)$/;

export const claudeCode: Dialect = {
  name: "claude-code",
  span: (span) => {
    const type = textAt(span.attributes, "span.type");
    if (type === undefined || !(span.scope.name === SPANS || span.name.startsWith("claude_code."))) return undefined;
    return (spanReaders[type] ?? step)(span);
  },
  logs: readLogs,
};

function step(): SpanMeaning {
  return { is: "step" };
}

const spanReaders: { readonly [type: string]: (span: SpanItem) => SpanMeaning } = {
  llm_request: ({ attributes }) => bareCall(attributes),
  tool: (span) => toolOf(span, resultOf(span)),
  "tool.execution": (span) => toolOf(span),
};

/** Without the texts, which spans never have. */
function bareCall(attributes: Attributes): CallMeaning {
  return {
    is: "call",
    messages: [],
    model: textAt(attributes, "gen_ai.request.model", "model"),
    provider: textAt(attributes, "gen_ai.provider.name") ?? "anthropic",
    ...named(attributes),
    usage: usageIn(attributes),
    finish_reason: textAt(attributes, "stop_reason"),
    first_token_ms: numberAt(attributes, "ttft_ms"),
    latency_ms: numberAt(attributes, "duration_ms"),
  };
}

function named(attributes: Attributes): Pick<CallMeaning, "request_id" | "unique"> {
  const request_id = textAt(attributes, "request_id");
  return { request_id, unique: request_id === undefined ? undefined : `claude-code ${request_id}` };
}

/** As the provider counts: what was cached is not part of the input. */
function usageIn(attributes: Attributes): JsonObject | undefined {
  const input_tokens = numberAt(attributes, "input_tokens");
  if (input_tokens === undefined) return undefined;
  return {
    input_tokens,
    output_tokens: numberAt(attributes, "output_tokens") ?? 0,
    cache_read_input_tokens: numberAt(attributes, "cache_read_tokens") ?? 0,
    cache_creation_input_tokens: numberAt(attributes, "cache_creation_tokens") ?? 0,
  };
}

function toolOf(span: SpanItem, result?: JsonValue): ToolMeaning {
  const { attributes } = span;
  const output = eventOf(span);
  const given = output === undefined ? undefined : withoutOutput(output);
  const command = textAt(attributes, "full_command");
  const failed = attributes.success === false || span.is_failed;
  return {
    ...toolNamed(attributes),
    args: given ?? (command === undefined ? undefined : { command }),
    result: failed ? (result ?? failureOf(span)) : result,
    ...(failed ? { is_error: true } : {}),
    duration_ms: numberAt(attributes, "duration_ms"),
  };
}

function toolNamed(attributes: Attributes): Pick<ToolMeaning, "is" | "tool" | "call_id" | "unique"> {
  const call_id = textAt(attributes, "tool_use_id", "gen_ai.tool.call.id");
  return {
    is: "tool",
    tool: textAt(attributes, "tool_name", "gen_ai.tool.name") ?? "",
    call_id,
    unique: call_id === undefined ? undefined : `claude-code ${call_id}`,
  };
}

function eventOf({ events }: SpanItem): Attributes | undefined {
  return events.find(({ name }) => name === "tool.output")?.attributes;
}

function resultOf(span: SpanItem): JsonValue | undefined {
  return eventOf(span)?.output;
}

function withoutOutput({ output: _, bash_command: command, ...rest }: Attributes): JsonObject {
  return { ...(command === undefined ? {} : { command }), ...rest };
}

// Events.

function readLogs(logs: readonly LogItem[]): readonly LogReading[] {
  const own = logs.filter(({ scope }) => scope.name.startsWith("com.anthropic.claude_code"));
  if (own.length === 0) return [];
  const told = new ToldEvents(own);
  return own.flatMap((log): readonly LogReading[] => {
    const meaning = logReaders[nameOf(log)]?.(log, told);
    return meaning === undefined ? [] : [{ log, meaning }];
  });
}

function nameOf({ event, body }: LogItem): string {
  return EVENT.exec(event)?.[1] ?? (typeof body === "string" ? (EVENT.exec(body)?.[1] ?? "") : "");
}

/** Events by what they have in common. */
class ToldEvents {
  readonly #bodies = new Map<string, LogItem>();
  readonly #answers = new Map<string, LogItem>();
  readonly #usages = new Map<string, LogItem>();
  readonly #decisions = new Map<string, LogItem>();
  readonly #prompts = new Map<string, LogItem>();
  /** Prompts whose requests are recorded as they were sent. */
  readonly #sentPrompts = new Set<string>();
  readonly #said = new Set<string>();

  constructor(logs: readonly LogItem[]) {
    for (const log of logs) {
      const { attributes } = log;
      const put = (map: Map<string, LogItem>, key: string | undefined) => {
        if (key !== undefined && !map.has(key)) map.set(key, log);
      };
      const request = textAt(attributes, "request_id");
      const name = nameOf(log);
      if (name === "api_request_body") put(this.#bodies, textAt(attributes, "request_body_id"));
      if (name === "api_response_body") put(this.#answers, request);
      if (name === "api_request") put(this.#usages, request);
      if (name === "tool_decision") put(this.#decisions, textAt(attributes, "tool_use_id"));
      if (name === "user_prompt") put(this.#prompts, textAt(attributes, "prompt.id"));
      if (name === "assistant_response" && request !== undefined) this.#said.add(request);
    }
    for (const log of this.#answers.values()) {
      const prompt = textAt(log.attributes, "prompt.id");
      if (prompt !== undefined && this.requestOf(log) !== undefined) this.#sentPrompts.add(prompt);
    }
  }

  /** The request that an answer belongs to, as it was sent. */
  requestOf({ attributes }: LogItem): JsonObject | undefined {
    const id = textAt(attributes, "request_body_id");
    const log = id === undefined ? undefined : this.#bodies.get(id);
    return log === undefined ? undefined : bodyIn(log);
  }

  usageOf(request_id: string | undefined): Attributes {
    return (request_id === undefined ? undefined : this.#usages.get(request_id)?.attributes) ?? {};
  }

  decisionOn(call_id: string | undefined): string | undefined {
    const log = call_id === undefined ? undefined : this.#decisions.get(call_id);
    return log && textAt(log.attributes, "decision");
  }

  promptOf({ attributes }: LogItem): string | undefined {
    const id = textAt(attributes, "prompt.id");
    const log = id === undefined ? undefined : this.#prompts.get(id);
    return log && promptIn(log.attributes);
  }

  /** Whether calls with this prompt are recorded whole, which has it. */
  isSent(prompt_id: string | undefined): boolean {
    return prompt_id !== undefined && this.#sentPrompts.has(prompt_id);
  }

  /** Whether another event has the answer of a request. */
  isAnswered(request_id: string | undefined): boolean {
    if (request_id === undefined) return false;
    const answer = this.#answers.get(request_id);
    return this.#said.has(request_id) || (answer !== undefined && this.requestOf(answer) !== undefined);
  }

  isAnsweredWhole(request_id: string | undefined): boolean {
    const answer = request_id === undefined ? undefined : this.#answers.get(request_id);
    return answer !== undefined && this.requestOf(answer) !== undefined;
  }
}

type ReadLog = (log: LogItem, told: ToldEvents) => LogReading["meaning"] | undefined;

const logReaders: { readonly [event: string]: ReadLog } = {
  user_prompt({ attributes }, told) {
    const content = promptIn(attributes);
    if (content === undefined || told.isSent(textAt(attributes, "prompt.id"))) return undefined;
    return { is: "message", role: "user", content };
  },
  api_response_body(log, told) {
    const request = told.requestOf(log);
    return request === undefined ? undefined : wholeCall(log, request, told);
  },
  assistant_response({ attributes }, told) {
    const content = textAt(attributes, "response");
    const request_id = textAt(attributes, "request_id");
    if (content === undefined || isHidden(content) || told.isAnsweredWhole(request_id)) return undefined;
    const usage = usageIn(told.usageOf(request_id));
    const model = textAt(attributes, "model");
    const extra = {
      ...(request_id === undefined ? {} : { request_id }),
      ...(model === undefined ? {} : { model }),
      ...(usage === undefined ? {} : { usage }),
    };
    return { is: "message", role: "assistant", content, extra };
  },
  api_request({ attributes }, told) {
    return told.isAnswered(textAt(attributes, "request_id")) ? undefined : bareCall(attributes);
  },
  api_error({ attributes }) {
    const status = textAt(attributes, "status_code");
    const error = textAt(attributes, "error") ?? "failed without a message";
    const context = [textAt(attributes, "model"), status && `status ${status}`].filter(Boolean).join(", ");
    return { is: "error", error, ...(context === "" ? {} : { context }) };
  },
  tool_result({ attributes }, told) {
    const call = toolNamed(attributes);
    const decision = told.decisionOn(call.call_id);
    const failed = String(attributes.success) === "false";
    return {
      ...call,
      args: valueAt(attributes, "tool_input", "tool_parameters"),
      ...(failed ? { is_error: true, result: textAt(attributes, "error") } : {}),
      duration_ms: numberAt(attributes, "duration_ms"),
      ...(decision === undefined ? {} : { extra: { decision } }),
    };
  },
};

function promptIn(attributes: Attributes): string | undefined {
  const text = textAt(attributes, "prompt");
  return text === undefined || isHidden(text) ? undefined : text;
}

/** What stands for texts that are not to be logged. */
export function isHidden(text: string): boolean {
  return /^[<[]REDACTED[>\]]$/i.test(text);
}

/** Undefined where it was cut, or written to a file. */
function bodyIn({ attributes }: LogItem): JsonObject | undefined {
  return parseJsonObject(textAt(attributes, "body"));
}

/** A call as it was sent and answered, in the provider's own shape. */
function wholeCall(log: LogItem, request: JsonObject, told: ToldEvents): CallMeaning {
  const answer = bodyIn(log) ?? {};
  const content = Array.isArray(answer.content) ? (answer.content as readonly JsonValue[]) : [];
  const blocks = content.filter(isJsonObject);
  const usage = isJsonObject(answer.usage) ? answer.usage : undefined;
  const { attributes } = log;
  const spent = told.usageOf(textAt(attributes, "request_id"));
  const messages = Array.isArray(request.messages) ? request.messages.filter(isJsonObject) : [];
  return {
    ...bareCall({ ...spent, ...attributes }),
    messages,
    prompt: told.promptOf(log),
    system: request.system,
    tools: request.tools,
    response: textOf(blocks.filter(({ type }) => type === "text")),
    tool_calls: callsIn(blocks.filter(({ type }) => type === "tool_use")),
    message_id: typeof answer.id === "string" ? answer.id : textAt(attributes, "message.id"),
    usage: usageIn(spent) ?? usage,
    finish_reason: typeof answer.stop_reason === "string" ? answer.stop_reason : undefined,
  };
}
