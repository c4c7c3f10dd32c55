// One session of Claude Code: what each of its lines becomes, and what lines have to know of earlier ones.

import { contentTexts } from "../../model/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import type { Injection } from "../../model/roles.js";
import { anthropicUsage, toUsage, type Usage } from "../../model/usage.js";
import type { ImportStep } from "../importer.js";
import { type Branches, Rewinds, type RewindsState } from "../transcript/branches.js";
import { objectAt, onlyText, textAt } from "../transcript/fields.js";
import type { AnswerPart } from "../transcript/model-answer.js";
import type { Origin, SessionState, TranscriptSession } from "../transcript/transcript.js";
import { readAttachment } from "./attachments.js";
import { Compactions, type CompactionsState } from "./compactions.js";
import { HookedMessages } from "./hooked-messages.js";
import { type Piece, readUserLine } from "./prompts.js";
import { SentRequests, type SentRequestsState, writesRequests } from "./sent-requests.js";
import { SpentTokens, type SpentTokensState } from "./spent-tokens.js";

/** What no transcript of an older version has; newer ones write down some of it, or whole requests. */
export const LACKS = ["system prompt", "rules files", "tool definitions"] as const;

/** The details of a result repeat it, so they are stored only for lines up to this length. */
const DETAIL_LINE_BYTES_MAX = 8 * 1024;

/** The fields of titles; a later row takes precedence. */
const titleNames: readonly (readonly [type: string, name: string])[] = [
  ["summary", "summary"],
  ["ai-title", "aiTitle"],
  ["custom-title", "customTitle"],
];

/** The session that a line belongs to, and what else lines of any session share. */
export interface SessionParts {
  readonly transcript: TranscriptSession;
  readonly branches: Branches;
  /** Tokens of answers of subagents between two times. */
  readonly subagents: (since: string | undefined, until: string | undefined) => Promise<readonly AnswerTokens[]>;
}

export interface AnswerTokens {
  readonly model: string;
  readonly usage: Usage;
}

/** What a reading that goes on later has to know. */
export interface ClaudeSessionState {
  readonly transcript: SessionState;
  readonly title_rank: number;
  readonly rewinds: RewindsState;
  readonly requests: SentRequestsState | undefined;
  readonly spent: SpentTokensState;
  readonly compactions: CompactionsState;
  readonly shell: PendingShell | undefined;
  readonly command: string | undefined;
  readonly given: GivenAnswer | undefined;
  readonly system: { readonly native: string; readonly text: string } | undefined;
  readonly known: KnownParts;
  readonly last_at: string | undefined;
  readonly forked_from: string | undefined;
}

interface PendingShell {
  readonly origin: Origin;
  readonly command: string;
  readonly text: string;
}

/** The answer that is being read, and the entry of its request. */
interface GivenAnswer {
  readonly key: string;
  readonly entry_id: string | undefined;
}

/** What of the requests is recorded. */
interface KnownParts {
  readonly has_answers: boolean;
  readonly has_system: boolean;
  readonly has_rules: boolean;
  /** Whether every request was rebuilt; undefined where none was written down. */
  readonly has_requests: boolean | undefined;
}

/** A line of the transcript. */
export interface ClaudeLine {
  readonly origin: Origin;
  readonly record: JsonObject;
  readonly bytes: number;
}

export class ClaudeSession {
  readonly #session: TranscriptSession;
  readonly #parts: SessionParts;
  readonly #rewinds: Rewinds;
  readonly #spent: SpentTokens;
  readonly #compactions: Compactions;
  readonly #hooked: HookedMessages;
  #requests: SentRequests | undefined;
  #titleRank: number;
  /** A command of the user for the shell, until its output comes. */
  #shell: PendingShell | undefined;
  /** The slash command whose prompt may follow. */
  #command: string | undefined;
  #given: GivenAnswer | undefined;
  #system: ClaudeSessionState["system"];
  #known: KnownParts;
  #lastAt: string | undefined;
  #forkedFrom: string | undefined;

