// Contexts: what a model was given for an answer, how many tokens that was, what had changed since the answer before, where each
// message was recorded first, and what the answer led to.

import { roleOf } from "../index/derivation.js";
import { feedbackOn } from "../index/feedback-fold.js";
import type { EntryIndex } from "../index/port.js";
import { bodyToEntry, parseBodyText } from "../model/body.js";
import { contentTexts, valueText } from "../model/content.js";
import type { AnswerLookup, Context, ContextChange, GivenMessage, LedTo, Told } from "../model/context.js";
import type { Entry, EntryOf, ErasedEntry, Interaction } from "../model/entry.js";
import { itemAt } from "../model/item-at.js";
import { isJsonObject, type JsonValue } from "../model/json.js";
import { isJsonLarger } from "../model/json-size.js";
import { limits } from "../model/limits.js";
import { firstCodePoints } from "../model/normalise.js";
import { readRole, textsOfUser } from "../model/roles.js";
import { TimeSlice } from "../model/scheduling.js";
import { readUsage, tokenNames } from "../model/usage.js";
import { EntryReader, type EntryRef } from "../search/lists/entry-reader.js";
import type { ReadingParts } from "../search/lists/reader.js";
import { SentRequests } from "../search/sent-requests.js";
import { HistoryReader } from "../sessions/history/history.js";
import { contextTooLarge } from "../sessions/history/history-refusals.js";
import { TokenCounts, tokensOf } from "../sessions/history/tokens.js";
import { givenTokens } from "../usage/price-table.js";
import { AnswerFinder, callIdsOf, hasWordsOfUser, type ModelAnswer, mayHaveMade } from "./answers.js";
import { type Assembled, assemble, partsOf } from "./assemble.js";
import { ToldReader } from "./told.js";

export class ContextReader {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;
  readonly #answers: AnswerFinder;
  readonly #sources: Parameters<typeof assemble>[0];
  readonly #tokens = new TokenCounts();
  readonly #told: ToldReader;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
    this.#answers = new AnswerFinder({ index: parts.index, entries: this.#entries });
    const requests = new SentRequests(parts);
    const { index, log } = parts;
    this.#sources = { index, log, histories: new HistoryReader(parts), answers: this.#answers, requests };
    this.#told = new ToldReader(parts, { ...this.#sources, entries: this.#entries }, this.#tokens);
  }

  /** Undefined where there is no such entry. */
  async context(ref: EntryRef & { readonly is_masked?: boolean }): Promise<AnswerLookup<Context> | undefined> {
    return this.#ofAnswer(ref, async (answer) => {
      const assembled = await assemble(this.#sources, answer);
      const change = await this.#previous(answer, assembled);
      const { messages, previous } = await this.#linked(answer, assembled.messages, change);
      const led_to = await ledTo({ index: this.#parts.index, entries: this.#entries }, answer);
      // Counting takes longest, so what is too large is refused first.
      if (isJsonLarger([{ ...assembled, messages }, previous], limits.context_bytes)) throw contextTooLarge();
      const tokens = { tokens: await this.#count(assembled), ...reportedTokens(answer) };
      const context = { ...assembled, messages, ...tokens, ...previous, led_to };
      return ref.is_masked === true ? this.#masked(context) : context;
    });
  }

  async told(ref: EntryRef & { readonly phrase: string }): Promise<AnswerLookup<Told> | undefined> {
    return this.#ofAnswer(ref, (answer) => this.#told.told(answer, ref.phrase));
  }

  async #ofAnswer<T>(ref: EntryRef, find: (answer: ModelAnswer) => Promise<T>): Promise<AnswerLookup<T> | undefined> {
    const entry = await this.#get(ref);
    if (entry === undefined) return undefined;
    if ("erased" in entry) return { outcome: "erased" };
    const answer = await this.#answers.answerOf(entry);
    if (answer === undefined) return { outcome: "no_answer", kind: entry.kind };
    return { outcome: "found", found: await find(answer) };
  }

  #get(ref: EntryRef): Promise<Entry | ErasedEntry | undefined> {
    return "id" in ref ? this.#entries.getById(ref.id) : this.#entries.getByPosition(ref.position);
  }

  async #previous(answer: ModelAnswer, now: Assembled): Promise<ContextChange | undefined> {
    const before = await this.#answers.previous(answer);
    if (before === undefined) return undefined;
    const then = await assemble(this.#sources, before);
    return { ...compareMessages(before.id, then.messages, now.messages), ...compareOthers(then, now) };
  }

  /** Removed messages are linked as well, in the same pass over the session. */
  async #linked(answer: ModelAnswer, now: readonly GivenMessage[], change: ContextChange | undefined) {
    const linked = await linkMessages(this.#parts, answer, [...now, ...(change?.removed ?? [])]);
    const previous = change === undefined ? {} : { previous: { ...change, removed: linked.slice(now.length) } };
    return { messages: linked.slice(0, now.length), previous };
  }

  /** As history counts them, in time slices: a context may be as large as an entry can be. */
  async #count(assembled: Assembled): Promise<number> {
    const count = await this.#tokens.load();
    const turn = new TimeSlice();
    let tokens = 0;
    for (const part of partsOf(assembled)) {
      tokens += tokensOf(part, count);
      if (turn.isOver) await turn.next();
    }
    return tokens;
  }

  /** Ids stay, because without them nothing could be fetched. */
  #masked(context: Context): Context {
    const { mask } = this.#parts;
    const { answer, exact, source, tokens, memories, chunks, previous, led_to, messages, ...others } = context;
    const shown = (message: GivenMessage): GivenMessage => {
      const { entry_id, ...said } = message;
      return { ...mask.value(said), ...(entry_id === undefined ? {} : { entry_id }) } as GivenMessage;
    };
    return {
      answer,
      exact,
      source,
      messages: messages.map(shown),
      ...mask.value(others),
      memories: mask.value(memories),
      chunks: mask.value(chunks),
      tokens,
      ...(previous === undefined ? {} : { previous: { ...previous, removed: previous.removed.map(shown) } }),
      led_to: mask.entry(led_to),
    };
  }
}

