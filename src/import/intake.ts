// What an importer yields on its way into the log: gathered into batches, each entry once, every refusal with its line.
import { itemAt } from "../model/item-at.js";
import type { JsonObject } from "../model/json.js";
import type { EntryCopy, EntryStep, ImportedEntry, ImportStep, LogState } from "./importer.js";

/** Large enough that one fsync serves many entries, small enough that what is held does not grow old in memory. */
const BATCH_STEPS_MAX = 250;
const BATCH_BYTES_MAX = 1024 * 1024;

type IntakeOutcome = { readonly position: number; readonly isNew: boolean } | { readonly reason: string };

/** Where entries go, as far as an import has to know it. */
export interface ImportTarget extends LogState {
  /** Word that very much will come, so that whatever has to be started for it is started while the first of it is read. */
  expectMuch?(): void;
  /** Where entries with these ids are. */
  find(ids: readonly string[]): Promise<readonly (number | undefined)[]>;
  /** The body of the entry at this position; undefined where it was erased. */
  bodyAt(position: number): Promise<Uint8Array | undefined>;
  /**
   * Makes entries with distinct ids ready that are believed to be new. What comes back appends them in order, all or none,
   * and answers with their positions; undefined, from either, means that they have to be looked at one by one.
   */
  prepare(entries: readonly ImportedEntry[]): (() => Promise<readonly number[] | undefined>) | undefined;
  /** Appends in order, each entry with an outcome of its own. */
  append(entries: readonly ImportedEntry[]): Promise<readonly IntakeOutcome[]>;
  /** Puts entries at their old places, all or none. */
  restore(copy: { readonly log_id: string; readonly entries: readonly EntryCopy[] }): Promise<boolean>;
}

type CopyStep = Extract<ImportStep, { readonly copy: unknown }>;

/** What came of one source. */
export class Account {
  /** How much of the source was read; whoever reads it counts. */
  bytes = 0;
  added = 0;
  existing = 0;
  readonly sessions = new Set<string>();
  /** Told of each line that was left out. */
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

/** A step, and the source that it belongs to. */
interface Owned<S> {
  readonly step: S;
  readonly account: Account;
}

/** Takes from one source after the other; a batch may hold entries of many, so that small ones need no sync each. */
export class Intake {
  readonly #target: ImportTarget;
  #account: Account;
  #entries: Owned<EntryStep>[] = [];
  #copies: Owned<CopyStep>[] = [];
  #copiedBytes = 0;
  /** What was read of the sources before this one. */
  #bytesBefore = 0;
  #flushedAt = 0;
  /** Resolves once all that was handed over is written. */
  #writing: Promise<void> = Promise.resolve();
  /** The same of all but the last batch. */
  #writingBefore: Promise<void> = Promise.resolve();
  /** Whether all of the last batch that was looked for was new. */
  #expectsNew = false;

  constructor(target: ImportTarget, account: Account) {
    this.#target = target;
    this.#account = account;
  }

  /** What comes from now on is another source's. Its account is whole once all was flushed. */
  turnTo(account: Account): void {
    this.#bytesBefore += this.#account.bytes;
    this.#account = account;
  }

  /** Takes all that an importer yields. */
  async takeAll(steps: AsyncIterable<ImportStep | Iterable<ImportStep>>): Promise<void> {
    for await (const found of steps) {
      for (const step of Symbol.iterator in found ? found : [found]) {
        const waiting = this.take(step);
        if (waiting !== undefined) await waiting;
      }
    }
  }

  /** Takes a step; a promise only where there is something to wait for, since there are many steps. */
  take(step: ImportStep): Promise<void> | undefined {
    return this.#take(step, this.#account);
  }

  #take(step: ImportStep, account: Account): Promise<void> | undefined {
    if ("reason" in step) account.reject(step.line, step.reason);
    else if ("present" in step) account.note(step.session_id, false);
    else if ("entry" in step && this.#copies.length === 0) {
      this.#entries.push({ step, account });
      if (this.#isFull()) return this.#handOver();
    } else return this.#takeInOrder(step, account);
    return undefined;
  }

  async #takeInOrder(
    step: Extract<ImportStep, { readonly entry: unknown } | { readonly copy: unknown } | { readonly later: unknown }>,
    account: Account,
  ): Promise<void> {
    if ("entry" in step) {
      await this.#flushCopies();
      this.#entries.push({ step, account });
    } else if ("copy" in step) {
      await this.#flushEntries();
      this.#copies.push({ step, account });
      this.#copiedBytes += step.copy.body?.byteLength ?? 0;
      if (this.#copies.length >= BATCH_STEPS_MAX || this.#copiedBytes >= BATCH_BYTES_MAX) await this.#flushCopies();
    } else await this.#takeLater(step, account);
  }

  async flush(): Promise<void> {
    await this.#flushCopies();
    await this.#flushEntries();
  }

  #isFull(): boolean {
    return this.#entries.length >= BATCH_STEPS_MAX || this.#bytes - this.#flushedAt >= BATCH_BYTES_MAX;
  }

