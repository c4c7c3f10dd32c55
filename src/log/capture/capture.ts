// Capture: parses input, appends it whole or not at all, and recognises what was recorded before.

import { Type } from "typebox";
import { fillFields, parseBodyText, type StoredParts } from "../../model/body.js";
import { completionClaim, idClaim } from "../../model/claims.js";
import type { CaptureKind } from "../../model/entry.js";
import { itemAt } from "../../model/item-at.js";
import { isJsonObject, type JsonObject, jsonEquals } from "../../model/json.js";
import { limits } from "../../model/limits.js";
import type { Mask } from "../../model/mask.js";
import { Rejection, reject, requestTooWide } from "../../model/rejection.js";
import { mapInSlices, TimeSlice } from "../../model/scheduling.js";
import { type AnswerOf, count, named, oneOf, text, time } from "../../model/schema.js";
import type { EntryLog, LogEntry, Placement, StoredBody, TakenClaim } from "../port.js";
import { type Draft, type GivenDraft, type Packed, pack, parseDraft, sharedRoom, type WriteContext } from "./draft.js";
import type { GroupCommit } from "./group-commit.js";
import { alreadyCompleted, bodiesAt, namesOthers, resolveNamed } from "./named-entries.js";
import type { RecordedDraft, RecordedHooks } from "./recorded-hooks.js";

/** A captured item with the stored entry, for callers that answer with it. */
export interface CapturedItem extends Captured {
  readonly stored?: StoredParts;
}

export class Capture {
  readonly #log: EntryLog;
  readonly #commit: GroupCommit;
  readonly #writeContext: WriteContext;
  readonly #redact: Mask | undefined;
  readonly #recorded: RecordedHooks | undefined;

  constructor(parts: {
    readonly log: EntryLog;
    readonly commit: GroupCommit;
    readonly writeContext: WriteContext;
    /** Masks input before anything else sees it; without it, entries are kept as given. */
    readonly redact?: Mask | undefined;
    /** Hooks to call with what was recorded. */
    readonly recorded?: RecordedHooks | undefined;
  }) {
    this.#log = parts.log;
    this.#redact = parts.redact;
    this.#commit = parts.commit;
    this.#writeContext = parts.writeContext;
    this.#recorded = parts.recorded;
  }

  /** Records one entry, or a list: all or none. */
  async record(given: unknown): Promise<readonly CapturedItem[] | Rejection> {
    if (Array.isArray(given)) {
      return given.length === 0 ? entriesMissing() : this.append(given, { values_max: limits.request_values });
    }
    const item = await this.appendOne(given);
    return item instanceof Rejection ? item : [item];
  }

