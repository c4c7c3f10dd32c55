// Entries that name others: responses and feedback inherit the labels of what they name, and a withdrawal must name a
// message of its own session. Checked for every way of recording.

import { parseBodyText } from "../../model/body.js";
import { idClaim } from "../../model/claims.js";
import { isMemoryKind } from "../../model/entry.js";
import { isPositionText } from "../../model/ids.js";
import type { JsonObject, JsonValue } from "../../model/json.js";
import { notFound, Rejection, reject } from "../../model/rejection.js";
import type { TimeSlice } from "../../model/scheduling.js";
import type { EntryLog, StoredBody } from "../port.js";
import type { Draft } from "./draft.js";

const LABELS = ["session_id", "project", "client", "user_id", "tags"] as const;

/** What is needed of a named entry. */
interface NamedEntry {
  readonly kind: string;
  readonly labels: JsonObject;
  /** For an interaction: whether it already has a response or an error. */
  readonly isAnswered: boolean;
}

/** The field that names the other entry, by kind. */
const idFields: { readonly [kind: string]: string } = { response: "interaction_id", feedback: "entry_id" };

/** Whether entries of this kind need lookups before they are stored. */
export function namesOthers(kind: string): boolean {
  return Object.hasOwn(idFields, kind) || kind === "withdrawal";
}

/** Fills in inherited labels; returns a rejection for the first draft that names no suitable entry. */
export async function resolveNamed(drafts: Draft[], log: EntryLog, slice: TimeSlice): Promise<Rejection | undefined> {
  const entriesById = await readById(drafts, log, slice);
  const messages = await readMessages(drafts, log, slice);
  for (const [index, draft] of drafts.entries()) {
    if (slice.isOver) await slice.next();
    const resolved = resolve(draft, entriesById, messages);
    if (resolved instanceof Rejection) {
      // A recorded id is acknowledged even if what it names was erased since.
      if (draft.id !== undefined && (await isTaken(draft.id, log))) continue;
      return resolved.at(index);
    }
    drafts[index] = resolved;
    if (resolved.id !== undefined) entriesById.set(resolved.id, toNamed(resolved.kind, resolved.body as JsonObject));
  }
  return undefined;
}

function resolve(
  draft: Draft,
  entriesById: ReadonlyMap<string, NamedEntry>,
  messages: ReadonlyMap<number, NamedEntry>,
): Draft | Rejection {
  if (draft.kind === "withdrawal") {
    const position = draft.body.withdraws as number;
    const isOwn = messages.get(position)?.labels.session_id === draft.body.session_id;
    return isOwn ? draft : notItsMessage(position);
  }
  const field = idFields[draft.kind];
  if (field === undefined) return draft;
  const id = draft.body[field] as string;
  const named = entriesById.get(id);
  if (draft.kind === "feedback") return named === undefined ? entryNotFound(id) : withLabels(draft, named);
  if (named?.kind !== "interaction") return interactionNotFound(id);
  return named.isAnswered ? alreadyCompleted(id) : withLabels(draft, named);
}

/** Labels of the named entry replace the caller's. */
function withLabels(draft: Draft, { labels }: NamedEntry): Draft {
  const { created_at } = draft.body;
  const own = Object.entries(draft.body).filter(([name]) => name !== "created_at" && !isLabel(name));
  const time = created_at === undefined ? {} : { created_at };
  return { ...draft, body: { ...time, ...labels, ...Object.fromEntries(own) } };
}

async function readById(drafts: readonly Draft[], log: EntryLog, slice: TimeSlice): Promise<Map<string, NamedEntry>> {
  const named = drafts.flatMap(({ kind, body }) => {
    const field = idFields[kind];
    return field === undefined ? [] : [body[field] as string];
  });
  const ids = [...new Set(named)];
  const idByPosition = new Map<number, string>();
  for (let used = 0; used < ids.length; used += READ_ENTRIES) {
    const found = await log.find(ids.slice(used, used + READ_ENTRIES).map(idClaim));
    for (const [at, position] of found.entries()) {
      if (position !== undefined) idByPosition.set(position, ids[used + at] as string);
    }
    if (slice.isOver) await slice.next();
  }
  const entriesById = new Map<string, NamedEntry>();
  for await (const { position, kind, body } of readEntries([...idByPosition.keys()], log, slice)) {
    entriesById.set(idByPosition.get(position) as string, toNamed(kind, body));
  }
  return entriesById;
}

