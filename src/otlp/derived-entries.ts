// What a call, a tool run or a failure becomes: entries as capture takes them.
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from "../model/json.js";
import { derivedIds, shortHash, telemetrySources } from "../model/telemetry.js";
import { type Attributes, numberAt, textAt } from "./attributes.js";
import type { Labels } from "./labels.js";
import type { CallMeaning, MessageMeaning, ToolMeaning } from "./meaning.js";
import { promptOf } from "./messages.js";
import type { RawEntry } from "./raw-entries.js";

/** What an entry is made of besides its meaning. */
export interface Setting {
  /** The id of the raw entry that it comes from. */
  readonly raw_id: string;
  readonly labels: Labels;
  readonly parent_id: string | undefined;
  readonly created_at: string | undefined;
  readonly duration_ms: number | undefined;
  /** Why it failed. */
  readonly failure: string | undefined;
  /** The name of the span or event. */
  readonly name: string;
  readonly dialect: string;
}

/** Whether there is anything to show of a call: without a prompt, it stays raw. */
export function hasContent(call: CallMeaning): boolean {
  return (call.prompt ?? promptOf(call.messages)) !== undefined;
}

export function callId(raw_id: string, unique: string | undefined): string {
  return unique === undefined ? derivedIds.call(raw_id) : `otlp:call:${shortHash(unique)}`;
}

export function toolId(raw_id: string, unique: string | undefined): string {
  return unique === undefined ? derivedIds.tool(raw_id) : `otlp:tool:${shortHash(unique)}`;
}

export function interactionOf(call: CallMeaning, setting: Setting): RawEntry {
  const { messages, response, tool_calls = [], reasoning, unique } = call;
  const error = call.error ?? setting.failure;
  const lacks = [
    ...(messages.length === 0 ? ["messages"] : []),
    ...(response === undefined && error === undefined ? ["response"] : []),
  ];
  return {
    kind: "interaction",
    id: callId(setting.raw_id, unique),
    ...envelope(setting),
    prompt: call.prompt ?? promptOf(messages),
    ...given("response", response),
    ...given("error", error),
    ...given("model", call.model),
    ...given("usage", call.usage),
    ...given("latency_ms", call.latency_ms ?? setting.duration_ms),
    ...given("first_token_ms", call.first_token_ms),
    ...(call.chunks?.length ? { chunks_used: call.chunks } : {}),
    ...(call.memories?.length ? { memories_used: call.memories } : {}),
    context_pack: {
      ...(messages.length === 0 ? {} : { messages }),
      ...given("system", call.system),
      ...given("tools", call.tools),
    },
    extra: {
      ...ids(call),
      ...given("finish_reason", call.finish_reason),
      ...given("provider", call.provider),
      ...(tool_calls.length === 0 ? {} : { tool_calls }),
      ...given("reasoning_content", reasoning),
      ...given("request", call.settings),
      ...(lacks.length === 0 ? {} : { lacks }),
      otlp: originOf(setting),
    },
  };
}

/** A call without its texts: its tokens count, and it says what is missing. */
export function bareCallOf(call: CallMeaning, setting: Setting): RawEntry {
  const lacks = ["prompt", ...(call.response === undefined ? ["response"] : [])];
  return {
    kind: "raw",
    id: call.unique === undefined ? derivedIds.usage(setting.raw_id) : `otlp:usage:${shortHash(call.unique)}`,
    ...envelope(setting),
    source: telemetrySources.call,
    record: {
      name: setting.name,
      lacks,
      ...given("model", call.model),
      ...given("provider", call.provider),
      ...given("usage", call.usage),
      ...given("response", call.response),
      ...given("error", call.error ?? setting.failure),
      ...given("latency_ms", call.latency_ms ?? setting.duration_ms),
      ...given("first_token_ms", call.first_token_ms),
    },
    extra: {
      ...ids(call),
      ...given("model", call.model),
      ...given("usage", call.usage),
      lacks,
      otlp: originOf(setting),
    },
  };
}

