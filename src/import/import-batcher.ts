// Writes what importers yield into the log: in batches, each entry once, every refusal with its line.
import { type Content, contentTexts } from "../model/content.js";
import { itemAt } from "../model/item-at.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { isOwnRequest } from "../model/own-requests.js";
import { againId, type ImportedSessions, type OlderSession } from "./again.js";
import type { EntryCopy, EntryStep, ExportedMemory, ImportedEntry, ImportStep, LogState } from "./importer.js";

/** Large enough that one fsync serves many entries, small enough to be short-lived in memory. */
const BATCH_STEPS_MAX = 250;
const BATCH_BYTES_MAX = 1024 * 1024;

const OWN_MAX = 10_000;

/** Proposes a memory of another log. A text is the reason why it is dropped. */
export type ProposeMemory = (memory: ExportedMemory) => Promise<{ readonly is_new: boolean } | string>;

type AppendOutcome = { readonly position: number; readonly isNew: boolean } | { readonly reason: string };

/** The log as an import sees it. */
export interface ImportTarget extends LogState {
  /** Announces a large import, so the log can prepare while the first part is read. */
  hintBulk?(): void;
  /** Where entries with these ids are. */
  find(ids: readonly string[]): Promise<readonly (number | undefined)[]>;
  /** What sessions there are; undefined where imports go to a log alone. */
  readonly sessions?: ImportedSessions;
  /** The body of the entry at this position; undefined if it was erased. */
  bodyAt(position: number): Promise<Uint8Array | undefined>;
  /**
   * Prepares entries with distinct ids that are probably new. The returned function appends them in order, all or none,
   * and returns their positions; undefined, from either, means that they have to be checked one by one.
   */
  prepare(entries: readonly ImportedEntry[]): (() => Promise<readonly number[] | undefined>) | undefined;
  /** Appends in order, each entry with its own outcome. */
  append(entries: readonly ImportedEntry[]): Promise<readonly AppendOutcome[]>;
  /** Restores entries at their old positions, all or none. */
  restore(copy: { readonly log_id: string; readonly entries: readonly EntryCopy[] }): Promise<boolean>;
}

/** A step that keeps its place among the others. */
type OrderedStep =
  | Extract<ImportStep, { readonly entry: unknown } | { readonly memory: unknown }>
  | CopyStep
  | DeferredStep;
type DeferredStep = Extract<ImportStep, { readonly deferred: unknown }>;
type CopyStep = Extract<ImportStep, { readonly copy: unknown }>;

/** What was read, added and rejected of one source. */
export class FileTally {
  /** How much of the source was read; the reader counts it. */
  bytes = 0;
  added = 0;
  existing = 0;
  readonly sessions = new Set<string>();
  /** Called for each line that was left out. */
  readonly reject: (line: number, reason: string) => void;

  constructor(reject: (line: number, reason: string) => void) {
    this.reject = reject;
  }

  note(session_id: unknown, isNew: boolean): void {
    if (isNew) this.added += 1;
    else this.existing += 1;
    if (typeof session_id === "string" && session_id !== "") this.sessions.add(session_id);
  }
}

/** A step with the tally of its source. */
interface TalliedStep<S> {
  readonly step: S;
  readonly tally: FileTally;
}

/** Takes one source after another. A batch may contain entries of many: small files need no fsync of their own. */
export class ImportBatcher {
  readonly #target: ImportTarget;
  readonly #propose: ProposeMemory | undefined;
  #tally: FileTally;
  #entries: TalliedStep<EntryStep>[] = [];
  #copies: TalliedStep<CopyStep>[] = [];
  #copiedBytes = 0;
  /** Sessions in which this program asked a model. */
  readonly #own = new Set<string>();
  /** Bytes read of earlier sources. */
  #bytesBefore = 0;
  #flushedAt = 0;
  /** Resolves once all started batches are written. */
  #writing: Promise<void> = Promise.resolve();
  /** Resolves once all but the last of them are written. */
  #writingBefore: Promise<void> = Promise.resolve();
  /** Whether everything in the last batch that was looked up was new. */
  #expectsNew = false;
  /** What an older version brought of each session that has entries already. */
  readonly #older = new Map<string, OlderSession | undefined>();

