// One answer of a model: texts, thoughts and calls, which arrive in parts and become one message; and its tokens.
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import type { Usage } from "../../model/usage.js";
import { tokenNames } from "../../model/usage.js";

/** A part of an answer. Parts of one record share its id, which shows what was already recorded. */
export interface AnswerPart {
  readonly id: string;
  readonly text?: string;
  readonly call?: ToolCall;
  /** A thought with everything its provider needs to accept it again, or only its text. */
  readonly thinking?: JsonObject | string;
  /** A thought as its provider wrote it, in addition to its text. */
  readonly detail?: JsonObject;
  /** Any other part, as in the source. */
  readonly block?: JsonObject;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: JsonValue;
}

export interface ModelAnswer {
  readonly line: number;
  readonly at: JsonValue | undefined;
  readonly parts: readonly AnswerPart[];
  readonly model?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly extra?: JsonObject | undefined;
}

/** The fields of the message; undefined ones are absent. */
export function answerFields(said: ModelAnswer): { readonly kind: string; readonly [field: string]: unknown } {
  const { parts, model, usage } = said;
  const calls: JsonObject[] = [];
  const blocks: JsonObject[] = [];
  const thinking_blocks: JsonObject[] = [];
  const reasoning_details: JsonObject[] = [];
  const words: string[] = [];
  const native_ids = new Set<string>();
  // One pass, since there are many answers and most have one part.
  for (const { id, text, call, thinking, detail, block } of parts) {
    native_ids.add(id);
    if (call !== undefined) calls.push(toOpenAiCall(call));
    if (block !== undefined) blocks.push(block);
    else if (text !== undefined && text !== "") blocks.push({ type: "text", text });
    if (typeof thinking === "string") words.push(thinking);
    else if (thinking !== undefined) thinking_blocks.push(thinking);
    if (detail !== undefined) reasoning_details.push(detail);
  }
  const extra: { [name: string]: unknown } = { ...said.extra };
  if (model !== undefined && model !== "") extra.model = model;
  if (usage !== undefined) extra.usage = usage;
  if (thinking_blocks.length > 0) extra.thinking_blocks = thinking_blocks;
  if (reasoning_details.length > 0) extra.reasoning_details = reasoning_details;
  if (words.length > 0) extra.reasoning_content = words.join("\n\n");
  extra.native_ids = [...native_ids];
  const tool_calls = calls.length === 0 ? undefined : calls;
  return { kind: "message", role: "assistant", content: contentOf(blocks), tool_calls, extra };
}

/** The parts of an answer that the recorded message lacks; undefined if it has all of them. */
export function restOf(said: ModelAnswer, stored: JsonObject): ModelAnswer | undefined {
  const extra = isJsonObject(stored.extra) ? stored.extra : {};
  const known = new Set(Array.isArray(extra.native_ids) ? (extra.native_ids as readonly unknown[]) : []);
  const parts = said.parts.filter(({ id }) => !known.has(id));
  const usage = usageBeyond(said.usage, extra.usage);
  // The usage may come after all of the parts.
  return parts.length === 0 && usage === undefined ? undefined : { ...said, parts, usage };
}

function contentOf(blocks: readonly JsonObject[]): string | readonly JsonObject[] {
  const [first] = blocks;
  if (first === undefined) return "";
  return blocks.length === 1 &&
    first.type === "text" &&
    typeof first.text === "string" &&
    Object.keys(first).length === 2
    ? first.text
    : blocks;
}

/** In OpenAI's form, in which calls are recorded. */
function toOpenAiCall({ id, name, args }: ToolCall): JsonObject {
  return {
    id,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  };
}

/** The difference of two usages: of a call in several messages, each counts only its own share. */
function usageBeyond(usage: Usage | undefined, counted: JsonValue | undefined): Usage | undefined {
  if (usage === undefined || !isJsonObject(counted)) return usage;
  const left = tokenNames.flatMap((name): readonly [string, number][] => {
    const before = counted[name];
    const more = (usage[name] ?? 0) - (typeof before === "number" ? before : 0);
    return more > 0 ? [[name, more]] : [];
  });
  return left.length === 0 ? undefined : (Object.fromEntries(left) as Usage);
}

/** Of two counts of one call the later one is complete: it has at least as many output tokens. */
export function greaterUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (other.output_tokens ?? 0) >= (one.output_tokens ?? 0) ? other : one;
}

export function addUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sums = tokenNames.flatMap((name): readonly [string, number][] => {
    if (one[name] === undefined && other[name] === undefined) return [];
    return [[name, (one[name] ?? 0) + (other[name] ?? 0)]];
  });
  return Object.fromEntries(sums) as Usage;
}
