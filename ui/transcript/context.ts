// What a model was given for an answer, and what had changed since the turn before: as the caller recorded it, or else the
// session's messages up to there.
import { messageText } from "../../src/model/content-pieces.js";
import { getEntry, type Row, sessionEntries, type Whole } from "../api.js";
import { speakerOf } from "../words.js";

export interface GivenMessage {
  readonly role: string;
  readonly content: unknown;
  readonly entry_id?: string;
}

export interface Context {
  /** Whether somebody recorded what was sent; otherwise it is what the session held. */
  readonly exact: boolean;
  readonly messages: readonly GivenMessage[];
  readonly system: string;
  /** Whatever else the pack holds. */
  readonly rest: { readonly [name: string]: unknown };
  readonly memories: readonly string[];
  readonly chunks: readonly string[];
  readonly previous?: Change;
}

interface Change {
  readonly entry_id: string;
  readonly kept: number;
  /** Places in the messages. */
  readonly added: ReadonlySet<number>;
  readonly removed: readonly GivenMessage[];
}

/** So much of the session before an answer is looked through. */
const BEFORE = 500;

export async function contextOf(entry: Row, signal: AbortSignal): Promise<Context> {
  const before = await entriesBefore(entry, signal);
  if (entry.kind !== "interaction") return fromSession(entry, before);
  const earlier = before.findLast(({ kind }) => kind === "interaction");
  const [now, then] = await Promise.all([
    getEntry(entry.id, signal),
    earlier === undefined ? undefined : getEntry(earlier.id, signal),
  ]);
  const context = fromPack(now);
  if (then === undefined || earlier === undefined) return context;
  return { ...context, previous: changeBetween(earlier.id, fromPack(then).messages, context.messages) };
}

/** Oldest first, from the last time that the history was cleared. */
async function entriesBefore({ session_id, position }: Row, signal: AbortSignal): Promise<readonly Row[]> {
  if (session_id === "") return [];
  const { entries } = await sessionEntries(session_id, { order: "desc", after: position, limit: BEFORE }, signal);
  const cleared = entries.findIndex(({ kind }) => kind === "clear");
  return (cleared === -1 ? entries : entries.slice(0, cleared)).toReversed();
}

function fromPack(entry: Whole): Context {
  if (!("context_pack" in entry)) return { ...EMPTY, exact: false };
  const { context_pack, memories_used, chunks_used, prompt } = entry;
  const { messages, system, ...rest } = context_pack as { readonly [name: string]: unknown };
  const isExact = Array.isArray(messages);
  return {
    exact: isExact,
    messages: isExact ? (messages as readonly GivenMessage[]) : [{ role: "user", content: prompt }],
    system: typeof system === "string" ? system : "",
    rest,
    memories: memories_used,
    chunks: chunks_used,
  };
}

const EMPTY: Context = { exact: false, messages: [], system: "", rest: {}, memories: [], chunks: [] };

function fromSession(entry: Row, before: readonly Row[]): Context {
  const withdrawn = new Set(before.flatMap((row) => (row.kind === "withdrawal" ? [row.withdraws] : [])));
  const said = before.flatMap((row) => (row.kind === "message" && !withdrawn.has(row.position) ? [row] : []));
  const messages = said.map((row) => ({ role: speakerOf(row), content: row.content, entry_id: row.id }));
  const answered = said.findLastIndex((row) => speakerOf(row) === "assistant");
  const earlier = said[answered];
  const context = { ...EMPTY, messages };
  if (earlier === undefined || earlier.id === entry.id) return context;
  return { ...context, previous: changeBetween(earlier.id, messages.slice(0, answered), messages) };
}

function changeBetween(entry_id: string, then: readonly GivenMessage[], now: readonly GivenMessage[]): Change {
  const left = then.map(nameOf);
  const added = new Set<number>();
  for (const [at, message] of now.entries()) {
    const found = left.indexOf(nameOf(message));
    if (found === -1) added.add(at);
    else left[found] = undefined;
  }
  const removed = then.filter((_, at) => left[at] !== undefined);
  return { entry_id, kept: now.length - added.size, added, removed };
}

/** Messages that say the same are the same. */
function nameOf(message: GivenMessage): string | undefined {
  return message.entry_id ?? `${message.role} ${messageText(message)}`;
}
