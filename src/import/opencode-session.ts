// One session of OpenCode: its messages with their parts, whichever way they are stored.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { toUsage, type UsageNames } from "../model/usage.js";
import type { ImportStep, SourceFacts } from "./importer.js";
import { numberAt, objectAt, textAt } from "./transcript/fields.js";
import type { SaidPart } from "./transcript/said.js";
import type { Origin, TranscriptSession } from "./transcript/transcript.js";

const usageNames: UsageNames = {
  input_tokens: [["input"]],
  output_tokens: [["output"]],
  cache_read_tokens: [["cache", "read"]],
  cache_write_tokens: [["cache", "write"]],
  reasoning_tokens: [["reasoning"]],
};

export class OpenCodeSession {
  readonly #session: TranscriptSession;
  readonly #source: Pick<SourceFacts, "defers">;

  constructor(session: TranscriptSession, source: Pick<SourceFacts, "defers">) {
    this.#session = session;
    this.#source = source;
  }

  about(line: number, session: JsonObject): Generator<ImportStep> {
    return this.#session.about(
      { line, at: objectAt(session, "time").created },
      {
        title: textAt(session, "title"),
        cwd: textAt(session, "directory"),
        version: textAt(session, "version"),
        parent: textAt(session, "parentID"),
      },
    );
  }

  *message(line: number, message: JsonObject, parts: readonly JsonObject[]): Generator<ImportStep> {
    const origin = { line, at: objectAt(message, "time").created, native: textAt(message, "id") ?? `line-${line}` };
    // It is stored before it is said, and changed while it is: what is taken too early is never whole.
    if (!isFinished(message, parts) && this.#source.defers()) return;
    if (message.role === "assistant") yield* this.#assistant(origin, message, parts);
    else if (message.role === "user") yield* this.#user(origin, message, parts);
    else if (message.role === "tool") {
      // Programs that put a session into one file write results as messages.
      const call_id = textAt(message, "tool_call_id") ?? "";
      yield this.#session.result({ ...origin, call_id, result: message.content ?? "" });
    } else yield this.#session.raw(origin, message);
  }

  /** A part whose message is nowhere. */
  loose(part: JsonObject): ImportStep {
    const session = textAt(part, "sessionID");
    const step = this.#session.raw({ line: 1, at: undefined, native: textAt(part, "id") }, part);
    return { ...step, entry: { ...step.entry, session_id: session ?? "" } };
  }

  *#user(
    origin: Origin & { native: string },
    message: JsonObject,
    parts: readonly JsonObject[],
  ): Generator<ImportStep> {
    const isInjected = (part: JsonObject): boolean => part.synthetic === true || part.ignored === true;
    const spoken = parts.filter((part) => !isInjected(part) && (part.type === "text" || part.type === "file"));
    const texts = spoken.filter(({ type }) => type === "text").map((part) => textAt(part, "text") ?? "");
    const words = texts.join("\n") || (textAt(message, "text") ?? textAt(message, "content") ?? "");
    const files = spoken.filter(({ type }) => type === "file");
    const content = files.length === 0 ? words : [{ type: "text", text: words }, ...files];
    // Of a message that holds nothing but what the tool put there, no user said anything.
    if (spoken.length > 0 || parts.length === 0) yield this.#session.message(origin, { role: "user", content });
    for (const part of parts.filter((part) => !spoken.includes(part))) yield this.#raw(origin, part);
  }

  *#assistant(
    origin: Origin & { native: string },
    message: JsonObject,
    parts: readonly JsonObject[],
  ): Generator<ImportStep> {
    const session = this.#session;
    const said = parts.length === 0 ? ownParts(message, origin.native) : parts.flatMap((part) => saidPart(part));
    yield* session.say(origin.native, origin, {
      line: origin.line,
      at: origin.at,
      parts: said.length === 0 ? [{ id: origin.native }] : said,
      model:
        textAt(message, "modelID") ??
        textAt(objectAt(message, "model"), "modelID") ??
        textAt(objectAt(message, "model"), "id"),
      usage: toUsage(message.tokens, usageNames),
      extra: typeof message.cost === "number" ? { cost: message.cost } : undefined,
    });
    yield* session.close();
    for (const part of parts) {
      if (part.type === "tool") yield* this.#result(origin, part);
      else if (part.type !== "text" && part.type !== "reasoning") yield this.#raw(origin, part);
    }
    const { error } = message;
    if (!isJsonObject(error)) return;
    const reason = textAt(objectAt(error, "data"), "message") ?? textAt(error, "message") ?? JSON.stringify(error);
    yield session.error({ ...origin, native: `${origin.native}:error` }, reason, textAt(error, "name"));
  }

  *#result(origin: Origin, part: JsonObject): Generator<ImportStep> {
    const state = objectAt(part, "state");
    const status = textAt(state, "status");
    if (status !== "completed" && status !== "error") return;
    const { start, end } = objectAt(state, "time");
    const exit = numberAt(objectAt(state, "metadata"), "exit");
    const call_id = callId(part);
    yield this.#session.result({
      line: origin.line,
      at: end ?? origin.at,
      native: `result:${call_id}`,
      call_id,
      result: state.output ?? state.content ?? errorOf(state.error) ?? "",
      is_error: status === "error" || (exit !== undefined && exit !== 0),
      duration_ms: typeof start === "number" && typeof end === "number" ? end - start : undefined,
    });
  }

  #raw(origin: Origin & { native: string }, part: JsonObject): ImportStep {
    const native = textAt(part, "id");
    // Some programs call the parts of every message alike.
    return this.#session.raw({ ...origin, native: `${origin.native}:${native ?? JSON.stringify(part).length}` }, part);
  }
}