  /** One entry, the common case, without the bookkeeping of a batch. */
  async appendOne(input: unknown, kindWhenAbsent?: CaptureKind): Promise<CapturedItem | Rejection> {
    const slice = new TimeSlice();
    const draft = this.#parse(input, kindWhenAbsent);
    if (draft instanceof Rejection) return draft;
    if (slice.isOver) await slice.next();
    if (!namesOthers(draft.kind)) {
      const packed = pack(draft, this.#writeContext);
      if (packed instanceof Rejection) return packed;
      const outcome = await this.#commit.append([packed.entry]);
      if ("placed" in outcome) {
        this.#tell([packed], outcome.placed);
        return recorded(packed, itemAt(outcome.placed, 0));
      }
    }
    const items = await this.append([input], { kindWhenAbsent });
    // There was no list, so no item to point at.
    return items instanceof Rejection ? items.whole() : itemAt(items, 0);
  }

  /** Appends all entries, or none and says which one was refused. Large batches yield to other work on this thread. */
  async append(
    inputs: readonly unknown[],
    options: { readonly kindWhenAbsent?: CaptureKind | undefined; readonly values_max?: number } = {},
  ): Promise<readonly CapturedItem[] | Rejection> {
    const slice = new TimeSlice();
    const drafts = await this.#parseAll([...inputs], options, slice);
    if (drafts instanceof Rejection) return drafts;
    if (drafts.some(({ kind }) => namesOthers(kind))) {
      const refused = await resolveNamed(drafts, this.#log, slice);
      if (refused !== undefined) return refused;
    }
    const packed: Packed[] = [];
    for (const [index, draft] of drafts.entries()) {
      const item = pack(draft, this.#writeContext);
      if (item instanceof Rejection) return item.at(index);
      packed.push(item);
      if (slice.isOver) await slice.next();
    }
    return this.#settle(packed, slice);
  }

  /**
   * Prepares entries that are probably new and need no lookups. The returned function appends them, all or none, and
   * returns their positions; undefined, from either, means that they have to be checked one by one.
   */
  prepare(inputs: readonly unknown[]): (() => Promise<readonly number[] | undefined>) | undefined {
    const unit: LogEntry[] = [];
    const all: Packed[] = [];
    const room = sharedRoom();
    for (const input of inputs) {
      const draft = this.#parse(input, undefined);
      const packed =
        draft instanceof Rejection || namesOthers(draft.kind) ? undefined : pack(draft, this.#writeContext, room);
      if (packed === undefined || packed instanceof Rejection) return undefined;
      unit.push(packed.entry);
      if (this.#recorded !== undefined) all.push(packed);
    }
    return async () => {
      const outcome = await this.#commit.append(unit);
      if (!("placed" in outcome)) return undefined;
      this.#tell(all, outcome.placed);
      return outcome.placed.map(({ position }) => position);
    };
  }

  #tell(packed: readonly Packed[], placed: readonly Placement[]): void {
    this.#recorded?.tell(() =>
      packed.map(({ draft, id, created_at }, at): RecordedDraft => {
        const { position } = itemAt(placed, at);
        return { draft, placed: { id, position, created_at } };
      }),
    );
  }

  async #parseAll(
    inputs: readonly unknown[],
    { kindWhenAbsent, values_max = Number.POSITIVE_INFINITY }: Parameters<Capture["append"]>[1] & object,
    slice: TimeSlice,
  ): Promise<Draft[] | Rejection> {
    const drafts: Draft[] = [];
    let values = 0;
    for (const [index, input] of inputs.entries()) {
      const draft = this.#parse(input, kindWhenAbsent);
      if (draft instanceof Rejection) return draft.at(index);
      values += draft.values;
      if (values > values_max) return requestTooWide();
      drafts.push(draft);
      if (slice.isOver) await slice.next();
    }
    return drafts;
  }

  #parse(input: unknown, kindWhenAbsent: CaptureKind | undefined): GivenDraft | Rejection {
    const draft = parseDraft(input, kindWhenAbsent);
    if (this.#redact === undefined || draft instanceof Rejection) return draft;
    return { ...draft, body: this.#redact.entry(draft.body) };
  }

  /**
   * Appends, and compares entries whose claims are taken: the same content is acknowledged again, other content is a
   * conflict. Claims are never released, so taken ones stay taken and the rest is retried.
   */
  async #settle(packed: readonly Packed[], slice: TimeSlice): Promise<readonly CapturedItem[] | Rejection> {
    const known = new Map<number, CapturedItem>();
    const duplicates = await findDuplicates(packed, slice);
    if (duplicates instanceof Rejection) return duplicates;
    for (;;) {
      const open = [...packed.keys()].filter((index) => !known.has(index) && !duplicates.has(index));
      if (open.length === 0) break;
      const outcome = await this.#commit.append(open.map((index) => itemAt(packed, index).entry));
      if ("taken" in outcome) {
        const refused = await this.#recognise(outcome.taken, { open, packed, known, slice });
        if (refused !== undefined) return refused;
        continue;
      }
      this.#tell(
        open.map((index) => itemAt(packed, index)),
        outcome.placed,
      );
      for (const [order, index] of open.entries()) {
        known.set(index, recorded(itemAt(packed, index), itemAt(outcome.placed, order)));
        if (slice.isOver) await slice.next();
      }
    }
    const toItem = (own: Packed, index: number): CapturedItem => {
      const duplicate = duplicates.get(index);
      if (duplicate === undefined) return known.get(index) as CapturedItem;
      const { unknown_fields: _, ...same } = known.get(duplicate) as CapturedItem;
      return { ...same, ...unknownIn(own), status: "already_recorded" as const };
    };
    return mapInSlices(packed, toItem, slice);
  }

  async #recognise(
    taken: readonly TakenClaim[],
    batch: {
      readonly open: readonly number[];
      readonly packed: readonly Packed[];
      readonly known: Map<number, CapturedItem>;
      readonly slice: TimeSlice;
    },
  ): Promise<Rejection | undefined> {
    const { open, packed, known, slice } = batch;
    let order = 0;
    const positions = taken.map((claim) => claim.position);
    for await (const stored of bodiesAt(this.#log, positions, slice)) {
      const { item, claim } = itemAt(taken, order);
      order += 1;
      const index = itemAt(open, item);
      if (known.has(index)) continue;
      const mine = itemAt(packed, index);
      const found = stored as StoredBody;
      // The content of an erased response is unknown: without its id, this is another one.
      const isOther = found.body === undefined && claim !== idClaim(mine.id);
      const same = isOther ? undefined : sameContent(found, mine);
      if (same === undefined) return conflict(claim, mine).at(index);
      known.set(index, same);
    }
    return undefined;
  }
}

function recorded(packed: Packed, placement: Placement): CapturedItem {
  const { id, created_at, entry } = packed;
  const { kind, recorded_at, recorded_by, body } = entry;
  const { position, hash } = placement;
  const stored = { position, kind, recorded_at, recorded_by, hash, body };
  return { status: "recorded", id, position, created_at, ...unknownIn(packed), stored };
}

/** An acknowledgement if the stored entry has the same content. The id of an erased entry stays taken. */
function sameContent(stored: StoredBody, packed: Packed): CapturedItem | undefined {
  const { position, recorded_at } = stored;
  const again = { status: "already_recorded", position, ...unknownIn(packed) } as const;
  // An altered entry is not what this caller gave.
  if (stored.flaw !== undefined) return undefined;
  if (stored.body === undefined) return { ...again, id: packed.id, created_at: recorded_at };
  if (stored.kind !== packed.draft.kind) return undefined;
  // Repeats usually have the same bytes, and need no comparison.
  if (stored.body === textOf(packed)) {
    const { created_at = recorded_at } = packed.draft.body;
    return { ...again, id: packed.id, created_at: created_at as string };
  }
  const body = parseBodyText(position, stored.body);
  if (!bodiesEqual(stored.kind, body, packed.draft)) return undefined;
  const { created_at = recorded_at } = body;
  return { ...again, id: body.id as string, created_at: created_at as string };
}

function unknownIn({ draft: { unknown_fields } }: Packed): Pick<Captured, "unknown_fields"> {
  return unknown_fields === undefined ? {} : { unknown_fields };
}

function textOf({ entry: { body } }: Packed): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
}