  get #bytes(): number {
    return this.#bytesBefore + this.#account.bytes;
  }

  async #takeLater(step: Extract<ImportStep, { readonly later: unknown }>, account: Account): Promise<void> {
    await this.flush();
    const { line } = step;
    const made = await step.later(
      (id) => this.#find(id),
      (position) => this.#bodyAt(position),
    );
    if (typeof made === "string") account.reject(line, made);
    else for (const entry of made) await this.#take({ line, entry }, account);
  }

  async #flushEntries(): Promise<void> {
    await this.#handOver();
    await this.#writing;
  }

  /**
   * Begins to write what was gathered. One batch may wait while the one before it is written, so that neither side stands still
   * for a hiccup of the other; at most three are held in memory, with the one that is being gathered.
   */
  async #handOver(): Promise<void> {
    const before = this.#writing;
    const steps = this.#entries;
    const due = this.#writingBefore;
    if (steps.length > 0) {
      this.#entries = [];
      this.#flushedAt = this.#bytes;
      this.#writingBefore = before;
      // Made ready while the batch before it is still being written.
      const append =
        this.#expectsNew && areDistinct(steps) ? this.#target.prepare(steps.map(({ step }) => step.entry)) : undefined;
      this.#writing = before.then(() => this.#write(steps, append));
      // Whoever waits for it next is told of its failure.
      this.#writing.catch(() => undefined);
    }
    await due;
  }

  /** What follows something new is new, as a rule; where that does not hold, nothing was appended yet. */
  async #write(steps: readonly Owned<EntryStep>[], append: ReturnType<ImportTarget["prepare"]>): Promise<void> {
    const positions = await append?.();
    if (positions === undefined) await this.#writeLooking(steps);
    else for (const [at, owned] of steps.entries()) settle(owned, { position: itemAt(positions, at), isNew: true });
  }

  async #writeLooking(steps: readonly Owned<EntryStep>[]): Promise<void> {
    const found = await this.#target.find(steps.map(({ step }) => step.entry.id));
    const fresh = new Map<string, Owned<EntryStep>>();
    const present: (Owned<EntryStep> & { readonly position: number | undefined })[] = [];
    for (const [index, owned] of steps.entries()) {
      const { id } = owned.step.entry;
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
    const isLate = ({ step }: Owned<EntryStep>): boolean => late.has(step.entry.id);
    for (const [index, owned] of added.entries()) if (!isLate(owned)) settle(owned, itemAt(outcomes, index));
    for (const { position, ...owned } of present) {
      const outcome = position === undefined ? outcomeById.get(owned.step.entry.id) : { position, isNew: false };
      if (!isLate(owned)) settle(owned, withoutNews(outcome as IntakeOutcome));
    }
    if (late.size > 0) await this.#writeLooking([...added, ...present].filter(isLate));
  }

  /** What was refused because another program has recorded the same since it was looked for. */
  async #idsTakenMeanwhile(
    owned: readonly Owned<EntryStep>[],
    outcomes: readonly IntakeOutcome[],
  ): Promise<ReadonlySet<string>> {
    const refused = owned.filter((_, index) => "reason" in itemAt(outcomes, index));
    const ids = refused.map(({ step }) => step.entry.id);
    const positions = ids.length === 0 ? [] : await this.#target.find(ids);
    return new Set(ids.filter((_, index) => positions[index] !== undefined));
  }

  /**
   * Puts a step among the fresh ones, or answers with what is present in its place, in this batch or in the log. It is
   * decided before anything of the batch is appended, so that what is left of a message keeps its place in the order.
   */
  async #resolve(
    { step: first, account }: Owned<EntryStep>,
    fresh: Map<string, Owned<EntryStep>>,
    found: number | undefined,
  ): Promise<(Owned<EntryStep> & { readonly position: number | undefined }) | undefined> {
    let step = first;
    let position = found;
    for (;;) {
      const twin = fresh.get(step.entry.id);
      if (twin === undefined && position === undefined) {
        fresh.set(step.entry.id, { step, account });
        return undefined;
      }
      const read = async () => (twin === undefined ? this.#bodyAt(position as number) : bodyOf(twin.step.entry));
      const stored = step.beyond === undefined ? undefined : await read();
      const next = await step.beyond?.(stored, (id) => this.#find(id));
      if (next === undefined) return { step, account, position: twin === undefined ? position : undefined };
      if ("reason" in next) {
        account.reject(next.line, next.reason);
        return undefined;
      }
      step = next;
      position = await this.#find(step.entry.id);
    }
  }

  async #find(id: string): Promise<number | undefined> {
    const [position] = await this.#target.find([id]);
    return position;
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
    for (const { step, account } of steps) {
      if (!isTaken) {
        await this.#take(step.refused(), account);
        continue;
      }
      account.note(step.session_id, true);
      step.placed(step.copy.position);
    }
  }
}

function settle({ step, account }: Owned<EntryStep>, outcome: IntakeOutcome): void {
  if ("reason" in outcome) {
    account.reject(step.line, outcome.reason);
    return;
  }
  account.note(step.entry.session_id, outcome.isNew);
  step.placed?.(outcome.position);
}

function areDistinct(steps: readonly Owned<EntryStep>[]): boolean {
  const ids = new Set<string>();
  for (const { step } of steps) ids.add(step.entry.id);
  return ids.size === steps.length;
}

function withoutNews(outcome: IntakeOutcome): IntakeOutcome {
  return "position" in outcome ? { ...outcome, isNew: false } : outcome;
}

/** An entry as its body will read once it is stored. */
function bodyOf({ kind: _, ...body }: ImportedEntry): JsonObject {
  return body as JsonObject;
}
