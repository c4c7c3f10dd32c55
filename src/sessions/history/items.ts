// Recorded messages in any provider's form, as the plain items that history is made of.
import { type Content, reasoningFields, valueText } from "../../model/content.js";
import type { Entry, EntryOf, Interaction } from "../../model/entry.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { isInjected, readRole } from "../../model/roles.js";

/** A request to run a tool, as OpenAI writes it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments' text: usually JSON, but recorded as it came. */
  readonly arguments: string;
  /** A breakpoint of Anthropic's prompt cache. */
  readonly cache_control?: JsonObject | undefined;
}

/** The entry that an item comes from. */
export interface ItemOrigin {
  readonly entry_id: string;
  readonly position: number;
}

export type Item = SystemItem | UserItem | AssistantItem | ResultItem;

export interface SystemItem {
  readonly type: "system";
  readonly content: Content;
  readonly name: string;
  /** Whether a program put it into the conversation. */
  readonly is_injected: boolean;
  readonly from?: ItemOrigin;
}

interface UserItem {
  readonly type: "user";
  readonly content: Content;
  readonly name: string;
  /** Whether a program put it there: then no turn begins with it. */
  readonly is_injected: boolean;
  readonly from?: ItemOrigin;
}

interface AssistantItem {
  readonly type: "assistant";
  /** The text, without calls and thoughts. */
  readonly content: Content;
  readonly name: string;
  readonly calls: readonly ToolCall[];
  /** With signed thinking: everything in its original order, because its signature depends on it. */
  readonly orderedParts?: readonly AssistantPart[];
  /** Reasoning fields of OpenAI-compatible providers, as recorded. */
  readonly reasoning: JsonObject;
  readonly from?: ItemOrigin;
}

/** A part of what an assistant said, thought or called. */
export type AssistantPart =
  | { readonly part: JsonValue }
  | { readonly thinking: JsonObject }
  /** What a tool of the provider's own was asked, or gave back. */
  | { readonly server: JsonObject }
  | { readonly call_id: string };

export interface ResultItem {
  readonly type: "result";
  readonly call_id: string;
  readonly content: Content;
  readonly name: string;
  readonly is_error: boolean;
  /** Whether it comes from a `tool_call` entry, which is used only if there is no tool message. */
  readonly is_spare: boolean;
  readonly cache_control?: JsonObject | undefined;
  readonly from?: ItemOrigin;
}

/** Whether a turn begins with it. */
export function opensTurn(item: Item): boolean {
  return item.type === "user" && !item.is_injected;
}

/** Reasoning cannot be sent back without its signature. */
const THINKING: ReadonlySet<unknown> = new Set(["thinking", "redacted_thinking", "reasoning"]);

export function messageToItems(message: EntryOf<"message">): readonly Item[] {
  const content = message.content ?? "";
  const { name, tool_call_id: call_id } = message;
  const from = originOf(message);
  switch (readRole(message.role)) {
    case "system":
      return [{ type: "system", content, name, is_injected: isInjected(message), from }];
    case "tool":
      return [{ type: "result", call_id, content, name, is_error: false, is_spare: false, from }];
    case "assistant":
      return [assistantItem(message, content, from)];
    default:
      return userItems(message, content, from);
  }
}

/** A tool call that was logged on its own is the result of the call with its id. */
export function toolCallToItems(entry: EntryOf<"tool_call">): readonly Item[] {
  if (entry.tool_call_id === "") return [];
  const content = valueText(entry.result);
  const is_error = entry.is_error === true;
  const from = originOf(entry);
  return [{ type: "result", call_id: entry.tool_call_id, content, name: entry.tool, is_error, is_spare: true, from }];
}

/** With `is_prompted` without the prompt, which a message says already. */
export function interactionToItems(interaction: Interaction, is_prompted = false): readonly Item[] {
  const from = originOf(interaction);
  const answer: Item = { type: "assistant", content: interaction.response, name: "", calls: [], reasoning: {}, from };
  const { prompt: content } = interaction;
  return is_prompted ? [answer] : [{ type: "user", content, name: "", is_injected: false, from }, answer];
}

/** The model was given the summary as a user's message. */
export function summaryToItems(entry: EntryOf<"consolidation">): readonly Item[] {
  const { summary: content } = entry;
  return content === "" ? [] : [{ type: "user", content, name: "", is_injected: true, from: originOf(entry) }];
}

/** Both providers refuse tool names outside a narrow alphabet, which models and other protocols exceed. */
export function toToolName(name: string, charsMax: number): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, charsMax);
}

function originOf({ id, position }: Entry): ItemOrigin {
  return { entry_id: id, position };
}