function isFinished(message: JsonObject, parts: readonly JsonObject[]): boolean {
  if (message.role === "user") return parts.length > 0 || "text" in message || "content" in message;
  if (message.role !== "assistant") return true;
  return objectAt(message, "time").completed !== undefined || isJsonObject(message.error) || "finish" in message;
}

/** The newer tables hold the parts of a message inside of it, under other names. */
export function partsOfContent(message: JsonObject): readonly JsonObject[] {
  const content = Array.isArray(message.content) ? message.content.filter(isJsonObject) : [];
  return content.map((block, index): JsonObject => {
    const id = `${message.id ?? ""}:${index}`;
    if (block.type !== "tool") return { ...block, id: textAt(block, "id") ?? id };
    return {
      ...block,
      id: textAt(block, "id") ?? id,
      tool: block.name ?? "unknown",
      callID: textAt(block, "id") ?? id,
    };
  });
}

function saidPart(part: JsonObject): readonly SaidPart[] {
  const id = textAt(part, "id") ?? "part";
  if (part.type === "text") return part.synthetic === true ? [] : [{ id, text: textAt(part, "text") ?? "" }];
  if (part.type === "reasoning") return [{ id, thinking: textAt(part, "text") ?? "" }];
  if (part.type !== "tool") return [];
  const args: JsonValue = objectAt(part, "state").input ?? {};
  return [{ id, call: { id: callId(part), name: textAt(part, "tool") ?? "unknown", args } }];
}

/** Of a message that holds its own words, as programs write it that put a session into one file. */
function ownParts(message: JsonObject, id: string): readonly SaidPart[] {
  const text = textAt(message, "content");
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isJsonObject) : [];
  return [
    ...(text === undefined ? [] : [{ id, text }]),
    ...calls.map((call, index) => ({
      id,
      call: {
        id: textAt(call, "id") ?? `${id}:${index}`,
        name: textAt(call, "name") ?? "unknown",
        args: call.arguments ?? {},
      },
    })),
  ];
}

function callId(part: JsonObject): string {
  return textAt(part, "callID") ?? textAt(part, "id") ?? "call";
}

function errorOf(error: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(error) ? (error.message ?? error) : error;
}