/** How the messages differ from those of the answer before. Only identical messages count as the same. */
function compareMessages(entry_id: string, then: readonly GivenMessage[], now: readonly GivenMessage[]) {
  const left = new Map<string, number>();
  const names = then.map(keyOf);
  for (const name of names) left.set(name, (left.get(name) ?? 0) + 1);
  const added: number[] = [];
  for (const [at, message] of now.entries()) {
    const name = keyOf(message);
    const count = left.get(name) ?? 0;
    if (count === 0) added.push(at);
    else left.set(name, count - 1);
  }
  // Of identical messages the last ones count as removed.
  const removed: GivenMessage[] = [];
  for (const [at, message] of [...then.entries()].reverse()) {
    const name = itemAt(names, at);
    const count = left.get(name) ?? 0;
    if (count === 0) continue;
    left.set(name, count - 1);
    removed.push(message);
  }
  return { entry_id, kept: now.length - added.length, added, removed: removed.reverse() };
}

/** How the system prompt and the tools differ, as far as they were recorded. */
function compareOthers(then: Assembled, now: Assembled): Pick<ContextChange, "system" | "tools"> {
  const isSame = JSON.stringify(then.system ?? null) === JSON.stringify(now.system ?? null);
  const [before, after] = [toolNames(then.tools), toolNames(now.tools)];
  return {
    system: isSame ? "same" : "changed",
    tools: {
      added: after.filter((name) => !before.includes(name)),
      removed: before.filter((name) => !after.includes(name)),
    },
  };
}

/** The names of tools, in any provider's form. */
function toolNames(tools: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(tools)) return [];
  const named = tools.flatMap((tool): readonly string[] => {
    if (!isJsonObject(tool)) return [];
    if (Array.isArray(tool.functionDeclarations)) return toolNames(tool.functionDeclarations);
    const name = isJsonObject(tool.function) ? tool.function.name : tool.name;
    return typeof name === "string" ? [name] : [];
  });
  return [...new Set(named)];
}

