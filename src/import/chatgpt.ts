// ChatGPT's export: conversations as trees of messages, whose current node ends the chosen branch.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { DocumentImporter, ImportStep, Opening, SourceOf } from "./importer.js";
import { Branches } from "./transcript/branches.js";
import { blockTexts, objectAt, objectIn, textAt } from "./transcript/fields.js";
import { type Origin, Transcript, type TranscriptSession } from "./transcript/transcript.js";

const tool = { format: "chatgpt", lacks: ["system prompt", "tool definitions", "usage", "working folder"] };

export const chatGptImporter: DocumentImporter = {
  format: tool.format,
  reads: "document",
  recognises: ({ document }: Opening) =>
    Array.isArray(document) ? document.some((item) => isConversation(item)) : isConversation(document),
  read,
};

function isConversation(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && isJsonObject(value.mapping) && ("current_node" in value || "title" in value);
}

async function* read(source: SourceOf<"document">): AsyncGenerator<ImportStep | Iterable<ImportStep>> {
  const transcript = new Transcript(tool, source);
  const branches = new Branches(tool.format);
  for await (const item of source.values(Array.isArray(source.opening.document) ? "*" : "")) {
    if ("reason" in item) yield item;
    else if (isJsonObject(item.value) && isJsonObject(item.value.mapping)) {
      yield conversation({ transcript, branches }, item.line, item.value);
    } else yield { line: item.line, reason: "the item is not a conversation" };
  }
  yield branches.end();
}

function* conversation(
  { transcript, branches }: { readonly transcript: Transcript; readonly branches: Branches },
  line: number,
  value: JsonObject,
): Generator<ImportStep> {
  const key = textAt(value, "conversation_id") ?? textAt(value, "id") ?? `conversation-${line}`;
  const talk = new Conversation(transcript.session(key), line);
  const model = textAt(value, "default_model_slug");
  yield* talk.about(value);
  const mapping = value.mapping as JsonObject;
  const branch = branchOf(mapping, textAt(value, "current_node"));
  const active = new Set(branch);
  const left = Object.keys(mapping).filter((id) => !active.has(id));
  yield* branches.take(talk.follow(mapping, left, model), true);
  yield* branches.take(talk.follow(mapping, branch, model), false);
}

/** From the root to the current node; to the last leaf if no node is current. */
function branchOf(mapping: JsonObject, current: string | undefined): readonly string[] {
  const last = Object.keys(mapping).findLast((id) => {
    const { children } = objectAt(mapping, id);
    return !Array.isArray(children) || children.length === 0;
  });
  const branch: string[] = [];
  const seen = new Set<string>();
  const start = current !== undefined && Object.hasOwn(mapping, current) ? current : last;
  for (
    let id = start;
    id !== undefined && Object.hasOwn(mapping, id) && !seen.has(id);
    id = textAt(objectAt(mapping, id), "parent")
  ) {
    seen.add(id);
    branch.push(id);
  }
  return branch.reverse();
}

class Conversation {
  readonly #session: TranscriptSession;
  readonly #line: number;
  /** The call that the next tool result answers. */
  #call: string | undefined;

  constructor(session: TranscriptSession, line: number) {
    this.#session = session;
    this.#line = line;
  }

  about(value: JsonObject): Generator<ImportStep> {
    const origin = { line: this.#line, at: value.create_time };
    const names = ["gizmo_id", "conversation_template_id", "is_archived"].filter((name) => value[name] != null);
    const metadata = Object.fromEntries(names.map((name) => [name, value[name] as JsonValue]));
    return this.#session.about(origin, { title: textAt(value, "title"), metadata });
  }

  /** Nodes in order; if one does not follow the one before it, another branch begins. */
  *follow(mapping: JsonObject, ids: readonly string[], model: string | undefined): Generator<ImportStep> {
    let previous: string | undefined;
    for (const id of ids) {
      const { message, parent } = objectAt(mapping, id);
      if (parent !== previous) yield* this.#end();
      previous = id;
      if (isJsonObject(message)) yield* this.#take(id, message, model);
    }
    yield* this.#end();
  }

  *#take(id: string, message: JsonObject, fallback: string | undefined): Generator<ImportStep> {
    const origin = this.#origin(id, message);
    const metadata = objectAt(message, "metadata");
    const role = textAt(objectAt(message, "author"), "role");
    const content = objectAt(message, "content");
    const kind = textAt(content, "content_type") ?? "text";
    const isHidden = message.weight === 0 || metadata.is_visually_hidden_from_conversation === true;
    if (isHidden || kind === "user_editable_context") yield* this.#session.queue(this.#session.raw(origin, message));
    else if (role === "assistant") yield* this.#assistant(origin, message, textAt(metadata, "model_slug") ?? fallback);
    else if (role === "tool") yield* this.#result(origin, message, content);
    else if (role === "user" || role === "system") {
      const said = contentOf(content);
      yield* this.#session.close();
      // The root of each tree is an empty system message.
      if (role === "system" && said === "") yield this.#session.raw(origin, message);
      else yield this.#session.message(origin, { role, content: said });
    } else yield* this.#session.queue(this.#session.raw(origin, message));
  }