  constructor(parts: SessionParts, known?: ClaudeSessionState) {
    this.#session = parts.transcript;
    this.#parts = parts;
    this.#rewinds = new Rewinds(known?.rewinds);
    this.#spent = new SpentTokens(known?.spent);
    this.#compactions = new Compactions(parts.transcript, known?.compactions);
    this.#hooked = new HookedMessages(parts.transcript.id);
    this.#requests = known?.requests === undefined ? undefined : new SentRequests(known.requests);
    this.#titleRank = known?.title_rank ?? 0;
    this.#shell = known?.shell;
    this.#command = known?.command;
    this.#given = known?.given;
    this.#system = known?.system;
    this.#known = known?.known ?? { has_answers: false, has_system: false, has_rules: false, has_requests: undefined };
    this.#lastAt = known?.last_at;
    this.#forkedFrom = known?.forked_from;
  }

  state(): ClaudeSessionState {
    return {
      transcript: this.#session.state(),
      title_rank: this.#titleRank,
      rewinds: this.#rewinds.state(),
      requests: this.#requests?.state(),
      spent: this.#spent.state(),
      compactions: this.#compactions.state(),
      shell: this.#shell,
      command: this.#command,
      given: this.#given,
      system: this.#system,
      known: this.#known,
      last_at: this.#lastAt,
      forked_from: this.#forkedFrom,
    };
  }

