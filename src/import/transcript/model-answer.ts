// What a model said in one answer: texts, thoughts and calls, which arrive in pieces and become one message.
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import type { Usage } from "../../model/usage.js";
import { tokenNames } from "../../model/usage.js";

/** A piece of an answer. Pieces of one record share its id, by which it is known what was recorded before. */
export interface AnswerPart {
  readonly id: string;
  readonly text?: string;
  readonly call?: ToolCall;
  /** A thought with all that its provider needs to take it back, or its words alone. */
  readonly thinking?: JsonObject | string;
  /** A thought as its provider wrote it, beside its words. */
  readonly detail?: JsonObject;
  /** Anything else that was said, as the source has it. */
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

/** The fields of the message that these parts make; what is undefined is absent. */
export function answerFields(said: ModelAnswer): { readonly kind: string; readonly [field: string]: unknown } {
  const { parts, model, usage } = said;
  const calls: JsonObject[] = [];
  const blocks: JsonObject[] = [];
  const thinking_blocks: JsonObject[] = [];
  const reasoning_details: JsonObject[] = [];
  const words: string[] = [];
  const native_ids = new Set<string>();
  // One pass: there are as many answers as anything else, and most have one part.
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

/** What of an answer is not in the message that was recorded of it; undefined where all of it is. */
export function restOf(said: ModelAnswer, stored: JsonObject): ModelAnswer | undefined {
  const extra = isJsonObject(stored.extra) ? stored.extra : {};
  const known = new Set(Array.isArray(extra.native_ids) ? (extra.native_ids as readonly unknown[]) : []);
  const parts = said.parts.filter(({ id }) => !known.has(id));
  const usage = usageBeyond(said.usage, extra.usage);
  // What an answer cost may be told after all of it was said.
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

/** In the shape that OpenAI gives calls, which is the record's own. */
function toOpenAiCall({ id, name, args }: ToolCall): JsonObject {
  return {
    id,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  };
}

/** What one usage has more than another: of a call that is told in several messages each counts its own part. */
function usageBeyond(usage: Usage | undefined, counted: JsonValue | undefined): Usage | undefined {
  if (usage === undefined || !isJsonObject(counted)) return usage;
  const left = tokenNames.flatMap((name): readonly [string, number][] => {
    const before = counted[name];
    const more = (usage[name] ?? 0) - (typeof before === "number" ? before : 0);
    return more > 0 ? [[name, more]] : [];
  });
  return left.length === 0 ? undefined : (Object.fromEntries(left) as Usage);
}

/** Of two counts of the same call the later one is whole: it has at least as many tokens of output. */
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
