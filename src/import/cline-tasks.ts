// Tasks of older versions of Cline, and of Roo Code: the messages to the model in one document, times and tokens in another, and
// what the task is called in a third.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { toUsage, type Usage, type UsageNames } from "../model/usage.js";
import { piecesOf } from "./cline-words.js";
import type { DocumentImporter, ImportStep, Opening, SourceOf } from "./importer.js";
import { answerParts, hasFailed, resultIn } from "./transcript/anthropic-blocks.js";
import { blocksOf, blockTexts, numberAt, objectIn, textAt } from "./transcript/fields.js";
import { addUsage } from "./transcript/model-answer.js";
import { type Origin, Transcript, type TranscriptSession } from "./transcript/transcript.js";

const LACKS = ["system prompt", "tool definitions"];
const FILE = "api_conversation_history.json";
/** Fields that only Roo Code writes. */
const ROO_FIELDS = [
  "isSummary",
  "condenseId",
  "condenseParent",
  "truncationId",
  "truncationParent",
  "reasoning_content",
];

const usageNames: UsageNames = {
  input_tokens: [["tokensIn"]],
  output_tokens: [["tokensOut"]],
  cache_read_tokens: [["cacheReads"]],
  cache_write_tokens: [["cacheWrites"]],
};

export const clineTaskImporter: DocumentImporter = {
  format: "cline",
  reads: "document",
  recognises: (opening) => isTask(opening) && !isRoos(opening),
  read: (source) => read(source, "cline"),
};

/** In its own folder also where a task shows nothing of its own. */
export const rooCodeImporter: DocumentImporter = {
  format: "roo-code",
  reads: "document",
  recognises: isTask,
  read: (source) => read(source, "roo-code"),
};

function isTask({ name, document }: Opening): boolean {
  return name === FILE && Array.isArray(document);
}

function isRoos({ document }: Opening): boolean {
  const messages = (Array.isArray(document) ? document : []).filter(isJsonObject);
  return messages.some((message) => ROO_FIELDS.some((field) => field in message));
}

async function* read(source: SourceOf<"document">, named: string): AsyncGenerator<ImportStep> {
  const { siblings } = source;
  const roos = objectIn(await siblings.read("history_item.json"));
  const [, folder = source.stem] = /([^\\/]+)[\\/][^\\/]+$/.exec(source.path) ?? [];
  const about = roos ?? taskIn(await siblings.read("../../state/taskHistory.json"), folder);
  const format = roos === undefined ? named : "roo-code";
  const requests = requestsIn(await siblings.read("ui_messages.json"));
  const task = new Task(
    new Transcript({ format, lacks: LACKS }, source).session(textAt(about, "id") ?? folder),
    folder,
  );
  yield* task.about(about);
  const messages: { readonly line: number; readonly message: JsonObject }[] = [];
  for await (const item of source.values("*")) {
    if ("reason" in item) yield item;
    else if (isJsonObject(item.value)) messages.push({ line: item.line, message: item.value });
    else yield { line: item.line, reason: "the message is not an object" };
  }
  const answers = messages.filter(({ message }) => message.role === "assistant").length;
  const isAligned = requests.length === answers;
  let nth = 0;
  for (const { line, message } of messages) {
    const request = isAligned ? requests[nth] : undefined;
    yield* task.message(line, message, request);
    if (message.role === "assistant") nth += 1;
  }
  if (!isAligned) yield* task.total(requests);
}

function taskIn(text: string | undefined, id: string): JsonObject {
  const list = objectIn(text === undefined ? undefined : `{"tasks":${text}}`)?.tasks;
  return (Array.isArray(list) ? list : []).filter(isJsonObject).find((task) => task.id === id) ?? {};
}

/** A call to the model, as the tool showed it. */
interface ShownRequest {
  readonly at: JsonValue;
  readonly usage: Usage | undefined;
  readonly cost: number | undefined;
}

