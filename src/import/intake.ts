// What an importer yields on its way into the log: gathered into batches, each entry once, every refusal with its line.
import type { JsonObject } from "../model/json.js";
import type { EntryCopy, EntryStep, ImportedEntry, ImportStep, LogState } from "./importer.js";

/** Large enough that one fsync serves many entries, small enough that what is held does not grow old in memory. */
const BATCH_STEPS_MAX = 250;
const BATCH_BYTES_MAX = 1024 * 1024;

export type IntakeOutcome = { readonly position: number; readonly isNew: boolean } | { readonly reason: string };

/** Where entries go, as far as an import has to know it. */
export interface ImportTarget extends LogState {
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

export interface ImportTotals {
  readonly added: number;
  readonly existing: number;
  readonly sessions: ReadonlySet<string>;
}

type CopyStep = Extract<ImportStep, { readonly copy: unknown }>;

export class Intake {
  /** How much of the source was read; whoever reads it counts. */
  bytes = 0;
  readonly #target: ImportTarget;
  readonly #reject: (line: number, reason: string) => void;
  readonly #sessions = new Set<string>();
  #entries: EntryStep[] = [];
  #copies: CopyStep[] = [];
  #copiedBytes = 0;
  #flushedAt = 0;
  /** The batch that is being written, while the next one is read. */
  #writing: Promise<void> = Promise.resolve();
  /** Whether all of the last batch that was looked for was new. */
  #expectsNew = false;
  #added = 0;
  #existing = 0;

  constructor(target: ImportTarget, reject: (line: number, reason: string) => void) {
    this.#target = target;
    this.#reject = reject;
  }

  get totals(): ImportTotals {
    return { added: this.#added, existing: this.#existing, sessions: this.#sessions };
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
    if ("reason" in step) this.#reject(step.line, step.reason);
    else if ("present" in step) {
      this.#existing += 1;
      this.#noteSession(step.session_id);
    } else if ("entry" in step && this.#copies.length === 0) {
      this.#entries.push(step);
      if (this.#isFull()) return this.#handOver();
    } else return this.#takeInOrder(step);
    return undefined;
  }

  async #takeInOrder(
    step: Extract<ImportStep, { readonly entry: unknown } | { readonly copy: unknown } | { readonly later: unknown }>,
  ): Promise<void> {
    if ("entry" in step) {
      await this.#flushCopies();
      this.#entries.push(step);
    } else if ("copy" in step) {
      await this.#flushEntries();
      this.#copies.push(step);
      this.#copiedBytes += step.copy.body?.byteLength ?? 0;
      if (this.#copies.length >= BATCH_STEPS_MAX || this.#copiedBytes >= BATCH_BYTES_MAX) await this.#flushCopies();
    } else await this.#takeLater(step);
  }

  async flush(): Promise<void> {
    await this.#flushCopies();
    await this.#flushEntries();
  }

  #isFull(): boolean {
    return this.#entries.length >= BATCH_STEPS_MAX || this.bytes - this.#flushedAt >= BATCH_BYTES_MAX;
  }

  async #takeLater(step: Extract<ImportStep, { readonly later: unknown }>): Promise<void> {
    await this.flush();
    const { line } = step;
    const made = await step.later(
      (id) => this.#find(id),
      (position) => this.#bodyAt(position),
    );
    if (typeof made === "string") this.#reject(line, made);
    else for (const entry of made) await this.take({ line, entry });
  }

  async #flushEntries(): Promise<void> {
    await this.#handOver();
    await this.#writing;
  }