  /** @param isGrowing Whether more lines may come: what is unfinished is then left for later. */
  *end(isGrowing: boolean): Generator<ImportStep> {
    yield* this.#hooked.withoutThem(this.#session.close());
    if (isGrowing) return;
    yield* this.#closeShell();
    yield* this.#compactions.close();
    for (const { line, record } of this.#requests?.takeWaiting() ?? []) yield this.#rawOnce(line, record);
  }

  *take(line: ClaudeLine): Generator<ImportStep> {
    yield* this.#hooked.check();
    yield* this.#hooked.withoutThem(this.#entriesOf(line));
  }

  *#entriesOf({ origin, record, bytes }: ClaudeLine): Generator<ImportStep> {
    const facts = {
      cwd: textAt(record, "cwd"),
      git_branch: textAt(record, "gitBranch"),
      version: textAt(record, "version"),
      ...this.#forkOf(record),
    };
    this.#lastAt = textAt(record, "timestamp") ?? this.#lastAt;
    if (writesRequests(facts.version)) this.#requests ??= new SentRequests();
    if (this.#session.isNew(facts)) yield* this.#session.about(origin, facts);
    const { message } = record;
    const type = record.type ?? (isJsonObject(message) ? message.role : undefined);
    if (type === "assistant" && isJsonObject(message)) yield* this.#assistant({ origin, record, bytes }, message);
    else if (type === "user" && isJsonObject(message) && "content" in message)
      yield* this.#user({ origin, record, bytes }, message.content ?? "");
    else if (type === "attachment") yield* this.#attachment(origin, record);
    else if (type === "system") yield* this.#ownLine({ origin, record, bytes });
    else yield* this.#noted(origin, record);
  }

  /** Every line of a fork names the session it came from, which is recorded once. */
  #forkOf({ forkedFrom }: JsonObject): { readonly metadata?: JsonObject } {
    const source = isJsonObject(forkedFrom) ? textAt(forkedFrom, "sessionId") : undefined;
    if (source === undefined || source === this.#forkedFrom) return {};
    this.#forkedFrom = source;
    return { metadata: { forked_from: source } };
  }

  *#assistant({ origin, record, bytes }: ClaudeLine, message: JsonObject): Generator<ImportStep> {
    yield* this.#interrupt();
    if (record.isApiErrorMessage === true) {
      yield* this.#session.close();
      const error = contentTexts(message.content).join("\n");
      yield this.#session.error({ ...origin, extra: { request_id: record.requestId ?? null } }, error, "api");
      return;
    }
    const blocks = blocksOf(message.content);
    const part = origin.native ?? String(origin.line);
    const model = textAt(message, "model");
    const id = textAt(message, "id");
    const key = id ?? part;
    // What the tool wrote itself in the model's place cost nothing, and was asked of nobody.
    const isOwn = model === "<synthetic>";
    const usage = isOwn ? undefined : toUsage(message.usage, anthropicUsage);
    if (usage !== undefined && id !== undefined && model !== undefined) this.#spent.answer(id, model, usage);
    const given_in = isOwn ? undefined : yield* this.#requestOf(key, model, origin);
    this.#requests?.say("assistant", message.content, { key, bytes });
    this.#rewinds.say(key);
    if (origin.native !== undefined) this.#compactions.note(origin.native, key);
    const results = blocks.filter((block) => typeof block.tool_use_id === "string");
    yield* this.#session.say(key, id === undefined ? origin : { ...origin, native: id }, {
      line: origin.line,
      at: origin.at,
      parts: partsOf(part, blocks),
      model,
      usage,
      extra: {
        ...given("message_id", id),
        ...given("request_id", textAt(record, "requestId")),
        ...given("given_in", given_in),
      },
    });
    for (const [index, block] of results.entries()) yield* this.#result(origin, block, index, undefined);
  }

  /** The entry of the request that an answer belongs to. */
  *#requestOf(key: string, model: string | undefined, origin: Origin): Generator<ImportStep, string | undefined> {
    if (this.#given?.key === key) return this.#given.entry_id;
    const entry_id = this.#requests?.answered(model);
    this.#given = { key, entry_id };
    const isMissing = entry_id === undefined && this.#known.has_requests === true;
    this.#learn({ has_answers: true, ...(isMissing ? { has_requests: false } : {}) });
    // Said with each answer and not before, since the parts of a request come one by one.
    for (const step of this.#session.about(origin, { lacks: this.#missing() })) yield* this.#session.queue(step);
    return entry_id;
  }

  *#user(line: ClaudeLine, content: JsonValue): Generator<ImportStep> {
    const { origin, record, bytes } = line;
    if (typeof content !== "string" && !Array.isArray(content)) {
      yield* this.#session.queue(this.#session.raw(origin, record));
      return;
    }
    const blocks = blocksOf(content);
    const results = blocks.filter((block) => block.type === "tool_result");
    const detail = bytes <= DETAIL_LINE_BYTES_MAX ? record.toolUseResult : undefined;
    this.#requests?.say("user", content, { bytes });
    for (const [index, block] of results.entries()) yield* this.#result(origin, block, index, detail);
    if (results.length > 0 && results.length === blocks.length) return;
    if (record.isCompactSummary === true) {
      yield* this.#session.close();
      yield* this.#compactions.summarise(origin, contentTexts(content).join("\n"));
      return;
    }
    const spoken = results.length > 0 ? blocks.filter((block) => block.type !== "tool_result") : content;
    yield* this.#spoken(
      { ...line, origin: results.length > 0 ? besides(origin, "text") : origin },
      spoken,
      results.length > 0,
    );
  }

  *#spoken({ origin, record }: ClaudeLine, content: JsonValue, isBesideResults: boolean): Generator<ImportStep> {
    const parent = textAt(record, "parentUuid");
    const isCompanion = record.isMeta === true && this.#command !== undefined && parent === this.#command;
    const line = readUserLine(record, content, { isCompanion });
    if (line.is !== "shell_output") yield* this.#interrupt();
    if (!isCompanion) this.#command = undefined;
    switch (line.is) {
      case "shell":
        yield* this.#ask(origin, record);
        this.#shell = { origin, command: line.command, text: line.text };
        return;
      case "shell_output":
        yield* this.#shellOutput(origin, line);
        return;
      case "command": {
        yield* this.#session.close();
        yield* this.#ask(origin, record);
        yield* this.#pieces(origin, line.before, "before");
        this.#command = textAt(record, "uuid");
        const { name, args } = line;
        const extra = { command: { name, args, text: contentTexts(content).join("\n") } };
        yield this.#session.message({ ...origin, extra }, { role: "user", content: line.text });
        return;
      }
      case "said": {
        yield* this.#session.close();
        const isPrompt = line.pieces.some(({ injected }) => injected === undefined);
        if (isPrompt && !isBesideResults) yield* this.#ask(origin, record);
        yield* this.#pieces(origin, line.pieces, "");
      }
    }
  }

  /** Every piece is a message; the user's words have the line's own id. */
  *#pieces(origin: Origin, pieces: readonly Piece[], name: string): Generator<ImportStep> {
    const own =
      name !== ""
        ? -1
        : Math.max(
            0,
            pieces.findIndex(({ injected }) => injected === undefined),
          );
    for (const [nth, { content, injected }] of pieces.entries()) {
      const place = nth === own ? origin : besides(origin, `injected${name}:${nth}`);
      // Text that is no prompt belongs to the turn before it, and is taken back with it.
      if (place.native !== undefined) this.#rewinds.say(place.native);
      if (place.native !== undefined && origin.native !== undefined)
        this.#compactions.note(origin.native, place.native);
      yield this.#session.message(place, { role: "user", content, ...(injected === undefined ? {} : { injected }) });
    }
  }

  *#shellOutput(
    origin: Origin,
    { output, text }: { readonly output: string; readonly text: string },
  ): Generator<ImportStep> {
    const shell = this.#shell;
    this.#shell = undefined;
    yield* this.#session.close();
    if (shell !== undefined) yield this.#shellCall(shell, output);
    const content = shell === undefined ? text : `${shell.text}\n${text}`;
    yield* this.#pieces(origin, [{ content, injected: "output" }], "");
  }

  #shellCall({ origin, command }: PendingShell, output: string | undefined): ImportStep {
    return this.#session.result({
      ...origin,
      call_id: "",
      tool: "!",
      args: { command },
      result: output ?? "",
      ...(output === undefined ? { extra: { has_output: false } } : {}),
    });
  }

  /** A line that is not its output ends a command for the shell. */
  *#closeShell(): Generator<ImportStep> {
    const shell = this.#shell;
    this.#shell = undefined;
    if (shell !== undefined) yield this.#shellCall(shell, undefined);
  }

  /** Ends what a line that is no part of it leaves unfinished. */
  *#interrupt(): Generator<ImportStep> {
    if (this.#shell !== undefined || this.#compactions.isOpen) yield* this.#session.close();
    yield* this.#closeShell();
    yield* this.#compactions.close();
  }

  /** Where another prompt hung before, that one was taken back, with everything that followed it. */
  *#ask(origin: Origin, record: JsonObject): Generator<ImportStep> {
    // Of side chains several may begin at one place.
    if (origin.native === undefined || record.isSidechain === true) return;
    const left = this.#rewinds.ask(origin.native, textAt(record, "parentUuid"));
    yield* this.#parts.branches.applySwitch(this.#session, { left, back: [] });
  }

  *#result(origin: Origin, block: JsonObject, index: number, detail: JsonValue | undefined): Generator<ImportStep> {
    const call_id = textAt(block, "tool_use_id") ?? "";
    const ms = isJsonObject(detail) ? (detail.durationMs ?? detail.totalDurationMs) : undefined;
    const result = onlyText(block.content) ?? block.content ?? "";
    const native = call_id === "" ? origin.native : `result:${call_id}`;
    if (origin.native !== undefined && native !== undefined) this.#compactions.note(origin.native, native);
    const step = this.#session.result({
      ...origin,
      native,
      ...(call_id === "" && origin.native === undefined ? { identity: [block, index] } : {}),
      call_id,
      result,
      is_error: typeof block.is_error === "boolean" ? block.is_error : undefined,
      duration_ms: typeof ms === "number" ? ms : undefined,
      extra: {
        ...given("uuid", origin.native),
        ...(detail === undefined || typeof detail === "string" ? {} : { tool_use_result: withoutText(detail, result) }),
      },
    });
    yield* this.#session.queue(step);
  }

  *#attachment(origin: Origin, record: JsonObject): Generator<ImportStep> {
    const attachment = objectAt(record, "attachment");
    const type = textAt(attachment, "type");
    if (type === "prompt_snapshot" && (yield* this.#systemPrompt(origin, attachment))) return;
    const attached = readAttachment(record);
    if (attached === undefined) {
      yield* this.#session.queue(this.#session.raw(origin, record));
      return;
    }
    if (type === "instructions") this.#learn({ has_rules: true });
    const { content, injected } = attached;
    if (injected === undefined) {
      yield* this.#session.close();
      yield* this.#pieces(origin, [{ content, injected }], "");
      return;
    }
    const { text: _, content: __, ...facts } = attachment;
    const step = this.#injection(origin, content, injected, { attachment: facts });
    yield* this.#session.queue(step);
  }

  #injection(origin: Origin, content: JsonValue, injected: Injection, extra: JsonObject) {
    if (origin.native !== undefined) {
      this.#rewinds.say(origin.native);
      this.#compactions.note(origin.native, origin.native);
    }
    return this.#session.message({ ...origin, extra }, { role: "user", content, injected });
  }

  /** The system prompt as it is from now on; false where it is what it was. */
  *#systemPrompt(origin: Origin, { systemPrompt: given }: JsonObject): Generator<ImportStep, boolean> {
    const texts = Array.isArray(given) ? given.filter((text) => typeof text === "string") : [];
    const text = texts.join("\n\n");
    const before = this.#system;
    if (text === "" || text === before?.text || origin.native === undefined) return false;
    this.#system = { native: origin.native, text };
    this.#learn({ has_system: true });
    if (before !== undefined) {
      yield* this.#session.close();
      yield* this.#parts.branches.applySwitch(this.#session, { left: [before.native], back: [] });
    }
    yield* this.#session.queue(this.#session.message(origin, { role: "system", content: text, injected: "other" }));
    return true;
  }

  *#ownLine(line: ClaudeLine): Generator<ImportStep> {
    const { origin, record } = line;
    if (isJsonObject(record.message) && record.message.role === "system") {
      yield* this.#session.queue(
        this.#session.message(origin, { role: "system", content: record.message.content ?? "" }),
      );
      return;
    }
    if (record.subtype === "compact_boundary") {
      yield* this.#interrupt();
      yield* this.#session.close();
      this.#spent.compact();
      this.#compactions.begin(origin, record);
      return;
    }
    if (record.subtype === "local_command" && typeof record.content === "string") {
      yield* this.#spoken(line, record.content, false);
      return;
    }
    if (record.subtype === "api_error") {
      const reason = record.content ?? (isJsonObject(record.error) ? record.error.message : record.error);
      const error = typeof reason === "string" && reason !== "" ? reason : JSON.stringify(record.error ?? "api error");
      yield* this.#session.queue(this.#session.error({ ...origin, extra: { record } }, error, "api"));
      return;
    }
    yield* this.#noted(origin, record);
  }

  /** What it notes down for itself: titles, totals and requests mean something, and all of it is kept as it is. */
  *#noted(origin: Origin, record: JsonObject): Generator<ImportStep> {
    const once = { ...origin, is_once: true };
    switch (record.type) {
      case "api-request-shape":
        yield* this.#shape(once, record);
        return;
      case "api-request-blob":
        if (this.#requestsOf().takeBlob({ line: origin.line, record })) return;
        break;
      case "api-request":
        yield* this.#request(once, record);
        return;
      case "cost-state":
        yield* this.#total(once, record);
        return;
    }
    yield* this.#session.queue(this.#session.raw(once, record));
    const rank = titleNames.findIndex(([type]) => type === record.type);
    const title = rank === -1 ? undefined : textAt(record, titleNames[rank]?.[1] as string);
    if (title === undefined || rank < this.#titleRank) return;
    this.#titleRank = rank;
    for (const step of this.#session.about(origin, { title, metadata: {} })) yield* this.#session.queue(step);
  }

  #requestsOf(): SentRequests {
    this.#requests ??= new SentRequests();
    return this.#requests;
  }

  *#shape(origin: Origin, record: JsonObject): Generator<ImportStep> {
    const step = this.#session.raw(
      { ...origin, at: undefined, identity: ["shape", record.shapeHash ?? "", record.shape ?? null] },
      record,
    );
    this.#requestsOf().takeShape(textAt(record, "shapeHash") ?? "", step.entry.id);
    yield* this.#session.queue(step);
  }

  *#request(origin: Origin, record: JsonObject): Generator<ImportStep> {
    const id = textAt(record, "id");
    const requests = this.#requestsOf();
    const step = this.#session.raw(id === undefined ? origin : { ...origin, native: `request:${id}` }, record);
    const given = requests.take(record, step.entry.id);
    const isFirst = this.#known.has_requests === undefined && !this.#known.has_answers;
    this.#learn({ has_requests: given !== undefined && (isFirst || this.#known.has_requests === true) });
    if (given !== undefined) {
      const { extra } = step.entry as { readonly extra?: JsonObject };
      (step.entry as { extra?: JsonObject }).extra = { ...extra, given: given as unknown as JsonObject };
    }
    yield* this.#session.queue(step);
    for (const { line, record } of requests.takeWaiting()) yield* this.#session.queue(this.#rawOnce(line, record));
  }

  #rawOnce(line: number, record: JsonObject) {
    return this.#session.raw({ line, at: undefined, identity: [JSON.stringify(record)], is_once: true }, record);
  }

  *#total(origin: Origin, record: JsonObject): Generator<ImportStep> {
    const step = this.#session.raw(origin, record);
    const until = this.#lastAt;
    const unaccounted = this.#spent.total(record, until);
    if (unaccounted === undefined) {
      yield* this.#session.queue(step);
      return;
    }
    yield* this.#session.close();
    yield {
      line: origin.line,
      deferred: async () => {
        const left = unaccounted.rest(await this.#parts.subagents(unaccounted.since, until));
        return left.length === 0
          ? [step.entry]
          : left.map(({ model, usage }, nth) => ({
              ...step.entry,
              ...(nth === 0 ? {} : { id: `${step.entry.id}:${nth}`, record: { type: "cost-state", model } }),
              extra: { model, usage: usage as JsonObject, spent_on: "compaction" },
            }));
      },
    };
  }

  /** Notes what is recorded of the requests. */
  #learn(more: Partial<KnownParts>): void {
    const { has_answers, has_system, has_rules } = this.#known;
    this.#known = { ...this.#known, ...more };
    // What came after the first answer was not recorded for that one.
    if (has_answers) this.#known = { ...this.#known, has_system, has_rules };
  }

  /** What the source lacks of the requests. */
  #missing(): readonly string[] {
    const { has_requests, has_system, has_rules } = this.#known;
    if (has_requests === true) return [];
    return LACKS.filter((part) => !((part === "system prompt" && has_system) || (part === "rules files" && has_rules)));
  }
}

