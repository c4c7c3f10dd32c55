// What a model was given for an answer: as the caller recorded it, or reconstructed from the session's history as it was then.
import { type GivenPart, messagePart, partsOfPack, roleOf } from "../index/derivation.js";
import { metadataOf } from "../index/session-fold.js";
import { contentTexts } from "../model/content.js";
import type { Context, GivenMessage } from "../model/context.js";
import type { EntryOf, Interaction } from "../model/entry.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { ReadingParts } from "../search/lists/reader.js";
import type { SentRequest, SentRequests } from "../search/sent-requests.js";
import type { HistoryGroups, HistoryReader } from "../sessions/history/history.js";
import type { ItemOrigin } from "../sessions/history/items.js";
import { groupToOpenAi, systemToOpenAi } from "../sessions/history/openai.js";
import type { MessageGroup } from "../sessions/history/repair.js";
import { type HistorySpan, spanBefore } from "../sessions/history/span.js";
import { MESSAGES_DEFAULT } from "../sessions/session-query.js";
import type { AnswerFinder, ModelAnswer } from "./answers.js";
import { givenListBefore } from "./given-lists.js";

/** A context before it is counted and compared. */
export type Assembled = Omit<Context, "tokens" | "tokens_reported" | "previous" | "led_to">;

/** What history shows where nothing else is asked for. */
export const WINDOW = { max_messages: MESSAGES_DEFAULT, format: "openai", include_pending: false } as const;

interface Sources {
  readonly index: ReadingParts["index"];
  readonly log: ReadingParts["log"];
  readonly histories: HistoryReader;
  readonly answers: AnswerFinder;
  readonly requests: SentRequests;
}

export async function assemble(sources: Sources, answer: ModelAnswer): Promise<Assembled> {
  const place = { entry_id: answer.id, position: answer.position };
  const recorded = answer.kind === "message" ? await sources.answers.recordedCall(answer) : answer;
  if (recorded?.kind === "interaction" && isRecordedPack(recorded.context_pack))
    return { answer: place, ...fromPack(recorded) };
  const sent = answer.kind === "message" ? await sources.requests.of(bodyOf(answer)) : undefined;
  if (sent !== undefined) return { answer: place, ...fromRequest(sent) };
  const { session_id, position } = answer;
  const span = await spanBefore(sources.index, { session_id, before: position });
  const { window, lacks } = await sourceOf(sources.index, session_id);
  const shown = span === undefined ? { systems: [], groups: [] } : await shownIn(sources, span, window);
  const messages = messagesOf(shown);
  const inexact = { answer: place, exact: false, source: "history", ...lacks } as const;
  if (answer.kind !== "interaction") return { ...inexact, messages, memories: [], chunks: [] };
  return { ...inexact, ...otherParts(answer), messages: withPrompt(messages, answer) };
}

/** The history of a span; where the tool listed since then what the model is given, that list and what came after it. */
async function shownIn(
  { index, log, histories }: Sources,
  span: HistorySpan,
  window: Parameters<HistoryReader["groupsIn"]>[1],
): Promise<HistoryGroups> {
  const { session_id, cleared_through, before = Number.POSITIVE_INFINITY } = span;
  const list = await givenListBefore({ index, log }, { session_id, above: cleared_through, before });
  if (list === undefined) return histories.groupsIn(span, window);
  return histories.groupsBehind({ ...span, above: list.position }, list.named);
}

/** A part of what was given, and the entry that says it where the session has one. */
export interface PlacedPart extends GivenPart {
  readonly entry_id?: string;
}

/** All parts in the order in which the model was given them. */
export function partsOf({ messages, system, tools, pack = {} }: Assembled): readonly PlacedPart[] {
  const others = { ...(system === undefined ? {} : { system }), ...(tools === undefined ? {} : { tools }) };
  const said = messages.map(({ entry_id, ...message }) => {
    const part = messagePart(message as JsonObject);
    return entry_id === undefined ? part : { ...part, entry_id };
  });
  return [...partsOfPack({ ...pack, ...others }), ...said];
}

/** A list of messages, even an empty one, is what was sent. */
export function isRecordedPack({ messages }: JsonObject): boolean {
  return Array.isArray(messages);
}

/**
 * How much of the session its program sent, and what its source never records. A caller that records a session itself sends
 * what history gives it; other programs send everything since the last compaction.
 */
async function sourceOf(index: Sources["index"], session_id: string) {
  const metadata = session_id === "" ? undefined : (await metadataOf(index, [session_id])).get(session_id);
  const { source = metadata?.telemetry } = metadata ?? {};
  if (!isJsonObject(source)) return { window: WINDOW, lacks: {} };
  const listed = Array.isArray(source.lacks) ? source.lacks.filter((part) => typeof part === "string") : [];
  const lacks = listed.length === 0 ? {} : { lacks: listed };
  return { window: { ...WINDOW, max_messages: Number.MAX_SAFE_INTEGER }, lacks };
}

function bodyOf({ session_id, project, extra }: EntryOf<"message">) {
  return { session_id, project, extra };
}

function fromRequest({ messages, ...others }: SentRequest): Omit<Assembled, "answer"> {
  return { exact: true, source: "request", ...others, messages: messages.map(toGiven), memories: [], chunks: [] };
}

function fromPack(interaction: Interaction): Omit<Assembled, "answer"> {
  const messages = (interaction.context_pack.messages as readonly JsonValue[]).map(toGiven);
  const source = isJsonObject(interaction.extra.request) ? "request" : "context_pack";
  return { exact: true, source, ...otherParts(interaction), messages };
}

function otherParts({ context_pack, memories_used, chunks_used }: Interaction) {
  const { messages, system, tools, ...others } = context_pack;
  const pack = messages === undefined || Array.isArray(messages) ? others : { ...others, messages };
  return {
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    ...(Object.keys(pack).length === 0 ? {} : { pack }),
    memories: memories_used,
    chunks: chunks_used,
  };
}

/** A message as it was recorded, with a valid role and without an entry_id of its own. */
function toGiven(message: JsonValue): GivenMessage {
  if (!isJsonObject(message)) return { role: "", content: message };
  const { entry_id: _, ...recorded } = message;
  return { ...recorded, role: roleOf(message) };
}

function messagesOf({ systems, groups }: HistoryGroups): readonly GivenMessage[] {
  return [
    ...systems.map((item) => given(systemToOpenAi(item), item.from)),
    ...groups.flatMap((group) => {
      const origins = [group.from, ...resultsOf(group)];
      return groupToOpenAi(group, { include_reasoning: false }).map((message, at) => given(message, origins[at]));
    }),
  ];
}

function resultsOf({ calls }: MessageGroup): readonly (ItemOrigin | undefined)[] {
  return calls.flatMap(({ result }) => (result === undefined ? [] : [result.from]));
}

function given(message: object, from: ItemOrigin | undefined): GivenMessage {
  return { ...(message as GivenMessage), ...(from === undefined ? {} : { entry_id: from.entry_id }) };
}

/** Adds the prompt, unless the last user message says it already. */
function withPrompt(messages: readonly GivenMessage[], { id, prompt }: Interaction): readonly GivenMessage[] {
  const last = messages.findLast(({ role }) => role === "user");
  if (last !== undefined && contentTexts(last.content).includes(prompt)) return messages;
  return [...messages, { role: "user", content: prompt, entry_id: id }];
}