  constructor(parts: {
    readonly target: ImportTarget;
    readonly tally: FileTally;
    /** Proposes a memory of another log; a text is the reason why it is dropped. Without it none is proposed. */
    readonly propose?: ProposeMemory | undefined;
  }) {
    this.#target = parts.target;
    this.#tally = parts.tally;
    this.#propose = parts.propose;
  }

  /** Later steps belong to another source. Its tally is complete after a flush. */
  beginFile(tally: FileTally): void {
    this.#bytesBefore += this.#tally.bytes;
    this.#tally = tally;
  }

  /** Takes everything an importer yields. */
  async takeAll(steps: AsyncIterable<ImportStep | Iterable<ImportStep>>): Promise<void> {
    for await (const found of steps) {
      for (const step of Symbol.iterator in found ? found : [found]) {
        const waiting = this.take(step);
        if (waiting !== undefined) await waiting;
      }
    }
  }

  /** Takes a step. Returns a promise only if there is something to wait for, since there are many steps. */
  take(step: ImportStep): Promise<void> | undefined {
    return this.#take(step, this.#tally);
  }

  #take(step: ImportStep, tally: FileTally): Promise<void> | undefined {
    if ("entry" in step && this.#isOwn(step.entry)) return undefined;
    if ("reason" in step) tally.reject(step.line, step.reason);
    else if ("present" in step) tally.note(step.session_id, false);
    else if ("entry" in step && this.#copies.length === 0) {
      this.#entries.push({ step, tally });
      if (this.#isFull()) return this.#startWrite();
    } else return this.#takeInOrder(step, tally);
    return undefined;
  }

  /** Whether an entry is of a session in which this program asked a model: what waits of it is dropped, too. */
  #isOwn({ session_id, kind, role, content }: { readonly [field: string]: unknown }): boolean {
    if (typeof session_id !== "string" || session_id === "") return false;
    if (this.#own.has(session_id)) return true;
    if (kind !== "message" || role !== "user" || !contentTexts(content as Content).some(isOwnRequest)) return false;
    if (this.#own.size >= OWN_MAX) this.#own.clear();
    this.#own.add(session_id);
    this.#entries = this.#entries.filter(({ step }) => step.entry.session_id !== session_id);
    return true;
  }

  async #takeInOrder(step: OrderedStep, tally: FileTally): Promise<void> {
    if ("memory" in step) {
      // Its evidence is looked up in what was recorded.
      await this.flush();
      const outcome = await this.#propose?.(step.memory);
      if (typeof outcome === "string") tally.reject(step.line, outcome);
      else if (outcome !== undefined) tally.note("", outcome.is_new);
    } else if ("entry" in step) {
      await this.#flushCopies();
      this.#entries.push({ step, tally });
    } else if ("copy" in step) {
      await this.#flushEntries();
      this.#copies.push({ step, tally });
      this.#copiedBytes += step.copy.body?.byteLength ?? 0;
      if (this.#copies.length >= BATCH_STEPS_MAX || this.#copiedBytes >= BATCH_BYTES_MAX) await this.#flushCopies();
    } else await this.#takeDeferred(step, tally);
  }

  async flush(): Promise<void> {
    await this.#flushCopies();
    await this.#flushEntries();
  }

  #isFull(): boolean {
    return this.#entries.length >= BATCH_STEPS_MAX || this.#bytes - this.#flushedAt >= BATCH_BYTES_MAX;
  }

  get #bytes(): number {
    return this.#bytesBefore + this.#tally.bytes;
  }