function requestsIn(text: string | undefined): readonly ShownRequest[] {
  const list = objectIn(text === undefined ? undefined : `{"shown":${text}}`)?.shown;
  return (Array.isArray(list) ? list : []).filter(isJsonObject).flatMap((shown) => {
    const told = shown.say === "api_req_started" ? objectIn(textAt(shown, "text")) : undefined;
    // Without tokens, no answer came.
    if (told === undefined || !((numberAt(told, "tokensOut") ?? 0) > 0)) return [];
    return [{ at: shown.ts ?? null, usage: toUsage(told, usageNames), cost: numberAt(told, "cost") }];
  });
}

class Task {
  readonly #session: TranscriptSession;
  /** Tasks are named after the time at which they began. */
  readonly #startMs: number | undefined;

  constructor(session: TranscriptSession, id: string) {
    this.#session = session;
    this.#startMs = /^\d{13}$/.test(id) ? Number(id) : undefined;
  }

  *about(task: JsonObject): Generator<ImportStep> {
    const words = textAt(task, "task");
    yield* this.#session.about(
      { line: 1, at: this.#startMs },
      {
        title: words?.trim().split("\n")[0]?.slice(0, 200),
        cwd: textAt(task, "workspace") ?? textAt(task, "cwdOnTaskInitialization"),
        parent: textAt(task, "parentTaskId"),
      },
    );
  }

  *message(line: number, message: JsonObject, request: ShownRequest | undefined): Generator<ImportStep> {
    const at = message.ts ?? request?.at;
    // The times are of another file, which may be missing: they do not identify a message.
    const { ts: _, ...said } = message;
    const origin: Origin = { line, at, identity: [said], is_restamped: true };
    const blocks = blocksOf(message.content);
    if (message.role === "assistant") {
      const thought = textAt(message, "reasoning_content");
      yield* this.#session.say("answer", origin, {
        line,
        at,
        parts: [...(thought === undefined ? [] : [{ id: "0", thinking: thought }]), ...answerParts("0", blocks)],
        usage: request?.usage,
        extra: request?.cost === undefined ? {} : { cost: request.cost },
      });
      yield* this.#session.close();
    } else if (message.isSummary === true) {
      yield* this.#session.compact({ ...origin, is_once: true }, { summary: blockTexts(message.content), kept: [] });
    } else if (message.role === "user") yield* this.#user(origin, message, blocks);
    else yield this.#session.raw(origin, message);
  }

  *#user(origin: Origin, message: JsonObject, blocks: readonly JsonObject[]): Generator<ImportStep> {
    const of = (name: string): Origin => ({ ...origin, identity: [name, ...(origin.identity ?? [])] });
    for (const [nth, block] of blocks.filter(({ type }) => type === "tool_result").entries()) {
      const call_id = textAt(block, "tool_use_id") ?? "";
      yield this.#session.result({
        ...of(`result ${nth}`),
        call_id,
        result: resultIn(block),
        is_error: hasFailed(block),
      });
    }
    const isMarker = message.isTruncationMarker === true;
    for (const [nth, { content, injected }] of piecesOf(blocks).entries()) {
      const marked = injected ?? (isMarker ? "other" : undefined);
      if (marked === undefined) yield this.#session.message(origin, { role: "user", content });
      else yield this.#session.message(of(`injected ${nth}`), { role: "user", content, injected: marked });
    }
  }

  /** Where requests and answers cannot be told to belong together, their tokens count all the same. */
  *total(requests: readonly ShownRequest[]): Generator<ImportStep> {
    for (const { at, usage, cost } of requests) {
      if (usage === undefined || addUsage(usage, undefined) === undefined) continue;
      const extra = { usage: usage as JsonObject, spent_on: "answers", ...(cost === undefined ? {} : { cost }) };
      const origin = { line: 1, at, identity: ["request", at], extra };
      yield this.#session.raw(origin, { type: "api_req_started", ts: at });
    }
  }
}