  /** Begins to write what was gathered, and waits only for the batch before it: at most two are held in memory. */
  async #handOver(): Promise<void> {
    const before = this.#writing;
    const steps = this.#entries;
    if (steps.length > 0) {
      this.#entries = [];
      this.#flushedAt = this.bytes;
      // Made ready while the batch before it is still being written.
      const append = this.#expectsNew && areDistinct(steps) ? this.#target.prepare(steps.map(entryOf)) : undefined;
      this.#writing = before.then(() => this.#write(steps, append));
      // Whoever waits for it next is told of its failure.
      this.#writing.catch(() => undefined);
    }
    await before;
  }

  /** What follows something new is new, as a rule; where that does not hold, nothing was appended yet. */
  async #write(steps: readonly EntryStep[], append: ReturnType<ImportTarget["prepare"]>): Promise<void> {
    const positions = await append?.();
    if (positions === undefined) await this.#writeLooking(steps);
    else
      for (const [at, step] of steps.entries()) this.#settle(step, { position: positions[at] as number, isNew: true });
  }

  async #writeLooking(steps: readonly EntryStep[]): Promise<void> {
    const found = await this.#target.find(steps.map(({ entry }) => entry.id));
    const fresh = new Map<string, EntryStep>();
    const present: { readonly step: EntryStep; readonly position: number | undefined }[] = [];
    for (const [index, step] of steps.entries()) {
      if (found[index] === undefined && !fresh.has(step.entry.id)) {
        fresh.set(step.entry.id, step);
        continue;
      }
      const resolved = await this.#resolve(step, fresh, found[index]);
      if (resolved !== undefined) present.push(resolved);
    }
    this.#expectsNew = present.length === 0;
    const added = [...fresh.values()];
    const outcomes = added.length === 0 ? [] : await this.#target.append(added.map(({ entry }) => entry));
    const outcomeById = new Map(added.map(({ entry }, index) => [entry.id, outcomes[index] as IntakeOutcome]));
    const late = await this.#idsTakenMeanwhile(added, outcomes);
    const isLate = ({ entry }: EntryStep): boolean => late.has(entry.id);
    for (const [index, step] of added.entries())
      if (!isLate(step)) this.#settle(step, outcomes[index] as IntakeOutcome);
    for (const { step, position } of present) {
      const outcome = position === undefined ? outcomeById.get(step.entry.id) : { position, isNew: false };
      if (!isLate(step)) this.#settle(step, withoutNews(outcome as IntakeOutcome));
    }
    if (late.size > 0) await this.#writeLooking([...added, ...present.map(({ step }) => step)].filter(isLate));
  }

  /** What was refused because another program has recorded the same since it was looked for. */
  async #idsTakenMeanwhile(
    steps: readonly EntryStep[],
    outcomes: readonly IntakeOutcome[],
  ): Promise<ReadonlySet<string>> {
    const refused = steps.filter((_, index) => "reason" in (outcomes[index] as IntakeOutcome));
    const ids = refused.map(({ entry }) => entry.id);
    const positions = ids.length === 0 ? [] : await this.#target.find(ids);
    return new Set(ids.filter((_, index) => positions[index] !== undefined));
  }

  /**
   * Puts a step among the fresh ones, or answers with what is present in its place, in this batch or in the log. It is
   * decided before anything of the batch is appended, so that what is left of a message keeps its place in the order.
   */
  async #resolve(
    first: EntryStep,
    fresh: Map<string, EntryStep>,
    found: number | undefined,
  ): Promise<{ readonly step: EntryStep; readonly position: number | undefined } | undefined> {
    let step = first;
    let position = found;
    for (;;) {
      const twin = fresh.get(step.entry.id);
      if (twin === undefined && position === undefined) {
        fresh.set(step.entry.id, step);
        return undefined;
      }
      const read = async () => (twin === undefined ? this.#bodyAt(position as number) : bodyOf(twin.entry));
      const stored = step.beyond === undefined ? undefined : await read();
      const next = await step.beyond?.(stored, (id) => this.#find(id));
      if (next === undefined) return { step, position: twin === undefined ? position : undefined };
      if ("reason" in next) {
        this.#reject(next.line, next.reason);
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

  #settle(step: EntryStep, outcome: IntakeOutcome): void {
    if ("reason" in outcome) {
      this.#reject(step.line, outcome.reason);
      return;
    }
    if (outcome.isNew) this.#added += 1;
    else this.#existing += 1;
    this.#noteSession(step.entry.session_id);
    step.placed?.(outcome.position);
  }

  async #flushCopies(): Promise<void> {
    const steps = this.#copies;
    const [first] = steps;
    if (first === undefined) return;
    this.#copies = [];
    this.#copiedBytes = 0;
    const isTaken = await this.#target.restore({ log_id: first.log_id, entries: steps.map(({ copy }) => copy) });
    for (const step of steps) {
      if (!isTaken) {
        await this.take(step.refused());
        continue;
      }
      this.#added += 1;
      this.#noteSession(step.session_id);
      step.placed(step.copy.position);
    }
  }

  #noteSession(session_id: unknown): void {
    if (typeof session_id === "string" && session_id !== "") this.#sessions.add(session_id);
  }
}

function entryOf({ entry }: EntryStep): ImportedEntry {
  return entry;
}

function areDistinct(steps: readonly EntryStep[]): boolean {
  const ids = new Set<string>();
  for (const { entry } of steps) ids.add(entry.id);
  return ids.size === steps.length;
}

function withoutNews(outcome: IntakeOutcome): IntakeOutcome {
  return "position" in outcome ? { ...outcome, isNew: false } : outcome;
}

/** An entry as its body will read once it is stored. */
function bodyOf({ kind: _, ...body }: ImportedEntry): JsonObject {
  return body as JsonObject;
}
