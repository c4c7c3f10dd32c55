// What a request said to a model, in the form that all providers' requests and the record's contexts have in common: who said which
// words, and which tools were called. White space, thoughts, ids and the blocks that texts are cut into do not count.
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";

export interface RequestTexts {
  /** The texts of the system and the developer, wherever they stand. */
  readonly system: readonly string[];
  /** What the others said; neighbours of one role are one. */
  readonly turns: readonly SaidTurn[];
}

export interface SaidTurn {
  readonly role: string;
  readonly text: string;
}

interface Said extends SaidTurn {
  readonly is_call?: boolean;
}

/** Of a request of any provider, or of a context. */
export function textsOfRequest(body: JsonObject): RequestTexts {
  const said = [...saidIn(body)]
    .map(({ role, text }) => ({ role, text: plain(text) }))
    .filter(({ text }) => text !== "");
  const turns: { readonly role: string; readonly texts: string[] }[] = [];
  for (const { role, text } of said) {
    const last = turns.at(-1);
    if (role === "system") continue;
    if (last?.role !== role) turns.push({ role, texts: [text] });
    // Some tools send a result twice when a session is taken up again.
    else if (role !== "tool" || !last.texts.includes(text)) last.texts.push(text);
  }
  return {
    system: said.flatMap(({ role, text }) => (role === "system" ? [text] : [])),
    turns: turns.map(({ role, texts }) => ({ role, text: texts.join(" ") })),
  };
}

/** Each text by itself, without calls. */
export function wordsOfRequest(body: JsonObject): readonly string[] {
  return [...saidIn(body)].filter(({ is_call }) => is_call !== true).map(({ text }) => plain(text));
}

function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function* saidIn(body: JsonObject): Generator<Said> {
  for (const given of [body.system, body.instructions, body.systemInstruction]) {
    for (const text of textsIn(given)) yield { role: "system", text };
  }
  for (const item of listOf(body.messages)) yield* saidInMessage(item);
  for (const item of listOf(body.input)) yield* saidInItem(item);
  for (const { role, parts } of listOf(body.contents)) {
    for (const part of listOf(parts)) yield* saidInPart(role === "model" ? "assistant" : "user", part);
  }
}

/** A message of Anthropic or of OpenAI's chat. */
function* saidInMessage(message: JsonObject): Generator<Said> {
  const { content, tool_calls } = message;
  const role = message.role === "developer" ? "system" : String(message.role);
  if (role === "tool") {
    yield { role, text: leaves(content ?? "") };
    return;
  }
  for (const block of typeof content === "string" ? [{ type: "text", text: content }] : listOf(content)) {
    if (block.type === "tool_use") yield { role, is_call: true, text: called(block.name, block.input) };
    else if (block.type === "tool_result") yield { role: "tool", text: leaves(block.content ?? "") };
    else for (const text of textsIn(block)) yield { role, text };
  }
  for (const call of listOf(tool_calls)) {
    const { name, arguments: args } = isJsonObject(call.function) ? call.function : {};
    yield { role, is_call: true, text: called(name, args) };
  }
}

/** An item of OpenAI's responses. */
function* saidInItem(item: JsonObject): Generator<Said> {
  const type = String(item.type ?? "message");
  if (type === "message") yield* saidInMessage(item);
  else if (type.endsWith("_call_output")) yield { role: "tool", text: leaves(item.output ?? "") };
  else if (type.endsWith("_call"))
    yield { role: "assistant", is_call: true, text: called(item.name, item.arguments ?? item.input) };
}

/** A part of Gemini's. */
function* saidInPart(role: string, part: JsonObject): Generator<Said> {
  const { functionCall: call, functionResponse: result, text, thought } = part;
  if (isJsonObject(call)) yield { role, is_call: true, text: called(call.name, call.args) };
  else if (isJsonObject(result)) yield { role: "tool", text: leaves(result.response ?? "") };
  else if (typeof text === "string" && thought !== true) yield { role, text };
}

function called(name: JsonValue | undefined, args: JsonValue | undefined): string {
  return `${name} ${leaves(args ?? "")}`;
}

/** The texts of a value in the order of their fields, those in JSON, too. */
export function leaves(value: JsonValue): string {
  if (typeof value === "string") {
    const parsed = parsedIn(value);
    return parsed === undefined ? value : leaves(parsed);
  }
  if (Array.isArray(value)) return value.map(leaves).join(" ");
  if (!isJsonObject(value)) return String(value);
  const names = Object.keys(value).filter((name) => name !== "type" && name !== "cache_control");
  return names
    .sort()
    .map((name) => leaves(value[name] as JsonValue))
    .join(" ");
}

function parsedIn(text: string): JsonValue | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap((one: JsonValue) => textsIn(one));
  if (!isJsonObject(value)) return [];
  return value.parts === undefined ? textsIn(value.text) : textsIn(value.parts);
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
