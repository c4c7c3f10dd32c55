// VS Code Copilot Chat's sessions: one document of requests, or since version 1.109 a log of changes to that document.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { toUsage } from "../model/usage.js";
import type {
  DocumentImporter,
  ImportSource,
  ImportStep,
  LineImporter,
  Opening,
  SourceFacts,
  SourceOf,
} from "./importer.js";
import { oneByOne } from "./lines.js";
import { numberAt, objectAt, objectIn, textAt } from "./transcript/fields.js";
import type { AnswerPart } from "./transcript/model-answer.js";
import { type Origin, Transcript, type TranscriptSession } from "./transcript/transcript.js";
import { applyChange, isChange } from "./vscode-changes.js";

const tool = { format: "vscode-copilot", lacks: ["system prompt", "rules files", "tool definitions"] };

const usageNames = { input_tokens: [["promptTokens"]], output_tokens: [["outputTokens"], ["completionTokens"]] };
const HEADER = ["sessionId", "creationDate", "customTitle"];
/** A document that changed so much is read no further. */
const CHANGES_BYTES_MAX = 128 * 1024 * 1024;
/** States of an answer. */
const PENDING = [0, 4];
const CANCELLED = 2;
/** What is attached to a request is kept as it is up to this length. */
const ATTACHED_CHARS_MAX = 8 * 1024;

export const vscodeCopilotImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) => {
    const [first] = records;
    return first !== undefined && first.kind === 0 && isState(objectAt(first, "v"));
  },
  read: readChanges,
};

export const vscodeCopilotDocumentImporter: DocumentImporter = {
  format: tool.format,
  reads: "document",
  recognises: ({ document }: Opening) => isJsonObject(document) && isState(document),
  read: readDocument,
};

function isState(state: JsonObject): boolean {
  return Array.isArray(state.requests) && ("creationDate" in state || "requesterUsername" in state);
}

/** What a reading that goes on later has to know. */
interface ChangedState {
  readonly state: JsonValue;
  readonly bytes: number;
}

async function* readChanges(source: ImportSource): AsyncGenerator<Iterable<ImportStep>> {
  const known = source.resume.state as ChangedState | undefined;
  let state: JsonValue = known?.state ?? {};
  let bytes = known?.bytes ?? 0;
  for await (const item of oneByOne(source.records())) {
    if ("reason" in item) {
      yield [item];
      continue;
    }
    bytes += item.bytes;
    if (bytes > CHANGES_BYTES_MAX) {
      yield [{ line: item.line, reason: `the changes are more than ${CHANGES_BYTES_MAX} bytes` }];
      break;
    }
    const changed: { readonly state: JsonValue } | undefined = isChange(item.record)
      ? applyChange(state, item.record)
      : undefined;
    if (changed === undefined) yield [{ line: item.line, reason: "the change fits nothing that was there" }];
    else state = changed.state;
  }
  source.resume.onSave((): ChangedState => ({ state, bytes }));
  if (!isJsonObject(state)) return;
  const chat = new CopilotChat(source, state);
  yield chat.about(state, await folderOf(source));
  for (const request of Array.isArray(state.requests) ? state.requests : []) {
    if (isJsonObject(request)) yield chat.request(1, request);
  }
}

async function* readDocument(source: SourceOf<"document">): AsyncGenerator<Iterable<ImportStep>> {
  const header = await source.header(HEADER);
  const chat = new CopilotChat(source, header);
  yield chat.about(header, await folderOf(source));
  for await (const item of source.values("requests.*")) {
    if ("reason" in item) yield [item];
    else if (isJsonObject(item.value)) yield chat.request(item.line, item.value);
    else yield [{ line: item.line, reason: "the request is not an object" }];
  }
}

