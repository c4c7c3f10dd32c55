// The parts of a content for everything that shows it: terminals, the page, Markdown, MCP. It reads the forms of
// OpenAI, Anthropic and Gemini, and shows anything else unchanged. The page imports this file too.
import { valueText } from "./content.js";
import { isJsonObject, type JsonObject, parseJsonObject } from "./json.js";
import { shellCommand } from "./shell-command.js";

export type ContentPart =
  | { readonly is: "text" | "thought"; readonly text: string }
  | { readonly is: "call"; readonly name: string; readonly given: unknown }
  | { readonly is: "result"; readonly text: string; readonly failed: boolean }
  /** A part without text, by its name; an image that is in the record itself also has a data URL. */
  | { readonly is: "thing"; readonly text: string; readonly image?: string };

/** The parts of a message: text, then calls; thoughts only if there is neither. */
export function messageParts(message: {
  readonly content: unknown;
  readonly tool_calls?: readonly unknown[] | undefined;
  readonly extra?: JsonObject | undefined;
}): readonly ContentPart[] {
  const said = [...partsOf(message.content), ...(message.tool_calls ?? []).map(callOf)];
  return said.length > 0 ? said : thoughtsIn(message.extra ?? {});
}

/** The tool calls of an answer, as recorded with an interaction: a model that calls tools often says nothing else. */
export function answeredCalls({ tool_calls }: JsonObject): readonly ContentPart[] {
  return Array.isArray(tool_calls) ? tool_calls.map(callOf) : [];
}

/** The thoughts of a message that has nothing else: an empty line would show nothing. */
function thoughtsIn({ thinking_blocks, reasoning_content, reasoning }: JsonObject): readonly ContentPart[] {
  const blocks = partsOf(thinking_blocks);
  const text = [reasoning_content, reasoning].find(isSaid);
  return blocks.length > 0 || text === undefined ? blocks : [{ is: "thought", text }];
}

/** The parts of a content of any form. */
function partsOf(content: unknown): readonly ContentPart[] {
  if (content === undefined || content === null || content === "") return [];
  if (Array.isArray(content)) return content.flatMap(readPart);
  return readPart(content);
}

/** A message for people, one line per part. */
export function messageText(message: Parameters<typeof messageParts>[0]): string {
  return messageParts(message).map(partText).join("\n");
}

/** A content for people, one line per part. */
export function contentText(content: unknown): string {
  return partsOf(content).map(partText).join("\n");
}

export function partText(piece: ContentPart): string {
  switch (piece.is) {
    case "call":
      return `calls ${piece.name}${spaced(givenText(piece.given))}`;
    case "result":
      return `→ ${piece.failed ? "failed: " : ""}${piece.text}`;
    case "thought":
      return `(thinking) ${piece.text}`;
    case "text":
    case "thing":
      return piece.text;
  }
}

/** The arguments of a tool call as text; empty if there are none. */
export function givenText(given: unknown): string {
  if (given === null) return "";
  const text = valueText(given);
  // Codex gives a command as a list of words.
  const args = text.startsWith('{"command":[') ? parseJsonObject(text) : undefined;
  const command = shellCommand(args);
  if (args === undefined || command === undefined) return text === "{}" ? "" : text;
  const { command: _, ...others } = args;
  return Object.keys(others).length === 0 ? command : `${command} ${JSON.stringify(others)}`;
}

/** A call of a recorded message, in OpenAI's form or a similar one. */
function callOf(call: unknown): ContentPart {
  const given = isJsonObject(call) ? call : {};
  const called = [given.function, given.custom, given].find(isJsonObject) ?? {};
  if (typeof called.name !== "string") return { is: "call", name: "a tool", given: call };
  return { is: "call", name: called.name, given: called.arguments ?? called.input ?? called.args };
}

function readPart(part: unknown): readonly ContentPart[] {
  if (!isJsonObject(part)) return [{ is: "text", text: valueText(part) }];
  const type = typeof part.type === "string" ? part.type : "";
  const read = Object.hasOwn(readByType, type) ? readByType[type] : undefined;
  return read?.(part) ?? readUntyped(part) ?? [{ is: "thing", text: unknownText(part, type) }];
}

type Read = (part: JsonObject) => readonly ContentPart[] | undefined;

const calls: Read = (part) => [call(part.name, part.input ?? part.arguments ?? part.args)];
const results: Read = (part) => [result(part.content ?? part.output, part.is_error === true)];
const thoughts: Read = (part) => {
  const text = part.thinking ?? part.text ?? [part.content, part.summary].map(contentText).filter(isSaid).join("\n");
  return [isSaid(text) ? { is: "thought", text } : { is: "thing", text: "[thinking]" }];
};