/** Another entry that comes from the same line. */
function besides(origin: Origin, name: string): Origin {
  return origin.native === undefined
    ? { ...origin, identity: ["beside", name, ...(origin.identity ?? [])] }
    : { ...origin, native: `${origin.native}:${name}` };
}

function blocksOf(content: JsonValue | undefined): readonly JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.map((block) => (isJsonObject(block) ? block : { type: "text", text: String(block) }));
}

/** The blocks of an answer, those that call tools as calls; results of tools that ran at the provider's are none. */
function partsOf(id: string, blocks: readonly JsonObject[]): readonly AnswerPart[] {
  const parts = blocks.flatMap((block): readonly AnswerPart[] => {
    if (block.type === "text") return [{ id, text: textAt(block, "text") ?? "" }];
    if (block.type === "thinking" || block.type === "redacted_thinking") return [{ id, thinking: block }];
    if (typeof block.tool_use_id === "string") return [];
    if (typeof block.name === "string" && typeof block.id === "string") {
      return [{ id, call: { id: block.id, name: block.name, args: block.input ?? {} } }];
    }
    return [{ id, block }];
  });
  return parts.length === 0 ? [{ id }] : parts;
}

/** Every text is stored once, and the details of a result repeat it, as a rule. */
function withoutText(detail: JsonValue, text: JsonValue): JsonValue {
  if (!isJsonObject(detail) || typeof text !== "string" || text === "") return detail;
  return Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== text));
}

function given(name: string, value: string | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}