/** Compares what callers gave, without ids and times that were added. */
function bodiesEqual(kind: string, stored: JsonObject, draft: Draft): boolean {
  const given = plain(draft.body);
  if (draft.id !== undefined && draft.id !== stored.id) return false;
  for (const name of ["created_at", "session_id", "project", "client"]) {
    if (stored[name] !== given[name]) return false;
  }
  return jsonEquals(fillFields(kind, stored), fillFields(kind, given));
}

/** The body as it reads back: dates and the like have become JSON. */
function plain(body: object): JsonObject {
  const value: unknown = JSON.parse(JSON.stringify(body));
  return isJsonObject(value) ? value : {};
}

/** Items that repeat an earlier item's claim, each with the index of that item. */
async function findDuplicates(packed: readonly Packed[], slice: TimeSlice): Promise<Map<number, number> | Rejection> {
  const duplicates = new Map<number, number>();
  if (packed.length < 2) return duplicates;
  const firstByClaim = new Map<string, number>();
  for (const [index, item] of packed.entries()) {
    if (slice.isOver) await slice.next();
    for (const claim of item.entry.claims) {
      const first = firstByClaim.get(claim);
      if (first === undefined) {
        firstByClaim.set(claim, index);
        continue;
      }
      if (!areDuplicates(itemAt(packed, first), item)) return conflict(claim, item).at(index);
      duplicates.set(index, first);
    }
  }
  return duplicates;
}

function areDuplicates(first: Packed, second: Packed): boolean {
  if (first.draft.kind !== second.draft.kind) return false;
  if (Buffer.compare(first.entry.body, second.entry.body) === 0) return true;
  return bodiesEqual(second.draft.kind, { ...plain(first.draft.body), id: first.id }, second.draft);
}

function conflict(claim: string, packed: Packed): Rejection {
  if (packed.draft.kind === "response" && claim === completionClaim(packed.draft.body.interaction_id as string)) {
    return alreadyCompleted(packed.draft.body.interaction_id as string);
  }
  return reject({
    code: "id_conflict",
    field: "id",
    message: `id ${packed.id} was used before with other content; nothing was stored`,
    hint: "Give every entry its own id, or leave id out.",
  });
}

export function entriesMissing(): Rejection {
  return reject({ code: "entries_missing", message: "no entry was given", hint: "Give one entry or more." });
}

const status = oneOf(["recorded", "already_recorded"]);

export type Captured = AnswerOf<typeof receipt>;
export const receipt = named(
  "Receipt",
  Type.Object({
    status,
    id: text,
    position: count,
    created_at: time,
    unknown_fields: Type.Optional(
      Type.Array(text, {
        description: "Fields that the kind does not have, kept in `extra`; absent if there are none.",
      }),
    ),
  }),
);

export type AppendResult = AnswerOf<typeof appendResult>;
export const appendResult = named("EntriesRecorded", Type.Object({ status, entries: Type.Array(receipt) }));

export async function toAppendResult(items: readonly CapturedItem[]): Promise<AppendResult> {
  const isNew = items.some((item) => item.status === "recorded");
  return {
    status: isNew ? "recorded" : "already_recorded",
    entries: await mapInSlices(items, toReceipt),
  };
}

export function toReceipt({ status, id, position, created_at, unknown_fields }: CapturedItem): Captured {
  return { status, id, created_at, position, ...(unknown_fields === undefined ? {} : { unknown_fields }) };
}

export function notAnInteraction(): Rejection {
  return reject({
    code: "field_invalid",
    field: "kind",
    message: "kind must be interaction here",
    hint: "Use append() for other kinds.",
  });
}