/** Anthropic records tool results inside user messages; they are taken out, and the rest is the user's. */
function userItems(message: EntryOf<"message">, content: Content, from: ItemOrigin): readonly Item[] {
  const about = { name: message.name, is_injected: isInjected(message), from };
  if (typeof content === "string") return [{ type: "user", content, ...about }];
  const results = content.filter((part) => isJsonObject(part) && part.type === "tool_result") as readonly JsonObject[];
  if (results.length === 0) return [{ type: "user", content, ...about }];
  const rest = content.filter((part) => !isJsonObject(part) || part.type !== "tool_result");
  const items: Item[] = results.map((part) => ({
    type: "result",
    call_id: textOf(part.tool_use_id),
    content: toContent(part.content),
    name: "",
    is_error: part.is_error === true,
    is_spare: false,
    ...cacheControlOf(part),
    from,
  }));
  return rest.length === 0 ? items : [...items, { type: "user", content: rest, ...about }];
}

function assistantItem(message: EntryOf<"message">, content: Content, from: ItemOrigin): AssistantItem {
  const parts = typeof content === "string" ? [] : content;
  const inContent = parts.filter((part) => isJsonObject(part) && part.type === "tool_use") as readonly JsonObject[];
  const shown = typeof content === "string" ? content : content.filter(isSaid);
  const calls: ToolCall[] = [];
  for (const given of [...message.tool_calls, ...inContent]) {
    const call = toCall(given);
    if (call !== undefined && !calls.some((other) => other.id === call.id)) calls.push(call);
  }
  const orderedParts = parts.flatMap((part) => toAssistantPart(part, parts));
  const reasoning = reasoningIn(message.extra);
  const item: AssistantItem = { type: "assistant", content: shown, name: message.name, calls, reasoning, from };
  return orderedParts.some((part) => "thinking" in part || "server" in part) ? { ...item, orderedParts } : item;
}

function isSaid(part: JsonValue): boolean {
  return !isJsonObject(part) || (part.type !== "tool_use" && !THINKING.has(part.type) && !isServerBlock(part));
}

function isServerBlock({ type }: JsonObject): boolean {
  return type === "server_tool_use" || type === "mcp_tool_use" || isServerResult(type);
}

function isServerResult(type: JsonValue | undefined): boolean {
  return typeof type === "string" && type !== "tool_result" && /_tool_result$/.test(type);
}

/** Of Anthropic's own tools only whole pairs can be sent back. */
function isPaired(block: JsonObject, parts: readonly JsonValue[]): boolean {
  const others = parts.filter(isJsonObject);
  if (isServerResult(block.type))
    return others.some(({ id, type }) => id === block.tool_use_id && !isServerResult(type));
  return others.some(({ tool_use_id, type }) => tool_use_id === block.id && isServerResult(type));
}

/** A valid breakpoint of the prompt cache. */
export function cacheControlOf(part: JsonValue): { readonly cache_control?: JsonObject } {
  const given = isJsonObject(part) && isJsonObject(part.cache_control) ? part.cache_control : {};
  if (given.type !== "ephemeral") return {};
  const { type, ttl } = given;
  return { cache_control: ttl === "5m" || ttl === "1h" ? { type, ttl } : { type } };
}

function toAssistantPart(part: JsonValue, parts: readonly JsonValue[]): readonly AssistantPart[] {
  if (isSaid(part)) return [{ part }];
  const block = part as JsonObject;
  if (isServerBlock(block)) return isPaired(block, parts) ? [{ server: block }] : [];
  if (block.type === "tool_use") return [{ call_id: textOf(block.id) }];
  const thinking = signedThinking(block);
  return thinking === undefined ? [] : [{ thinking }];
}

/** With exactly the fields of its type; undefined if it is not signed, which providers do not accept. */
function signedThinking({ type, thinking, signature, data }: JsonObject): JsonObject | undefined {
  if (type === "thinking" && typeof thinking === "string" && textOf(signature) !== "") {
    return { type, thinking, signature: textOf(signature) };
  }
  return type === "redacted_thinking" && textOf(data) !== "" ? { type, data: textOf(data) } : undefined;
}

function reasoningIn(extra: JsonObject): JsonObject {
  const given = reasoningFields.filter((field) => (extra[field] ?? null) !== null);
  return Object.fromEntries(given.map((field) => [field, extra[field] as JsonValue]));
}

/** Calls come nested as OpenAI writes them, or flat; without id or name a call cannot be answered and is left out. */
function toCall(given: JsonObject): ToolCall | undefined {
  const inner = [given.function, given.custom].find(isJsonObject) ?? given;
  const id = textOf(given.id);
  const name = textOf(inner.name) || textOf(given.name);
  if (id === "" || name === "") return undefined;
  const args = inner.arguments ?? inner.input ?? given.arguments ?? given.input;
  const text = args === undefined || args === null ? "{}" : valueText(args);
  return { id, name, arguments: text, ...cacheControlOf(given) };
}

function toContent(value: JsonValue | undefined): Content {
  if (value === undefined || value === null) return "";
  return typeof value === "string" || Array.isArray(value) ? (value as Content) : JSON.stringify(value);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
