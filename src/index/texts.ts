// What of an entry a search looks through: its texts, each with the field that it stands in.
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
 * The fields that are searched, in the order in which a hit is looked for. Of what the log writes itself only memories say
 * something; quotes are found where they were said, and what a session is called by its id.
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
 * The texts of an entry as they were recorded, from its body or from the entry itself, since fields lie flat in both. What
 * a later response said belongs to the entry that brought it.
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

/** Every key and leaf of a value that is not empty, each a text of its own. */
function leavesOf(value: JsonValue): readonly string[] {
  const texts: string[] = [];
  addLeaves(value, (text) => {
    if (text !== "") texts.push(text);
  });
  return texts;
}

/** The same as an index takes them: in the form that searches compare. */
export function toEntryTexts(placed: {
  readonly position: number;
  readonly kind: string;
  readonly body: JsonObject;
}): EntryTexts {
  const texts = textsOf(placed.kind, placed.body).map(({ text }) => normalise(text));
  return { position: placed.position, texts };
}

/** A string is one text, even if it holds JSON; of lists and objects each key and leaf is one. Null says nothing. */
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

/** Of content parts only what was said or called: neither their types nor the bytes of an image are anybody's words. */
function addContent(content: JsonValue | undefined, add: (text: string) => void): void {
  for (const part of Array.isArray(content) ? content : [content]) {
    if (!isJsonObject(part)) {
      addLeaves(part, add);
      continue;
    }
    for (const text of saidIn(part)) add(text);
    // A call inside content is searched as one in `tool_calls` is; a result holds content of its own.
    if (part.type === "tool_use") {
      addLeaves(part.name, add);
      addLeaves(part.input, add);
    }
    if (part.type === "tool_result") addContent(part.content, add);
  }
}

// What a model was given, part by part, and the texts in it: of messages what they say and call, of all else each key and
// leaf.

/** A message, or what lies beside the messages. */
export interface GivenPart {
  /** The message's own role; `system`, `tools` or `context_pack` of what lies beside them. */
  readonly role: string;
  readonly value: JsonValue;
  /** Text by text; of the same part with its secrets masked where that is handed in. */
  readonly texts: (value?: JsonValue) => readonly string[];
}

/** A context pack in the order in which models are given it: tools and system first, then the messages. */
export function partsOfPack(pack: JsonObject): readonly GivenPart[] {
  const { messages = [], system, tools, ...rest } = pack;
  const isList = Array.isArray(messages);
  // Messages that are no list were given all the same.
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

/** A system text is content as a message's is. */
function systemPart(system: JsonValue): GivenPart {
  return { role: "system", value: system, texts: (value = system) => textsOfMessage({ content: value }) };
}

function textsOfMessage(message: JsonValue): readonly string[] {
  if (!isJsonObject(message)) return leavesOf(message);
  const { content = null, name = null, tool_calls = null, ...others } = message;
  const said = textsOf("message", { content, name, tool_calls }).map(({ text }) => text);
  const known = isJsonObject(content) ? [...said, ...leavesOf(content)] : said;
  // What a provider's own form carries beside these, such as reasoning, lay before the model as well.
  const rest = Object.entries(others).filter(([field]) => !ADDRESSES.has(field));
  return [...known, ...rest.flatMap(([, value]) => leavesOf(value))];
}

/** What says whose a message is and where it belongs, and nothing else. */
const ADDRESSES: ReadonlySet<string> = new Set(["role", "type", "id", "tool_call_id", "entry_id"]);

function isNothing(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}