/** Parts with a type: OpenAI's two interfaces and Anthropic's blocks. */
const readByType: { readonly [type: string]: Read } = {
  refusal: ({ refusal }) => (typeof refusal === "string" ? [{ is: "text", text: refusal }] : undefined),
  thinking: thoughts,
  reasoning: thoughts,
  redacted_thinking: () => [{ is: "thing", text: "[thinking, redacted]" }],
  tool_use: calls,
  server_tool_use: calls,
  mcp_tool_use: calls,
  function_call: calls,
  custom_tool_call: calls,
  tool_result: results,
  mcp_tool_result: results,
  web_search_tool_result: results,
  web_fetch_tool_result: results,
  code_execution_tool_result: results,
  function_call_output: results,
  custom_tool_call_output: results,
  image: (part) => thing("image", part, part.source),
  image_url: (part) => thing("image", part, part.image_url),
  input_image: (part) => thing("image", part, part.image_url),
  input_audio: (part) => thing("audio", part, part.input_audio),
  audio: (part) => thing("audio", part, part.audio),
  file: (part) => thing("file", part, part.file),
  input_file: (part) => thing("file", part, part.file_data),
  document: (part) => thing("document", part, part.source),
  web_search_result: (part) => thing("found", part, undefined),
};

/** Parts without a type: Gemini's, whose keys have two spellings, and any part with a text. */
function readUntyped(part: JsonObject): readonly ContentPart[] | undefined {
  if (typeof part.text === "string") return [{ is: part.thought === true ? "thought" : "text", text: part.text }];
  if (Array.isArray(part.parts)) return partsOf(part.parts);
  const called = part.functionCall ?? part.function_call;
  if (isJsonObject(called)) return [call(called.name, called.args ?? called.arguments)];
  const answered = part.functionResponse ?? part.function_response;
  if (isJsonObject(answered)) return [answer(answered.response)];
  const code = part.executableCode ?? part.executable_code;
  if (isJsonObject(code)) return [call("code", code.code)];
  const ran = part.codeExecutionResult ?? part.code_execution_result;
  if (isJsonObject(ran)) return [result(ran.output, ran.outcome !== undefined && ran.outcome !== "OUTCOME_OK")];
  const inline = part.inlineData ?? part.inline_data ?? part.fileData ?? part.file_data;
  return isJsonObject(inline) ? thing("file", part, inline) : undefined;
}

function call(name: unknown, given: unknown): ContentPart {
  return { is: "call", name: typeof name === "string" && name !== "" ? name : "a tool", given };
}

function result(content: unknown, failed: boolean): ContentPart {
  return { is: "result", text: isJsonObject(content) ? valueText(content) : contentText(content), failed };
}

/** Gemini wraps the result of a function in an object, usually with one text in it. */
function answer(response: unknown): ContentPart {
  if (!isJsonObject(response)) return result(response, false);
  const [key = "", ...others] = Object.keys(response);
  const only = others.length === 0 ? response[key] : undefined;
  return result(typeof only === "string" ? only : valueText(response), response.error !== undefined);
}

const NAMES = ["filename", "file_name", "displayName", "title", "name", "text"];
const KINDS = ["media_type", "mimeType", "mime_type", "format"];
const PLACES = ["url", "fileUri", "file_uri", "file_id", "uri"];

/** An image, a sound or a file by name, media type and location, without its bytes. */
function thing(name: string, part: JsonObject, source: unknown): readonly ContentPart[] {
  const holders = [part, typeof source === "string" ? { url: source } : source].filter(isJsonObject);
  const first = (keys: readonly string[]): string | undefined =>
    holders.flatMap((holder) => keys.map((key) => holder[key])).find(isSaid);
  const place = first(PLACES);
  const isInline = place?.startsWith("data:") === true;
  const kind = first(KINDS) ?? (isInline ? place.slice("data:".length).split(/[;,]/, 1)[0] : undefined);
  const facts = [first(NAMES), kind, isInline ? undefined : place].filter(isSaid);
  const text = `[${[name, facts.join(", ")].filter(isSaid).join(": ")}]`;
  const image = isInline ? place : `data:${kind};base64,${first(["data"]) ?? ""}`;
  return [PICTURE.test(image) ? { is: "thing", text, image } : { is: "thing", text }];
}

/** Bitmap images only: others, such as SVG, are documents that could contain anything. */
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[\w+/]+=*$/;

function unknownText(part: JsonObject, type: string): string {
  const { type: _, ...rest } = part;
  return type === "" ? valueText(part) : `[${type}]${spaced(givenText(rest))}`;
}

function spaced(text: string): string {
  return text === "" ? "" : ` ${text}`;
}

function isSaid(text: unknown): text is string {
  return typeof text === "string" && text !== "";
}