/** What the provider counted as input, cached parts included. */
function reportedTokens(answer: ModelAnswer): { readonly tokens_reported?: number } {
  if (answer.kind !== "interaction" && answer.kind !== "message") return {};
  const { client, extra } = answer;
  const read = readUsage(answer.kind === "interaction" ? answer.usage : extra.usage);
  if (read === undefined) return {};
  const { usage, ...counting } = read;
  const named = answer.kind === "interaction" ? answer.model : extra.model;
  const model = typeof named === "string" ? named : "";
  const { given } = givenTokens({ client, model, ...counting, tokens: tokenNames.map((name) => usage[name] ?? 0) });
  return given === 0 ? {} : { tokens_reported: given };
}

/** The message without where it was recorded. */
function keyOf({ entry_id: _, ...message }: GivenMessage): string {
  return JSON.stringify(message);
}

const ENTRIES_MAX = 500;
const BYTES_MAX = 4 * 1024 * 1024;

/** Adds to each message the entry that says it, or the answer that was given it before, found in the newest megabytes of the session. */
async function linkMessages(
  parts: Pick<ReadingParts, "index" | "log">,
  answer: ModelAnswer,
  messages: readonly GivenMessage[],
): Promise<readonly GivenMessage[]> {
  if (answer.session_id === "" || messages.every(({ entry_id }) => entry_id !== undefined)) return messages;
  const idByName = new Map<string, string>();
  for (const entry of await entriesBefore(parts, answer)) {
    // The answer's own context is no earlier record of its messages.
    const given = entry.kind === "interaction" && entry.id !== answer.id ? namesGiven(entry) : [];
    for (const name of [...namesOf(entry), ...given]) if (name !== undefined) idByName.set(name, entry.id);
  }
  return messages.map((message) => {
    const entry_id = message.entry_id ?? idByName.get(messageKey(message) ?? "");
    return entry_id === undefined ? message : { ...message, entry_id };
  });
}

/** The newest first, the answer itself included: its prompt may be recorded nowhere else. */
async function entriesBefore(
  { index, log }: Pick<ReadingParts, "index" | "log">,
  { session_id, position }: ModelAnswer,
): Promise<readonly Entry[]> {
  const kinds = ["message", "tool_call", "interaction"];
  const range = { session_id, order: "desc", after: position + 1, limit: ENTRIES_MAX, kinds } as const;
  const bodies = await log.getBodies(await index.sessionPositions(range), BYTES_MAX);
  return bodies.flatMap((stored) => {
    if (stored?.body === undefined || stored.flaw !== undefined) return [];
    return [bodyToEntry(stored, parseBodyText(stored.position, stored.body))];
  });
}

function namesOf(entry: Entry): readonly (string | undefined)[] {
  if (entry.kind === "message") return [messageKey({ ...entry })];
  if (entry.kind === "tool_call") return [`tool\n${valueText(entry.result)}`];
  if (entry.kind !== "interaction") return [];
  return [`user\n${entry.prompt}`, ...(entry.response === "" ? [] : [`assistant\n${entry.response}`])];
}

/** Some messages, such as results of tools, are recorded only in the context of an answer. */
function namesGiven({ context_pack: { messages } }: Interaction): readonly (string | undefined)[] {
  if (!Array.isArray(messages)) return [];
  return messages.filter(isJsonObject).map((message) => messageKey({ ...message, role: roleOf(message) }));
}

/**
 * Who says what, whatever shape a provider gives it; calls and results are compared as JSON. Undefined for an empty message.
 */
function messageKey(message: {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
}): string | undefined {
  const { role, content, tool_calls } = message;
  const said = contentTexts(content).join("\n");
  if (said.trim() !== "") return `${readRole(role)}\n${said}`;
  const others = [content, tool_calls].flatMap((list) => (Array.isArray(list) ? list : []));
  return others.length === 0 ? undefined : `parts of ${readRole(role)}\n${JSON.stringify(others)}`;
}