  async #takeDeferred(step: DeferredStep, tally: FileTally): Promise<void> {
    if (step.looks_for_others !== true) await this.flush();
    const { line } = step;
    const made = await step.deferred(
      (id) => this.#find(id),
      (position) => this.#bodyAt(position),
    );
    if (typeof made === "string") tally.reject(line, made);
    else for (const entry of made) await this.#take({ line, entry }, tally);
  }

  async #flushEntries(): Promise<void> {
    await this.#startWrite();
    await this.#writing;
  }

  /**
   * Starts to write the batch. One batch may wait while the one before it is written, so short delays of reading or
   * writing do not stall the other; at most three batches are in memory.
   */
  async #startWrite(): Promise<void> {
    const before = this.#writing;
    const steps = this.#entries;
    const due = this.#writingBefore;
    if (steps.length > 0) {
      this.#entries = [];
      this.#flushedAt = this.#bytes;
      this.#writingBefore = before;
      // Prepared while the batch before it is still being written.
      const append =
        this.#expectsNew && areDistinct(steps) ? this.#target.prepare(steps.map(({ step }) => step.entry)) : undefined;
      this.#writing = before.then(() => this.#write(steps, append));
      // The next caller that awaits it gets its failure.
      this.#writing.catch(() => undefined);
    }
    await due;
  }

  /** Entries after new ones are usually new; if not, nothing was appended yet. */
  async #write(steps: readonly TalliedStep<EntryStep>[], append: ReturnType<ImportTarget["prepare"]>): Promise<void> {
    const positions = await append?.();
    if (positions === undefined) await this.#writeDeduplicated(steps);
    else for (const [at, owned] of steps.entries()) settle(owned, { position: itemAt(positions, at), isNew: true });
  }

  async #writeDeduplicated(steps: readonly TalliedStep<EntryStep>[]): Promise<void> {
    const found = [...(await this.#target.find(steps.map(({ step }) => step.entry.id)))];
    const fresh = new Map<string, TalliedStep<EntryStep>>();
    const present: (TalliedStep<EntryStep> & { readonly position: number | undefined })[] = [];
    await this.#lookUpOlder(steps.filter((_, index) => found[index] !== undefined));
    const replaced = [...steps.keys()].filter((index) => this.#isReplaced(itemAt(steps, index).step.entry));
    const again = await this.#target.find(replaced.map((index) => againId(itemAt(steps, index).step.entry.id)));
    for (const [nth, index] of replaced.entries()) found[index] = again[nth] ?? found[index];
    for (const [index, owned] of steps.entries()) {
      const { id } = owned.step.entry;
      if (found[index] === undefined && this.#isDerivedOtherwise(owned.step.entry)) {
        owned.tally.note(owned.step.entry.session_id, false);
        continue;
      }
      if (found[index] === undefined && !fresh.has(id)) {
        fresh.set(id, owned);
        continue;
      }
      const resolved = await this.#resolve(owned, fresh, found[index]);
      if (resolved !== undefined) present.push(resolved);
    }
    this.#expectsNew = present.length === 0;
    const added = [...fresh.values()];
    const outcomes = added.length === 0 ? [] : await this.#target.append(added.map(({ step }) => step.entry));
    const outcomeById = new Map(added.map(({ step }, index) => [step.entry.id, itemAt(outcomes, index)]));
    const late = await this.#idsTakenMeanwhile(added, outcomes);
    const isLate = ({ step }: TalliedStep<EntryStep>): boolean => late.has(step.entry.id);
    for (const [index, owned] of added.entries()) if (!isLate(owned)) settle(owned, itemAt(outcomes, index));
    for (const { position, ...owned } of present) {
      const outcome = position === undefined ? outcomeById.get(owned.step.entry.id) : { position, isNew: false };
      if (!isLate(owned)) settle(owned, asExisting(outcome as AppendOutcome));
    }
    if (late.size > 0) await this.#writeDeduplicated([...added, ...present].filter(isLate));
  }

  /** Which sessions of entries that exist an older version brought. */
  async #lookUpOlder(existing: readonly TalliedStep<EntryStep>[]): Promise<void> {
    const { sessions } = this.#target;
    if (sessions === undefined) return;
    for (const { step } of existing) {
      const { session_id } = step.entry;
      if (typeof session_id !== "string" || session_id === "" || this.#older.has(session_id)) continue;
      // One that is being derived again is complete only at the end.
      if (!isDerivedAgain(step.entry)) this.#older.set(session_id, await sessions.older(session_id));
    }
  }

  #isReplaced(entry: ImportedEntry): boolean {
    const older = this.#older.get(String(entry.session_id));
    return older !== undefined && "is_replaced" in older && !isDerivedAgain(entry);
  }

  /**
   * Whether what this entry says is recorded in another way: by an older version, after which it would come too late.
   */
  #isDerivedOtherwise(entry: ImportedEntry): boolean {
    const older = this.#older.get(String(entry.session_id));
    if (older === undefined || isDerivedAgain(entry)) return false;
    if ("is_replaced" in older) return false;
    return typeof entry.created_at !== "string" || Date.parse(entry.created_at) <= older.through_ms;
  }

  /** Ids that were refused because another program recorded them after they were looked up. */
  async #idsTakenMeanwhile(
    owned: readonly TalliedStep<EntryStep>[],
    outcomes: readonly AppendOutcome[],
  ): Promise<ReadonlySet<string>> {
    const refused = owned.filter((_, index) => "reason" in itemAt(outcomes, index));
    const ids = refused.map(({ step }) => step.entry.id);
    const positions = ids.length === 0 ? [] : await this.#target.find(ids);
    return new Set(ids.filter((_, index) => positions[index] !== undefined));
  }

  /**
   * Adds a step to the new ones, or returns what exists under its id, in this batch or in the log. This is decided
   * before anything of the batch is appended, so the rest of a message keeps its place.
   */
  async #resolve(
    { step: first, tally }: TalliedStep<EntryStep>,
    fresh: Map<string, TalliedStep<EntryStep>>,
    found: number | undefined,
  ): Promise<(TalliedStep<EntryStep> & { readonly position: number | undefined }) | undefined> {
    let step = first;
    let position = found;
    for (;;) {
      const duplicate = fresh.get(step.entry.id);
      if (duplicate === undefined && position === undefined) {
        fresh.set(step.entry.id, { step, tally });
        return undefined;
      }
      const read = async () =>
        duplicate === undefined ? this.#bodyAt(position as number) : bodyOf(duplicate.step.entry);
      const stored = step.onExisting === undefined ? undefined : await read();
      const next = await step.onExisting?.(stored, (id) => this.#find(id));
      if (next === undefined) return { step, tally, position: duplicate === undefined ? position : undefined };
      if ("reason" in next) {
        tally.reject(next.line, next.reason);
        return undefined;
      }
      step = next;
      position = await this.#find(step.entry.id);
    }
  }

  /** Where an entry is; of a session that was derived again, where it is since. */
  async #find(id: string): Promise<number | undefined> {
    const [again, position] = await this.#target.find([againId(id), id]);
    return again ?? position;
  }

  async #bodyAt(position: number): Promise<JsonObject | undefined> {
    const bytes = await this.#target.bodyAt(position);
    return bytes === undefined ? undefined : (JSON.parse(Buffer.from(bytes).toString("utf8")) as JsonObject);
  }

  async #flushCopies(): Promise<void> {
    const steps = this.#copies;
    const [first] = steps;
    if (first === undefined) return;
    this.#copies = [];
    this.#copiedBytes = 0;
    const entries = steps.map(({ step }) => step.copy);
    const isTaken = await this.#target.restore({ log_id: first.step.log_id, entries });
    for (const { step, tally } of steps) {
      if (!isTaken) {
        await this.#take(step.onRefused(), tally);
        continue;
      }
      tally.note(step.session_id, true);
      step.onPlaced(step.copy.position);
    }
  }
}

function isDerivedAgain({ extra }: ImportedEntry): boolean {
  return isJsonObject(extra as JsonValue | undefined) && (extra as JsonObject).derivation !== undefined;
}

function settle({ step, tally }: TalliedStep<EntryStep>, outcome: AppendOutcome): void {
  if ("reason" in outcome) {
    tally.reject(step.line, outcome.reason);
    return;
  }
  tally.note(step.entry.session_id, outcome.isNew);
  step.onPlaced?.(outcome.position);
}

function areDistinct(steps: readonly TalliedStep<EntryStep>[]): boolean {
  const ids = new Set<string>();
  for (const { step } of steps) ids.add(step.entry.id);
  return ids.size === steps.length;
}

function asExisting(outcome: AppendOutcome): AppendOutcome {
  return "position" in outcome ? { ...outcome, isNew: false } : outcome;
}

/** The body as the entry will have it once stored. */
function bodyOf({ kind: _, ...body }: ImportedEntry): JsonObject {
  return body as JsonObject;
}