/** The messages that withdrawals name, by position. */
async function readMessages(
  drafts: readonly Draft[],
  log: EntryLog,
  slice: TimeSlice,
): Promise<Map<number, NamedEntry>> {
  const named = drafts.flatMap(({ kind, body }) => (kind === "withdrawal" ? [body.withdraws as number] : []));
  const messages = new Map<number, NamedEntry>();
  for await (const { position, kind, body } of readEntries([...new Set(named)], log, slice)) {
    if (kind === "message") messages.set(position, toNamed(kind, body));
  }
  return messages;
}

async function* readEntries(
  positions: readonly number[],
  log: EntryLog,
  slice: TimeSlice,
): AsyncGenerator<{ readonly position: number; readonly kind: string; readonly body: JsonObject }> {
  for await (const stored of bodiesAt(log, positions, slice)) {
    if (stored === undefined) continue;
    const { position, kind, body, flaw } = stored;
    // Recording continues next to an altered entry, whose labels are unknown.
    if (flaw !== undefined) yield { position, kind, body: {} };
    else if (body !== undefined) yield { position, kind, body: parseBodyText(position, body) };
  }
}

/** Only what is needed; the rest may be large. */
function toNamed(kind: string, body: JsonObject): NamedEntry {
  const labels: JsonObject = Object.fromEntries(
    LABELS.flatMap((name) => {
      const value = body[name];
      return value !== undefined && (isText(value) || isTags(kind, name, value)) ? [[name, value]] : [];
    }),
  );
  return { kind, labels, isAnswered: isText(body.response) || isText(body.error) };
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

async function isTaken(id: string, log: EntryLog): Promise<boolean> {
  const [position] = await log.find([idClaim(id)]);
  return position !== undefined;
}

function interactionNotFound(id: string): Rejection {
  const hint = "Record the interaction first, then complete it.";
  return notFound("interaction", id, { field: "interaction_id", hint });
}

export function alreadyCompleted(id: string): Rejection {
  return reject({
    code: "already_completed",
    field: "interaction_id",
    message: `interaction ${id} already has a response; nothing was stored`,
  });
}

function entryNotFound(id: string): Rejection {
  return notFound("entry", id, {
    field: "entry_id",
    orElse: ", or it was forgotten",
    hint: isPositionText(id)
      ? "This is a position. Get the entry at that position to see its id."
      : "Record the entry first, then the feedback.",
  });
}

function notItsMessage(position: number): Rejection {
  return reject({
    code: "field_invalid",
    field: "withdraws",
    message: `position ${position} is not a message of this session`,
    hint: "Give the position of one of its messages, as its receipt has it.",
  });
}

/** Read in small portions, so large batches use little memory and block others only briefly. */
const READ_ENTRIES = 100;
const READ_BYTES = 4 * 1024 * 1024;

/** The bodies at these positions, in order. */
export async function* bodiesAt(
  log: Pick<EntryLog, "getBodies">,
  positions: readonly number[],
  slice: TimeSlice,
): AsyncGenerator<StoredBody | undefined> {
  for (let used = 0; used < positions.length; ) {
    const stored = await log.getBodies(positions.slice(used, used + READ_ENTRIES), READ_BYTES);
    used += stored.length;
    for (const one of stored) {
      yield one;
      if (slice.isOver) await slice.next();
    }
  }
}

function isLabel(name: string): boolean {
  return (LABELS as readonly string[]).includes(name);
}

/** A memory's tags are its own, and no labels. */
function isTags(kind: string, name: string, value: JsonValue): boolean {
  return name === "tags" && Array.isArray(value) && !isMemoryKind(kind);
}