/** How many entries after the answer are read, and how much of a text is shown. */
const LOOKED_AHEAD = 200;
const READ_AT_ONCE = 8;
const CHARS = 200;

interface LedToSources {
  readonly index: EntryIndex;
  readonly entries: EntryReader;
}

async function ledTo(sources: LedToSources, answer: ModelAnswer): Promise<LedTo> {
  const after = await following(sources, answer);
  const end = after.findIndex(isAnswer);
  const own = end === -1 ? after : after.slice(0, end);
  const next = after.find(isUsers);
  return {
    tool_calls: callsOf(answer, after).map((call) => {
      return { ...placeOf(call), tool: call.tool, is_error: call.is_error === true };
    }),
    errors: own.flatMap((entry) => (entry.kind === "error" ? [{ ...placeOf(entry), error: cut(entry.error) }] : [])),
    feedback: await feedback(sources, answer),
    ...(next === undefined ? {} : { next: { ...placeOf(next), text: cut(textsOfUser(next).join("\n")) } }),
  };
}

/** As far as the next answer and the user's next words, whichever comes later. */
async function following(
  { index, entries }: LedToSources,
  { session_id, position }: ModelAnswer,
): Promise<readonly Entry[]> {
  const after: Entry[] = [];
  if (session_id === "") return after;
  const kinds = ["message", "interaction", "tool_call", "error"];
  const range = { session_id, order: "asc", after: position, limit: LOOKED_AHEAD, kinds } as const;
  const positions = await index.sessionPositions(range);
  const isEnough = (): boolean => after.some(isAnswer) && after.some(isUsers);
  // A few at a time, since each may be as large as an entry can be.
  for (let at = 0; at < positions.length && !isEnough(); at += READ_AT_ONCE) {
    after.push(...(await entries.read(positions.slice(at, at + READ_AT_ONCE))));
  }
  return isEnough() ? after.slice(0, Math.max(after.findIndex(isAnswer), after.findIndex(isUsers)) + 1) : after;
}

/** The calls that it names, up to where another answer names them, and those without a name before anybody speaks. */
function callsOf(answer: ModelAnswer, after: readonly Entry[]): readonly EntryOf<"tool_call">[] {
  const named = new Set(callIdsOf(answer));
  const calls: EntryOf<"tool_call">[] = [];
  let isNext = true;
  for (const entry of after) {
    if (entry.kind === "tool_call") {
      if (named.has(entry.tool_call_id) || (isNext && mayHaveMade(answer, entry))) calls.push(entry);
    }
    if (isAnswer(entry)) for (const id of callIdsOf(entry)) named.delete(id);
    if (isAnswer(entry) || isUsers(entry)) isNext = false;
  }
  return calls;
}

async function feedback({ index, entries }: LedToSources, answer: ModelAnswer): Promise<LedTo["feedback"]> {
  const { response_id } = answer as { readonly response_id?: string };
  const ids = [answer.id, ...(response_id === undefined ? [] : [response_id])];
  const found = await entries.read([...(await feedbackOn(index, ids)).values()].flat());
  return found.flatMap((entry) => {
    if (entry.kind !== "feedback") return [];
    const { score, label, comment } = entry;
    return [{ ...placeOf(entry), ...(score === undefined ? {} : { score }), label, comment: cut(comment) }];
  });
}

function placeOf({ id, position }: Entry) {
  return { entry_id: id, position };
}

function isAnswer(entry: Entry): entry is EntryOf<"interaction"> | EntryOf<"message"> {
  return entry.kind === "interaction" || (entry.kind === "message" && readRole(entry.role) === "assistant");
}

function isUsers(entry: Entry): boolean {
  return entry.kind === "interaction" || hasWordsOfUser(entry);
}

function cut(text: string): string {
  return firstCodePoints(text, CHARS);
}
