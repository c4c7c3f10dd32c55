// What a model said in one answer: texts, thoughts and calls, which arrive in pieces and become one message.
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { type Usage, usageBeyond } from "./usage.js";

/** A piece of an answer. Pieces of one record share its id, by which it is known what was recorded before. */
export interface SaidPart {
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

export interface Said {
  readonly line: number;
  readonly at: JsonValue | undefined;
  readonly parts: readonly SaidPart[];
  readonly model?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly extra?: JsonObject | undefined;
}

/** The fields of the message that these parts make. */
export function saidFields(said: Said): { readonly kind: string; readonly [field: string]: unknown } {
  const { parts, model, usage } = said;
  const content = contentOf(parts);
  const tool_calls = parts.flatMap(({ call }) => (call === undefined ? [] : [toOpenAiCall(call)]));
  const extra = {
    ...said.extra,
    ...(model === undefined || model === "" ? {} : { model }),
    ...(usage === undefined ? {} : { usage }),
    ...thinkingOf(parts),
    native_ids: [...new Set(parts.map(({ id }) => id))],
  };
  return { kind: "message", role: "assistant", content, ...(tool_calls.length === 0 ? {} : { tool_calls }), extra };
}

/** What of an answer is not in the message that was recorded of it; undefined where all of it is. */
export function restOf(said: Said, stored: JsonObject): Said | undefined {
  const extra = isJsonObject(stored.extra) ? stored.extra : {};
  const known = new Set(Array.isArray(extra.native_ids) ? (extra.native_ids as readonly unknown[]) : []);
  const parts = said.parts.filter(({ id }) => !known.has(id));
  const usage = usageBeyond(said.usage, extra.usage);
  // What an answer cost may be told after all of it was said.
  return parts.length === 0 && usage === undefined ? undefined : { ...said, parts, usage };
}

function contentOf(parts: readonly SaidPart[]): string | readonly JsonObject[] {
  const blocks = parts.flatMap(({ text, block }): readonly JsonObject[] => {
    if (block !== undefined) return [block];
    return text === undefined || text === "" ? [] : [{ type: "text", text }];
  });
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

function thinkingOf(parts: readonly SaidPart[]): JsonObject {
  const blocks = parts.flatMap(({ thinking }) => (isJsonObject(thinking) ? [thinking] : []));
  const details = parts.flatMap(({ detail }) => detail ?? []);
  const words = parts.flatMap(({ thinking }) => (typeof thinking === "string" ? [thinking] : []));
  return {
    ...(blocks.length === 0 ? {} : { thinking_blocks: blocks }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(words.length === 0 ? {} : { reasoning_content: words.join("\n\n") }),
  };
}
