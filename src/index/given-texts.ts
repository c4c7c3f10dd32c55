// What a model was given, part by part, and the texts in it: of messages what they say and call, of all else each key and
// leaf.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { leavesOf, textsOf } from "./texts.js";

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
