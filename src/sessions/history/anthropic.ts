// History in Anthropic's form: system text separate, roles strictly alternating, calls and results as blocks.
import { type Content, wordsOf } from "../../model/content.js";
import { isJsonObject, isNestedWithin, type JsonObject, type JsonValue } from "../../model/json.js";
import { limits } from "../../model/limits.js";
import { type AssistantPart, cacheControlOf, type Item, type ResultItem, type ToolCall, toToolName } from "./items.js";
import type { AnthropicBlock, AnthropicHistory, AnthropicMessage } from "./model-input.js";
import type { MessageGroup } from "./repair.js";

type Block = JsonObject;

export function toAnthropic(
  systems: readonly (Item & { readonly type: "system" })[],
  groups: readonly MessageGroup[],
): AnthropicHistory {
  const blocksOf = groupWriter();
  const merged: { role: "user" | "assistant"; blocks: Block[] }[] = [];
  const add = (role: "user" | "assistant", blocks: readonly Block[]): void => {
    if (blocks.length === 0) return;
    const last = merged.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else merged.push({ role, blocks: [...blocks] });
  };
  for (const group of groups) {
    const { said, results } = blocksOf(group);
    add(group.type, said);
    add("user", results);
  }
  limitBreakpoints(merged);
  const system = systems.map((item) => plainText(item.content)).filter((text) => text.trim() !== "");
  return { system: system.join("\n\n"), messages: trimEnd(merged.map(withoutLastThoughts)).map(toMessage) };
}

/** Writes one group after another as blocks: what was said, and the results of its calls. */
export function groupWriter(): (group: MessageGroup) => {
  readonly said: readonly JsonObject[];
  readonly results: readonly JsonObject[];
} {
  const ids = new CallIds();
  return (group) => {
    const named = group.calls.map(({ call, result }) => ({ call, result, id: ids.make(call.id) }));
    const results = named.flatMap(({ result, id }) => (result === undefined ? [] : [toToolResult(result, id)]));
    return { said: groupBlocks(group, named), results };
  };
}

/** A request may have this many. */
const BREAKPOINTS_MAX = 4;

/** Only the newest breakpoints of the prompt cache stay, because a request with more is refused. */
function limitBreakpoints(messages: readonly { readonly blocks: Block[] }[]): void {
  let left = BREAKPOINTS_MAX;
  for (const { blocks } of messages.toReversed()) {
    for (let at = blocks.length - 1; at >= 0; at -= 1) {
      const { cache_control, ...block } = blocks[at] as Block;
      if (cache_control === undefined) continue;
      left -= 1;
      if (left < 0) blocks[at] = block;
    }
  }
}

interface NamedCall {
  readonly call: ToolCall;
  readonly id: string;
}

/** The text, then the calls; with signed thinking, everything in its original order. */
function groupBlocks({ type, content, orderedParts }: MessageGroup, named: readonly NamedCall[]): readonly Block[] {
  const toolUses = new Map(named.map(({ call, id }) => [call.id, toToolUse(call, id)]));
  const blocks =
    orderedParts === undefined ? toBlocks(content, type) : orderedParts.flatMap((part) => partBlocks(part, toolUses));
  return [...blocks, ...toolUses.values()];
}

/** Removes a call from the remaining ones, so each is used once. */
function partBlocks(part: AssistantPart, toolUses: Map<string, Block>): readonly Block[] {
  if ("thinking" in part) return [part.thinking];
  if ("server" in part) return [part.server];
  if ("part" in part) return toBlocks([part.part], "assistant");
  const toolUse = toolUses.get(part.call_id);
  toolUses.delete(part.call_id);
  return toolUse === undefined ? [] : [toolUse];
}

/** A message may not end in a thought. */
function withoutLastThoughts<T extends { readonly role: string; readonly blocks: readonly Block[] }>(message: T): T {
  const last = message.blocks.findLastIndex(({ type }) => type !== "thinking" && type !== "redacted_thinking");
  return { ...message, blocks: message.blocks.slice(0, last + 1) };
}

/** Ids must use a narrow alphabet and be unique in the whole request; valid ones stay as they are. */
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

function toToolUse(call: ToolCall, id: string): Block {
  const { cache_control } = call;
  const block = { type: "tool_use", id, name: toToolName(call.name, 128), input: toInput(call.arguments) };
  return cache_control === undefined ? block : { ...block, cache_control };
}

function toInput(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    // Serialising deeper nesting could exhaust the stack.
    if (!isNestedWithin(value, limits.nesting_levels)) return { _raw: text };
    if (isJsonObject(value)) return value;
    return { _raw: value as JsonValue };
  } catch {
    return { _raw: text };
  }
}

