// History in Anthropic's form: system text apart, roles strictly alternating, calls and results as blocks.
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import type { Call, Content, Item } from "./items.js";
import type { Turn } from "./repair.js";

export interface AnthropicMessage {
  readonly role: "user" | "assistant";
  readonly content: string | readonly JsonObject[];
}

export interface AnthropicHistory {
  readonly system: string;
  readonly messages: readonly AnthropicMessage[];
}

type Block = JsonObject;

export function toAnthropic(
  systems: readonly (Item & { readonly type: "system" })[],
  turns: readonly Turn[],
): AnthropicHistory {
  const ids = new CallIds();
  const merged: { role: "user" | "assistant"; blocks: Block[] }[] = [];
  const add = (role: "user" | "assistant", blocks: readonly Block[]): void => {
    if (blocks.length === 0) return;
    const last = merged.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else merged.push({ role, blocks: [...blocks] });
  };
  for (const turn of turns) {
    const named = turn.calls.map(({ call, result }) => ({ call, result, id: ids.make(call.id) }));
    add(turn.type, [...toBlocks(turn.content), ...named.map(({ call, id }) => toToolUse(call, id))]);
    add(
      "user",
      named.flatMap(({ result, id }) =>
        result === undefined ? [] : [toToolResult(result.content, id, result.is_error)],
      ),
    );
  }
  const system = systems.map((item) => plainText(item.content)).filter((text) => text.trim() !== "");
  return { system: system.join("\n\n"), messages: trimEnd(merged).map(toMessage) };
}

/** Ids must be of a narrow alphabet and unique in the whole request; those that are already stay as they are. */
class CallIds {
  readonly #used = new Set<string>();

  make(id: string): string {
    const allowed = id.replaceAll(/[^A-Za-z0-9_-]/g, "_");
    let unique = allowed;
    for (let n = 2; this.#used.has(unique); n += 1) unique = `${allowed}-${n}`;
    this.#used.add(unique);
    return unique;
  }
}

function toToolUse(call: Call, id: string): Block {
  return { type: "tool_use", id, name: call.name, input: toInput(call.arguments) };
}

function toInput(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
    return { _raw: value as JsonValue };
  } catch {
    return { _raw: text };
  }
}

function toToolResult(content: Content, id: string, isError: boolean): Block {
  const shown = typeof content === "string" ? content : toBlocks(content);
  return { type: "tool_result", tool_use_id: id, content: shown, ...(isError ? { is_error: true } : {}) };
}

/** Text blocks must hold more than white space, so blank ones are left out. */
function toBlocks(content: Content): readonly Block[] {
  const parts = typeof content === "string" ? [content] : content;
  return parts.map(toBlock).filter((block) => block.type !== "text" || (block.text as string).trim() !== "");
}

function toBlock(part: JsonValue): Block {
  if (typeof part === "string") return { type: "text", text: part };
  if (!isJsonObject(part)) return { type: "text", text: JSON.stringify(part) };
  if ((part.type === "image" || part.type === "document") && isJsonObject(part.source)) return part;
  if (typeof part.text === "string") return { type: "text", text: part.text };
  return toImage(part) ?? { type: "text", text: JSON.stringify(part) };
}

/** OpenAI's image part as Anthropic's. */
function toImage(part: JsonObject): Block | undefined {
  const given = part.type === "image_url" ? part.image_url : undefined;
  const url = isJsonObject(given) ? given.url : given;
  if (typeof url !== "string") return undefined;
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  if (inline === null) return { type: "image", source: { type: "url", url } };
  return { type: "image", source: { type: "base64", media_type: inline[1] as string, data: inline[2] as string } };
}

/** A final assistant text may not end in white space, because the model would go on from it. */
function trimEnd<T extends { readonly role: string; readonly blocks: readonly Block[] }>(
  messages: readonly T[],
): readonly T[] {
  const last = messages.at(-1);
  const block = last?.blocks.at(-1);
  if (last?.role !== "assistant" || block?.type !== "text") return messages;
  const trimmed = { ...block, text: (block.text as string).trimEnd() };
  return [...messages.slice(0, -1), { ...last, blocks: [...last.blocks.slice(0, -1), trimmed] }];
}

/** One text alone is written as the plain string that people expect to see. */
function toMessage(message: {
  readonly role: "user" | "assistant";
  readonly blocks: readonly Block[];
}): AnthropicMessage {
  const [first] = message.blocks;
  if (message.blocks.length === 1 && first?.type === "text" && Object.keys(first).length === 2) {
    return { role: message.role, content: first.text as string };
  }
  return { role: message.role, content: message.blocks };
}

function plainText(content: Content): string {
  return toBlocks(content)
    .map((block) => (block.type === "text" ? (block.text as string) : JSON.stringify(block)))
    .join("\n");
}