/** The folder that the workspace is of, in a file above the sessions. */
async function folderOf({ siblings }: SourceFacts): Promise<string | undefined> {
  const named = textAt(objectIn(await siblings.read("../workspace.json")) ?? {}, "folder");
  if (named === undefined || !URL.canParse(named)) return undefined;
  const { protocol, pathname } = new URL(named);
  try {
    // On other machines too, a path is a path.
    return protocol === "file:" || protocol === "vscode-remote:" ? decodeURIComponent(pathname) : undefined;
  } catch {
    return undefined;
  }
}

class CopilotChat {
  readonly #session: TranscriptSession;
  readonly #isGrowing: () => boolean;

  constructor(source: SourceFacts, header: JsonObject) {
    this.#session = new Transcript(tool, source).session(textAt(header, "sessionId") ?? source.stem);
    this.#isGrowing = source.isGrowing;
  }

  about(header: JsonObject, cwd: string | undefined): Generator<ImportStep> {
    const origin = { line: 1, at: header.creationDate };
    return this.#session.about(origin, { title: textAt(header, "customTitle"), cwd });
  }

  *request(line: number, request: JsonObject): Generator<ImportStep> {
    const id = textAt(request, "requestId");
    const origin: Origin = { line, at: request.timestamp, native: id, identity: ["prompt", request.message ?? null] };
    yield* this.#prompt(origin, request);
    const result = objectAt(request, "result");
    const state = numberAt(objectAt(request, "modelState"), "value");
    const isPending = state === undefined ? !isJsonObject(request.result) : PENDING.includes(state);
    // It is read again once it is complete.
    if (isPending && this.#isGrowing()) return;
    const rounds = listAt(objectAt(result, "metadata"), "toolCallRounds");
    if (rounds.length > 0) yield* this.#rounds(origin, request, rounds);
    else yield* this.#shown(origin, request);
    const { message, code } = objectAt(result, "errorDetails");
    if (typeof message === "string" && message !== "") {
      yield this.#session.error(besides(origin, "error"), message, typeof code === "string" ? code : undefined);
    }
    const rest = listAt(request, "response").filter(({ kind }) => kind !== undefined && !KNOWN.includes(String(kind)));
    if (rest.length > 0) {
      yield this.#session.raw({ ...besides(origin, "parts"), is_once: true }, { requestId: id ?? "", response: rest });
    }
  }

  *#prompt(origin: Origin, request: JsonObject): Generator<ImportStep> {
    const message = objectAt(request, "message");
    const content = textAt(message, "text") ?? (typeof request.message === "string" ? request.message : "");
    const attached = objectAt(request, "variableData").variables;
    const command = textAt(objectAt(request, "slashCommand"), "name");
    const extra = {
      ...(Array.isArray(attached) && attached.length > 0 ? { attachments: shortened(attached) } : {}),
      ...(command === undefined ? {} : { command: { name: `/${command}`, text: content } }),
    };
    yield this.#session.message(
      { ...origin, ...(Object.keys(extra).length === 0 ? {} : { extra }) },
      { role: "user", content, ...(request.isSystemInitiated === true ? { injected: "other" } : {}) },
    );
  }

  /** The calls to the model, with what they asked for and what they got. */
  *#rounds(origin: Origin, request: JsonObject, rounds: readonly JsonObject[]): Generator<ImportStep> {
    const metadata = objectAt(objectAt(request, "result"), "metadata");
    const results = objectAt(metadata, "toolCallResults");
    const invocations = listAt(request, "response").filter(({ kind }) => kind === "toolInvocationSerialized");
    const asked = rounds.flatMap((round) => listAt(round, "toolCalls"));
    const final = finalText(listAt(request, "response"));
    for (const [nth, round] of rounds.entries()) {
      const isLast = nth === rounds.length - 1;
      const of: Origin = { ...besides(origin, `answer-${nth}`), at: round.timestamp ?? origin.at };
      const text = textAt(round, "response") ?? "";
      const calls = listAt(round, "toolCalls");
      // Some versions keep the last words only as they were shown.
      const words = isLast && text.trim() === "" && calls.length === 0 ? final : text;
      const thought = objectAt(round, "thinking").text;
      yield* this.#answer(of, request, isLast, [
        ...thoughts(thought ?? round.thinking),
        { id: `${nth}`, text: words },
        ...calls.map((call, at) => ({
          id: callIdOf(call, `${nth}-${at}`),
          call: {
            id: callIdOf(call, `${nth}-${at}`),
            name: textAt(call, "name") ?? "unknown",
            args: call.arguments ?? {},
          },
        })),
      ]);
      for (const [at, call] of calls.entries()) {
        const call_id = callIdOf(call, `${nth}-${at}`);
        const index = asked.indexOf(call);
        // Their ids may differ, their order does not.
        const shown =
          invocations.find((one) => one.toolCallId === call_id) ??
          (invocations.length === asked.length ? invocations[index] : undefined);
        if (results[call_id] === undefined && shown === undefined) continue;
        yield this.#result(of, call_id, shown, resultOf(results[call_id]));
      }
      const summary = textAt(round, "summary");
      // The conversation was condensed up to here.
      if (summary !== undefined)
        yield* this.#session.compact(
          { ...besides(of, "summary"), is_once: true },
          { summary, kept: [], trigger: "auto" },
        );
    }
    const last = rounds.at(-1);
    if (last !== undefined && listAt(last, "toolCalls").length > 0 && final.trim() !== "") {
      const isSaid = rounds.some((round) => (textAt(round, "response") ?? "").includes(final.trim()));
      if (!isSaid) yield* this.#answer(besides(origin, "answer-shown"), request, false, [{ id: "shown", text: final }]);
    }
  }

  /** An answer without rounds: only what was shown is known. */
  *#shown(origin: Origin, request: JsonObject): Generator<ImportStep> {
    const parts: AnswerPart[] = [];
    const shown: JsonObject[] = [];
    for (const [nth, part] of listAt(request, "response").entries()) {
      if (part.kind === "thinking") parts.push(...thoughts(part.value));
      else if (part.kind === "toolInvocationSerialized") {
        const id = textAt(part, "toolCallId") ?? `part-${nth}`;
        parts.push({ id, call: { id, name: textAt(part, "toolId") ?? "unknown", args: argsShown(part) } });
        shown.push({ ...part, toolCallId: id });
      } else {
        const text = textOf(part);
        const last = parts.at(-1);
        // Pieces of one text follow each other without anything in between.
        if (text !== "" && last?.text !== undefined) parts.splice(-1, 1, { ...last, text: last.text + text });
        else if (text !== "") parts.push({ id: `part-${nth}`, text });
      }
    }
    if (parts.length === 0 && !isJsonObject(request.result)) return;
    yield* this.#answer(besides(origin, "answer-0"), request, true, parts);
    for (const part of shown) yield this.#result(origin, textAt(part, "toolCallId") ?? "", part, undefined);
  }

  *#answer(origin: Origin, request: JsonObject, isLast: boolean, parts: readonly AnswerPart[]): Generator<ImportStep> {
    const metadata = objectAt(objectAt(request, "result"), "metadata");
    const model = textAt(metadata, "resolvedModel") ?? textAt(request, "modelId")?.replace(/^copilot\//, "");
    const isCancelled = numberAt(objectAt(request, "modelState"), "value") === CANCELLED || request.isCanceled === true;
    yield* this.#session.say("answer", origin, {
      line: origin.line,
      at: origin.at,
      parts: parts.length === 0 ? [{ id: "0" }] : parts,
      model,
      usage: isLast ? toUsage(metadata, usageNames) : undefined,
      extra: isLast && isCancelled ? { stop_reason: "cancelled" } : {},
    });
    yield* this.#session.close();
  }

  #result(origin: Origin, call_id: string, shown: JsonObject | undefined, known: JsonValue | undefined): ImportStep {
    const specific = objectAt(shown ?? {}, "toolSpecificData");
    const details = objectAt(shown ?? {}, "resultDetails");
    const error = textAt(shown ?? {}, "resultError");
    const code = numberAt(objectAt(specific, "terminalCommandState"), "exitCode");
    const isDenied = deniedIn(shown ?? {});
    const output = textAt(objectAt(specific, "terminalCommandOutput"), "text");
    const isKnown = known !== undefined || output !== undefined || details.output !== undefined;
    return this.#session.result({
      ...besides(origin, `result-${call_id}`),
      call_id,
      result: known ?? output ?? details.output ?? error ?? "",
      is_error: error !== undefined || isDenied || (code !== undefined && code !== 0) || (isKnown ? false : undefined),
      extra: {
        ...(isDenied ? { denied: true } : {}),
        ...(code === undefined ? {} : { exit_code: code }),
        ...(shown?.pastTenseMessage === undefined ? {} : { shown: messageText(shown.pastTenseMessage) }),
      },
    });
  }
}