  #end(): Generator<ImportStep> {
    this.#call = undefined;
    return this.#session.close();
  }

  *#assistant(origin: Origin, message: JsonObject, model: string | undefined): Generator<ImportStep> {
    const content = objectAt(message, "content");
    const kind = textAt(content, "content_type") ?? "text";
    const recipient = textAt(message, "recipient") ?? "all";
    const id = origin.native as string;
    const said = { line: origin.line, at: origin.at, model };
    // Thoughts are separate messages, and belong to the answer that follows them.
    const isThought = kind === "thoughts" || kind === "reasoning_recap";
    const key = isThought || this.#session.openKey === "thought" ? "thought" : "answer";
    if (key === "answer") yield* this.#session.close();
    if (isThought)
      yield* this.#session.say("thought", origin, { ...said, parts: [{ id, thinking: thoughtsOf(content) }] });
    else if (recipient !== "all") {
      const call = { id: `call-${id}`, name: recipient, args: argumentsOf(content) };
      this.#call = call.id;
      yield* this.#session.say(key, origin, { ...said, parts: [{ id, call }] });
      yield* this.#session.close();
    } else {
      const words = contentOf(content);
      const parts = Array.isArray(words)
        ? words.map((block) => ({ id, block: block as JsonObject }))
        : [{ id, text: String(words) }];
      yield* this.#session.say(key, origin, { ...said, parts });
      yield* this.#session.close();
    }
  }

  *#result(origin: Origin, message: JsonObject, content: JsonObject): Generator<ImportStep> {
    yield* this.#session.close();
    const call_id = this.#call ?? "";
    this.#call = undefined;
    const said = contentOf(content);
    yield this.#session.result({
      ...origin,
      call_id,
      tool: textAt(objectAt(message, "author"), "name"),
      result: said === "" ? content : said,
      is_error: content.content_type === "system_error" ? true : undefined,
    });
  }

  #origin(id: string, message: JsonObject): Origin & { readonly native: string } {
    const native = textAt(message, "id") ?? id;
    return { line: this.#line, at: message.create_time ?? message.update_time, native };
  }
}

/** Text as text; with images and files, a list of parts. */
function contentOf(content: JsonObject): JsonValue {
  if (!Array.isArray(content.parts)) return textAt(content, "text") ?? textAt(content, "result") ?? "";
  if (content.parts.every((part) => typeof part === "string")) return content.parts.join("\n");
  return content.parts.map((part: JsonValue) => {
    if (typeof part === "string") return { type: "text", text: part };
    return isJsonObject(part)
      ? { type: part.content_type ?? "part", ...part }
      : { type: "text", text: JSON.stringify(part) };
  });
}

function thoughtsOf(content: JsonObject): string {
  const listed = Array.isArray(content.thoughts) ? content.thoughts.filter(isJsonObject) : [];
  const words = listed.map((thought) => [thought.summary, thought.content].filter((text) => text !== "").join("\n"));
  return [...words, blockTexts(content.parts), textAt(content, "content") ?? ""]
    .filter((text) => text !== "")
    .join("\n\n");
}

function argumentsOf(content: JsonObject): JsonValue {
  const said = contentOf(content);
  return (typeof said === "string" ? objectIn(said) : undefined) ?? { _raw: said };
}