function toToolResult({ content, is_error, cache_control }: ResultItem, id: string): Block {
  // A breakpoint stands on the result itself.
  const parts =
    typeof content === "string" ? [] : toBlocks(content, "user").map(({ cache_control: _, ...block }) => block);
  const shown = typeof content !== "string" ? parts : content.trim() === "" ? "" : content;
  const cached = cache_control === undefined ? {} : { cache_control };
  if (!is_error) return { type: "tool_result", tool_use_id: id, content: shown, ...cached };
  // An error needs a text.
  const said = shown.length === 0 ? "error" : shown;
  return { type: "tool_result", tool_use_id: id, content: said, is_error: true, ...cached };
}

/** Text blocks must not be blank, so blank ones are left out; only users may have more than text. */
function toBlocks(content: Content, role: "user" | "assistant"): readonly Block[] {
  const parts = typeof content === "string" ? [content] : content;
  return parts
    .map((part): Block => {
      const block = (role === "user" ? mediaOf(part) : undefined) ?? { type: "text", text: wordsOf(part) };
      return { ...block, ...cacheControlOf(part) };
    })
    .filter((block) => block.type !== "text" || (block.text as string).trim() !== "");
}

function mediaOf(part: JsonValue): Block | undefined {
  if (!isJsonObject(part)) return undefined;
  const { type } = part;
  const isImage = type === "image_url" || type === "input_image";
  if (isImage) return toMedia("image", isJsonObject(part.image_url) ? part.image_url.url : part.image_url);
  if (type === "file" && isJsonObject(part.file)) return toMedia("document", part.file.file_data);
  if ((type !== "image" && type !== "document") || !isJsonObject(part.source)) return undefined;
  const source = toSource(part.source, type);
  if (source === undefined) return undefined;
  const { title, context } = part;
  if (type === "image") return { type, source };
  const about = Object.entries({ title, context }).filter(([, text]) => typeof text === "string" && text !== "");
  return { type, source, ...(Object.fromEntries(about) as JsonObject) };
}

/** OpenAI's images and files as Anthropic's blocks. */
function toMedia(type: "image" | "document", url: JsonValue | undefined): Block | undefined {
  if (typeof url !== "string") return undefined;
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  const given =
    mediaType === undefined ? { type: "url", url } : { type: "base64", media_type: mediaType.toLowerCase(), data };
  const source = toSource(given as JsonObject, type);
  return source === undefined ? undefined : { type, source };
}

/** The only accepted types; others are described in words. */
const TAKEN =
  /^(?:image base64 image\/(?:jpeg|png|gif|webp)|document base64 application\/pdf|document text text\/plain)$/;

const SOURCE_FIELDS = { base64: ["media_type", "data"], text: ["media_type", "data"], url: ["url"], file: ["file_id"] };

/** A source with exactly the fields of its type; undefined if one is missing. */
function toSource(given: JsonObject, of: "image" | "document"): JsonObject | undefined {
  const type = given.type as keyof typeof SOURCE_FIELDS;
  const fields = Object.hasOwn(SOURCE_FIELDS, String(type)) ? SOURCE_FIELDS[type] : undefined;
  if (fields === undefined) return undefined;
  if (!fields.every((field) => typeof given[field] === "string" && given[field] !== "")) return undefined;
  if (type === "url" && !/^https?:\/\/./i.test(given.url as string)) return undefined;
  if (fields.includes("media_type") && !TAKEN.test(`${of} ${type} ${given.media_type}`)) return undefined;
  return Object.fromEntries(["type", ...fields].map((field) => [field, given[field] as JsonValue]));
}

/** A final assistant text may not end in white space, because the model would continue it. */
function trimEnd<T extends { readonly role: string; readonly blocks: readonly Block[] }>(
  messages: readonly T[],
): readonly T[] {
  const last = messages.at(-1);
  const block = last?.blocks.at(-1);
  if (last?.role !== "assistant" || block?.type !== "text") return messages;
  const trimmed = { ...block, text: (block.text as string).trimEnd() };
  return [...messages.slice(0, -1), { ...last, blocks: [...last.blocks.slice(0, -1), trimmed] }];
}

/** A single text is written as the plain string that people expect to see. */
function toMessage(message: {
  readonly role: "user" | "assistant";
  readonly blocks: readonly Block[];
}): AnthropicMessage {
  const [first] = message.blocks;
  if (message.blocks.length === 1 && first?.type === "text" && Object.keys(first).length === 2) {
    return { role: message.role, content: first.text as string };
  }
  return { role: message.role, content: message.blocks as object[] as AnthropicBlock[] };
}

function plainText(content: Content): string {
  return toBlocks(content, "assistant")
    .map((block) => block.text as string)
    .join("\n");
}