/** What becomes part of messages; other kinds are kept as they are. */
const KNOWN = ["markdownContent", "markdownVuln", "thinking", "inlineReference", "toolInvocationSerialized"];

function besides(origin: Origin, name: string): Origin {
  return origin.native === undefined
    ? { ...origin, identity: [name, ...(origin.identity ?? [])] }
    : { ...origin, native: `${origin.native}:${name}` };
}

function listAt(record: JsonObject, name: string): readonly JsonObject[] {
  const list = record[name];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function callIdOf(call: JsonObject, otherwise: string): string {
  return textAt(call, "id") ?? otherwise;
}

function thoughts(thought: JsonValue | undefined): readonly AnswerPart[] {
  const texts = (Array.isArray(thought) ? thought : [thought]).filter((one) => typeof one === "string" && one !== "");
  return texts.length === 0 ? [] : [{ id: "thought", thinking: texts.join("") }];
}

/** The text of a piece that was shown; a reference to a file or a symbol is its name. */
function textOf(part: JsonObject): string {
  if (part.kind === undefined && typeof part.value === "string") return part.value;
  if (part.kind === "markdownContent" || part.kind === "markdownVuln") return messageText(part.content ?? "");
  if (part.kind !== "inlineReference") return "";
  const reference = objectAt(part, "inlineReference");
  const path = textAt(reference, "path") ?? textAt(objectAt(objectAt(reference, "location"), "uri"), "path");
  return `\`${textAt(part, "name") ?? textAt(reference, "name") ?? path?.split("/").at(-1) ?? "reference"}\``;
}

function messageText(message: JsonValue): string {
  return typeof message === "string" ? message : isJsonObject(message) ? (textAt(message, "value") ?? "") : "";
}

/** What was said after the last call. */
function finalText(response: readonly JsonObject[]): string {
  const at = response.findLastIndex(({ kind }) => kind === "toolInvocationSerialized");
  return response
    .slice(at + 1)
    .map(textOf)
    .join("");
}

function argsShown(part: JsonObject): JsonValue {
  const specific = objectAt(part, "toolSpecificData");
  const command = textAt(objectAt(specific, "commandLine"), "original");
  return objectAt(part, "resultDetails").input ?? (command === undefined ? {} : { command });
}

/** A result's texts, or all of it where it holds anything else. */
function resultOf(result: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(result)) return result;
  const { content } = result;
  if (!Array.isArray(content)) return result;
  const texts = content.map((one) => (isJsonObject(one) && typeof one.value === "string" ? one.value : undefined));
  return texts.every((one) => one !== undefined) ? texts.join("\n") : result;
}

function deniedIn({ isConfirmed }: JsonObject): boolean {
  return isConfirmed === false || (isJsonObject(isConfirmed) && isConfirmed.type === 0);
}

/** Attachments that are long are only named. */
function shortened(list: readonly JsonValue[]): JsonValue {
  if (JSON.stringify(list).length <= ATTACHED_CHARS_MAX) return [...list];
  return list
    .filter(isJsonObject)
    .slice(0, 100)
    .map(({ kind = null, name = null }) => ({ kind, name: typeof name === "string" ? name.slice(0, 200) : null }));
}
