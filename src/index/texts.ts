// The texts of an entry that searches look through, each with its field; and the texts that a model was given.
import { saidIn } from "../model/content.js";
import type { FieldsByKind, Kind, ReservedFieldsByKind } from "../model/entry.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { normalise } from "../model/normalise.js";
import type { EntryTexts } from "./port.js";

export interface FieldText {
  readonly field: string;
  readonly text: string;
}

/**
 * Searched fields, in the order in which hits are looked for. Of entries that the log writes, only memories have texts;
 * quotes are found where they were said, sessions by id.
 */
const fieldsByKind: { readonly [K in Kind]: readonly (keyof (FieldsByKind & ReservedFieldsByKind)[K])[] } = {
  interaction: ["prompt", "response", "response_summary", "error"],
  response: ["response", "response_summary", "error"],
  message: ["content", "name", "tool_calls"],
  tool_call: ["tool", "args", "result"],
  error: ["error", "context"],
  decision: ["decision", "rationale"],
  consolidation: ["summary"],
  clear: [],
  withdrawal: [],
  feedback: ["comment", "label"],
  session_info: [],
  raw: ["record"],
  audit: [],
  redaction: [],
  memory_proposed: ["content"],
  memory_edited: ["content"],
  memory_promoted: [],
  memory_rejected: [],
  memory_superseded: [],
  memory_reinforced: [],
};

/**
 * The texts of an entry as recorded, from its body or the entry itself, since fields are flat in both. Text of a later
 * response belongs to the entry that brought it.
 */
export function textsOf(kind: string, fields: object): readonly FieldText[] {
  if (!Object.hasOwn(fieldsByKind, kind)) return [];
  const texts: FieldText[] = [];
  const values = fields as { readonly [field: string]: JsonValue | undefined };
  for (const field of fieldsByKind[kind as Kind]) {
    const add = (text: string): void => {
      if (text !== "") texts.push({ field, text });
    };
    if (field === "content") addContent(values.content, add);
    else addLeaves(values[field], add);
  }
  return texts;
}

/** Whether entries of this kind have texts at all. */
export function hasTexts(kind: string): boolean {
  return Object.hasOwn(fieldsByKind, kind) && fieldsByKind[kind as Kind].length > 0;
}

/** All non-empty keys and leaves of a value. */
function leavesOf(value: JsonValue): readonly string[] {
  const texts: string[] = [];
  addLeaves(value, (text) => {
    if (text !== "") texts.push(text);
  });
  return texts;
}

/** The texts as the index stores them, normalised for searches. */
export function toEntryTexts(placed: {
  readonly position: number;
  readonly kind: string;
  readonly body: JsonObject;
}): EntryTexts {
  const texts = textsOf(placed.kind, placed.body).map(({ text }) => normalise(text));
  return { position: placed.position, texts };
}

/** A string is one text, even if it contains JSON; lists and objects yield each key and leaf. Null yields nothing. */
function addLeaves(value: JsonValue | undefined, add: (text: string) => void): void {
  if (typeof value === "string") add(value);
  else if (typeof value === "number" || typeof value === "boolean") add(JSON.stringify(value));
  else if (Array.isArray(value)) for (const item of value) addLeaves(item, add);
  else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      add(key);
      addLeaves(item, add);
    }
  }
}

/** Content parts yield what was said or called, not their types or the bytes of an image. */
function addContent(content: JsonValue | undefined, add: (text: string) => void): void {
  for (const part of Array.isArray(content) ? content : [content]) {
    if (!isJsonObject(part)) {
      addLeaves(part, add);
      continue;
    }
    for (const text of saidIn(part)) add(text);
    // Calls inside content are searched like those in `tool_calls`; results have content of their own.
    if (part.type === "tool_use") {
      addLeaves(part.name, add);
      addLeaves(part.input, add);
    }
    if (part.type === "tool_result") addContent(part.content, add);
  }
}

/** A message, or what comes with the messages. */
export interface GivenPart {
  /** The message's role, or `system`, `tools` or `context_pack`. */
  readonly role: string;
  readonly value: JsonValue;
  /** The part's texts; of a masked copy if one is passed. */
  readonly texts: (value?: JsonValue) => readonly string[];
}

/** The parts of a context pack in the order that models get them: tools and system first, then messages. */
export function partsOfPack(pack: JsonObject): readonly GivenPart[] {
  const { messages = [], system, tools, ...rest } = pack;
  const isList = Array.isArray(messages);
  // Messages that are not a list count as well.
  const others = isList ? rest : { ...rest, messages };
  return [
    ...(isNothing(tools) ? [] : [besideMessages("tools", tools)]),
    ...(isNothing(system) ? [] : [systemPart(system)]),
    ...(Object.keys(others).length === 0 ? [] : [besideMessages("context_pack", others)]),
    ...(isList ? messages.map(messagePart) : []),
  ];
}

export function messagePart(message: JsonValue): GivenPart {
  return { role: roleOf(message), value: message, texts: (value = message) => textsOfMessage(value) };
}

export function roleOf(message: JsonValue): string {
  return isJsonObject(message) && typeof message.role === "string" ? message.role : "";
}

function besideMessages(role: string, value: JsonValue): GivenPart {
  return { role, value, texts: (given = value) => leavesOf(given) };
}

/** A system text is content like a message's. */
function systemPart(system: JsonValue): GivenPart {
  return { role: "system", value: system, texts: (value = system) => textsOfMessage({ content: value }) };
}

function textsOfMessage(message: JsonValue): readonly string[] {
  if (!isJsonObject(message)) return leavesOf(message);
  const { content = null, name = null, tool_calls = null, ...others } = message;
  const said = textsOf("message", { content, name, tool_calls }).map(({ text }) => text);
  const known = isJsonObject(content) ? [...said, ...leavesOf(content)] : said;
  // Fields of a provider's own format, such as reasoning, were given as well.
  const rest = Object.entries(others).filter(([field]) => !ADDRESSES.has(field));
  return [...known, ...rest.flatMap(([, value]) => leavesOf(value))];
}

/** Fields that only identify a message. */
const ADDRESSES: ReadonlySet<string> = new Set(["role", "type", "id", "tool_call_id", "entry_id"]);

function isNothing(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}
