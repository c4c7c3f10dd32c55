// What each answer of a transcript was given, read from the tool's file in the plainest way, without anything of the importers: for
// comparing with the contexts that the record tells.
import { readFileSync } from "node:fs";
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from "../../src/model/json.js";

/** An answer, and the request before it in the shape of its provider. */
export interface WrittenRequest {
  /** The words of the answer; empty where it only called tools. */
  readonly said: string;
  readonly calls: readonly string[];
  readonly request: JsonObject;
  /** How many compactions were before it. */
  readonly compactions: number;
}

function linesOf(path: string): readonly JsonObject[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .map((line) => parseJsonObject(line))
    .filter((record) => record !== undefined);
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textIn(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .flatMap(({ text, thought }) => (typeof text === "string" && thought !== true ? [text] : []))
    .join("\n");
}

/** Items go to the model in the order of the lines; a compaction replaces all of them. */
export function codexRequests(path: string): readonly WrittenRequest[] {
  const lines = linesOf(path);
  let input: JsonObject[] = [];
  let instructions: JsonValue = null;
  let open: { said: string; calls: string[]; request: JsonObject; compactions: number } | undefined;
  let compactions = 0;
  const found: WrittenRequest[] = [];
  const close = (): void => {
    if (open !== undefined) found.push(open);
    open = undefined;
  };
  for (const { type, payload } of lines) {
    if (!isJsonObject(payload)) continue;
    if (type === "session_meta" && isJsonObject(payload.base_instructions)) {
      instructions = payload.base_instructions.text ?? null;
    }
    if (type === "compacted") {
      // The answer before it may be the summary.
      close();
      const { said = "" } = found.at(-1) ?? {};
      if (said !== "" && String(payload.message).includes(said)) found.pop();
      compactions += 1;
      input = [...listOf(payload.replacement_history)];
    }
    if (type === "event_msg" && payload.type === "token_count") close();
    if (type !== "response_item") continue;
    const isAnswer =
      payload.role === "assistant" || payload.type === "reasoning" || /_call$/.test(String(payload.type));
    if (!isAnswer) close();
    else {
      const request = { input: [...input], ...(instructions === null ? {} : { instructions }) };
      open ??= { said: "", calls: [], request, compactions };
      if (payload.role === "assistant") open.said += textIn(payload.content);
      if (typeof payload.call_id === "string") open.calls.push(payload.call_id);
    }
    input.push(payload);
  }
  close();
  return found;
}

/** A message comes on a line of its own, again when its calls ran; a list in `$set` replaces all of them. */
export function geminiRequests(path: string): readonly WrittenRequest[] {
  let messages: JsonObject[] = [];
  const found = new Map<string, WrittenRequest>();
  let compactions = 0;
  for (const line of linesOf(path)) {
    const list = isJsonObject(line.$set) ? line.$set.messages : undefined;
    if (Array.isArray(list)) {
      const isSummarised = (one: JsonObject): boolean => textIn(one.content).includes("<state_snapshot>");
      const summary = listOf(list).find(isSummarised);
      if (summary !== undefined && !messages.some(({ id }) => id === summary.id)) compactions += 1;
      messages = [...listOf(list)];
    }
    if (typeof line.id !== "string" || (line.type !== "user" && line.type !== "gemini")) continue;
    const at = messages.findIndex(({ id, type }) => id === line.id && type === line.type);
    if (line.type === "gemini") {
      const calls = listOf(line.toolCalls).map(({ id }) => String(id));
      const request = found.get(line.id)?.request ?? { contents: messages.flatMap(geminiContents) };
      found.set(line.id, { said: textIn(line.content), calls, request, compactions });
    }
    if (at === -1) messages.push(line);
    else messages[at] = line;
  }
  return [...found.values()];
}

/** Results of its calls stand in a user's message of their own. */
function geminiContents({ type, content, toolCalls }: JsonObject): readonly JsonObject[] {
  const parts = typeof content === "string" ? [{ text: content }] : listOf(content);
  const calls = listOf(toolCalls).map(({ id, name, args }) => ({
    functionCall: { id: id ?? "", name: name ?? "", args: args ?? {} },
  }));
  return [{ role: type === "user" ? "user" : "model", parts: [...parts, ...calls] }];
}

/** From the newest entry back to the root; of what was before the last compaction only what it kept. */
export function piRequests(path: string): readonly WrittenRequest[] {
  const records = linesOf(path).filter(({ id, type }) => typeof id === "string" && type !== "session");
  const byId = new Map(records.map((record) => [String(record.id), record]));
  const pathTo = (record: JsonObject | undefined): readonly JsonObject[] =>
    record === undefined ? [] : [...pathTo(byId.get(String(record.parentId))), record];
  const branch = pathTo(records.at(-1));
  return branch.flatMap((record, at): readonly WrittenRequest[] => {
    const { message } = record;
    if (!isJsonObject(message) || message.role !== "assistant") return [];
    const before = branch.slice(0, at);
    const compactions = before.filter(({ type }) => type === "compaction").length;
    const calls = listOf(message.content).flatMap(({ type, id }) => (type === "toolCall" ? [String(id)] : []));
    return [{ said: textIn(message.content), calls, request: { messages: piMessages(before) }, compactions }];
  });
}

function piMessages(before: readonly JsonObject[]): JsonObject[] {
  const at = before.findLastIndex(({ type }) => type === "compaction");
  const compaction = before[at];
  const first = before.findIndex(({ id }) => compaction !== undefined && id === compaction.firstKeptEntryId);
  const kept = compaction === undefined || first === -1 ? [] : before.slice(first, at);
  const summary = compaction === undefined ? [] : [{ role: "user", content: compaction.summary ?? "" }];
  return [...summary, ...[...kept, ...before.slice(at + 1)].flatMap(piMessage)];
}

function piMessage({ message, type, content }: JsonObject): readonly JsonObject[] {
  if (type === "custom_message") return [{ role: "user", content: content ?? "" }];
  if (!isJsonObject(message)) return [];
  const { role } = message;
  if (role === "toolResult") return [{ role: "tool", content: textIn(message.content) }];
  if (role === "bashExecution") {
    if (message.excludeFromContext === true) return [];
    const output = `Ran \`${message.command}\`\n\`\`\`\n${message.output || "(no output)"}\n\`\`\``;
    return [{ role: "user", content: output }];
  }
  const blocks = listOf(message.content).flatMap((block): readonly JsonObject[] => {
    if (block.type === "toolCall") return [{ type: "tool_use", name: block.name ?? "", input: block.arguments ?? {} }];
    return block.type === "text" ? [block] : [];
  });
  return [{ role: role ?? "user", content: typeof message.content === "string" ? message.content : blocks }];
}