export function toolCallOf(run: ToolMeaning, setting: Setting): RawEntry {
  const { args, result, call_id } = run;
  const isError = run.is_error ?? setting.failure !== undefined;
  const said = result ?? setting.failure;
  const lacks = [...(args === undefined ? ["args"] : []), ...(said === undefined ? ["result"] : [])];
  return {
    kind: "tool_call",
    id: toolId(setting.raw_id, run.unique),
    ...envelope(setting),
    tool: run.tool === "" ? "unknown" : run.tool,
    ...given("args", argsOf(args)),
    ...given("result", said),
    ...(isError ? { is_error: true } : {}),
    ...given("duration_ms", run.duration_ms ?? setting.duration_ms),
    ...given("tool_call_id", call_id),
    extra: {
      ...run.extra,
      ...(isError && setting.failure !== undefined && result !== undefined ? { error: setting.failure } : {}),
      ...(lacks.length === 0 ? {} : { lacks }),
      otlp: originOf(setting),
    },
  };
}

export function errorOf(error: string, context: string, setting: Setting): RawEntry {
  const otlp = originOf(setting);
  return { kind: "error", id: derivedIds.error(setting.raw_id), ...envelope(setting), error, context, extra: { otlp } };
}

export function messageOf(said: MessageMeaning, setting: Setting): RawEntry {
  const { role, content, extra } = said;
  return {
    kind: "message",
    id: derivedIds.message(setting.raw_id),
    ...envelope(setting),
    role,
    content,
    extra: { ...extra, otlp: originOf(setting) },
  };
}

/** An evaluation of an answer. A score outside of our range is kept, and is none here. */
export function feedbackOf(
  attributes: Attributes,
  nth: number,
  entry_id: string,
  setting: Setting,
): RawEntry | undefined {
  const name = textAt(attributes, "gen_ai.evaluation.name");
  const score = numberAt(attributes, "gen_ai.evaluation.score.value", "gen_ai.evaluation.score");
  const label = textAt(attributes, "gen_ai.evaluation.score.label", "gen_ai.evaluation.label");
  const comment = textAt(attributes, "gen_ai.evaluation.explanation", "gen_ai.evaluation.reasoning");
  const isScore = score !== undefined && score >= -1 && score <= 1;
  if (name === undefined && score === undefined && label === undefined && comment === undefined) return undefined;
  const named = [name, label].filter((text) => text !== undefined).join(": ");
  return {
    kind: "feedback",
    id: `${setting.raw_id}:feedback:${nth}`,
    ...(setting.created_at === undefined ? {} : { created_at: setting.created_at }),
    entry_id,
    ...(isScore ? { score } : {}),
    label: named === "" && !isScore ? "evaluation" : named,
    ...given("comment", comment),
    extra: { ...given("evaluation", name), ...given("score_value", score), otlp: originOf(setting) },
  };
}

function envelope({ labels, parent_id, created_at }: Setting): RawEntry {
  return { ...labels, ...given("parent_id", parent_id), ...given("created_at", created_at) };
}

function originOf({ raw_id, name, dialect }: Setting): JsonObject {
  return { raw_id, name, dialect };
}

function ids({ message_id, request_id }: CallMeaning): JsonObject {
  return { ...given("message_id", message_id), ...given("request_id", request_id) };
}

function given<V>(name: string, value: V | undefined): { readonly [name: string]: V } {
  return value === undefined || value === null ? {} : { [name]: value };
}

/** Arguments that are no object stay as they are, under a name. */
function argsOf(args: JsonValue | undefined): JsonObject | undefined {
  if (args === undefined || args === null || args === "") return undefined;
  if (isJsonObject(args)) return args;
  return (typeof args === "string" ? parseJsonObject(args) : undefined) ?? { _raw: args };
}
