// The indexer: copies entries from the log into the index, in order, each once.
import { setTimeout as sleep } from "node:timers/promises";
import type { EntryLog, StoredEntry } from "../log/port.js";
import { droppedBy } from "../model/body.js";
import { Fault } from "../model/fault.js";
import { hexOf } from "../model/hex.js";
import { readableBody, rowsOfBodies, toAlteredRow, toEntryTexts } from "./derivation.js";
import { DocumentCache, foldBatch } from "./folding.js";
import { type EntryIndex, type IndexRevision, type IndexSource, isSameRevision } from "./port.js";

/** Large enough to be worth its commit, small enough that a waiting read hardly notices. */
const BATCH_ENTRIES = 1_000;
const BATCH_BYTES = 4 * 1024 * 1024;
/** Pause after a rejected batch if the index has not moved: an engine may let one process apply at a time. */
const PASSED_OVER_MS = 10;

export class Indexer {
  readonly #log: EntryLog;
  readonly #index: EntryIndex;
  readonly #known = new DocumentCache();
  #logId: string | undefined;
  /** The epoch in which the index was verified to be of this log; another one may be of another log. */
  #epoch: string | undefined;
  /** What this process applied last; others may have applied more. */
  #applied: IndexSource | undefined;
  #stepping: Promise<boolean> | undefined;

  constructor(parts: { readonly log: EntryLog; readonly index: EntryIndex }) {
    this.#log = parts.log;
    this.#index = parts.index;
  }

  /**
   * Applies one batch; false if nothing was left. If another process applies concurrently, one of the two batches is
   * rejected.
   */
  step(): Promise<boolean> {
    // Concurrent reads share one step.
    this.#stepping ??= this.#step().finally(() => {
      this.#stepping = undefined;
    });
    return this.#stepping;
  }

  /** Returns once the index contains everything that is in the log now. */
  async catchUp(): Promise<void> {
    const { position } = await this.#log.head();
    await this.bringTo(position);
  }

  /** Returns once the index contains all entries up to a position. */
  async bringTo(position: number): Promise<void> {
    while (!this.holds(await this.#index.revision(), position)) await this.stepTowards(position);
  }

  /**
   * One batch towards a position. If the log claims that position but has nothing to read, it is damaged, and waiting
   * would never end.
   */
  async stepTowards(position: number): Promise<void> {
    // A shared step may have read the log before it grew.
    if ((await this.step()) || (await this.step())) return;
    if (this.holds(await this.#index.revision(), position)) return;
    throw new Fault("store_corrupt", `the log should have ${position} entries, but has fewer`, {
      hint: "Run `hansard verify`, and restore the store from a backup.",
    });
  }

  /** Whether an index in this state contains this log's entries through a position. */
  holds({ position: reached, epoch }: IndexRevision, position: number): boolean {
    // An empty index matches only an empty log.
    if (reached === 0) return position === 0;
    return epoch === this.#epoch && reached >= position;
  }

  async #step(): Promise<boolean> {
    const log_id = await this.#ownLogId();
    const after = await this.#ownRevision(log_id);
    const batch = await this.#log.readBodies({ after: after.position, limit: BATCH_ENTRIES, bytes_max: BATCH_BYTES });
    const last = batch.at(-1);
    if (last === undefined) return false;
    if (await this.#isCutOff(after, log_id)) {
      await this.#index.reset();
      return true;
    }
    const through = last.position;
    const source = { log_id, position: through, hash: last.hash };
    const bodies = batch.flatMap((stored) => readableBody(stored) ?? []);
    const erased = bodies.flatMap(({ position, kind, body }) => droppedBy(position, kind, body));
    const sound = await rowsOfBodies(this.#log, bodies);
    this.#known.compare(after);
    const documents = await foldBatch({ index: this.#index, rows: sound, erased, known: this.#known });
    const altered = batch.flatMap((stored) => toAlteredRow(stored) ?? []);
    const rows =
      altered.length === 0 ? sound : [...sound, ...altered].sort((left, right) => left.position - right.position);
    const applied = { after, rows, through, erased, ...documents, source };
    if (await this.#index.apply(applied)) {
      this.#known.remember(applied);
      this.#epoch = after.epoch;
      this.#applied = source;
    } else if (isSameRevision(after, await this.#index.revision())) {
      // Another process is writing its batch.
      await sleep(PASSED_OVER_MS);
    }
    return true;
  }

  /**
   * The state of the index, which is reset if it is of another log. Checked once per epoch: the log may have been
   * replaced or restored to an earlier state, and another log may share the index.
   */
  async #ownRevision(log_id: string): Promise<IndexRevision> {
    const revision = await this.#index.revision();
    if (revision.position === 0 || revision.epoch === this.#epoch) return revision;
    const source = await this.#index.source();
    const [stored] = source === undefined ? [] : await this.#log.get([source.position]);
    await this.#settleHeld(log_id, source);
    if (source !== undefined && !isMadeFrom(source, log_id, stored)) {
      await this.#index.reset();
      return this.#index.revision();
    }
    // The check may have seen another epoch already.
    if ((await this.#index.revision()).epoch === revision.epoch) this.#epoch = revision.epoch;
    return revision;
  }

  /** Whether the log no longer contains what was indexed: it may have been truncated and have grown again. */
  async #isCutOff(after: IndexRevision, log_id: string): Promise<boolean> {
    if (after.position === 0) return false;
    const [before] = await this.#log.get([after.position]);
    const isKnown = this.#applied?.position === after.position && this.#epoch === after.epoch;
    const source = isKnown ? this.#applied : await this.#index.source();
    // If others have applied more, the batch is rejected and the next one checks again.
    return source?.position === after.position && !isMadeFrom(source, log_id, before);
  }

  /** Remembered heads are evidence only while the log does not contain them. */
  async #settleHeld(log_id: string, source: IndexSource | undefined): Promise<void> {
    const heads = (await this.#index.rememberedHeads()).filter(({ hash }) => hash !== source?.hash);
    if (heads.length === 0) return;
    const stored = await this.#log.get(heads.map(({ position }) => position));
    const held = heads.filter((head, nth) => isMadeFrom(head, log_id, stored[nth]));
    if (held.length > 0) await this.#index.forgetHeads(held);
  }

  async #ownLogId(): Promise<string> {
    if (this.#logId !== undefined) return this.#logId;
    const { log_id, position } = await this.#log.head();
    // An empty log may still become a copy of another one, and take its id.
    if (position > 0) this.#logId = log_id;
    return log_id;
  }
}

function isMadeFrom(source: IndexSource, log_id: string, stored: StoredEntry | undefined): boolean {
  return stored !== undefined && source.log_id === log_id && source.hash === hexOf(stored.hash);
}

// The text indexer: adds the texts of entries to the index, behind the rows and in small steps.

/** Reads wait for the current step, which takes some ten milliseconds. */
const STEP_ENTRIES = 128;
const STEP_BYTES = 512 * 1024;

/** With more entries without signatures, searches first help to index them. */
const UNCOVERED_MAX = 1_000;
/**
 * Searches help for this long, so short-lived commands make progress too. Scanning an entry takes a fraction of the
 * time to index it, so the rest is scanned.
 */
const HELPING_MS = 60;

export class TextIndexer {
  readonly #log: EntryLog;
  readonly #index: EntryIndex;
  readonly #nowMs: () => number;
  /**
   * Position through which texts were given, and the checkpoint then: the index may buffer more than it has written.
   */
  #given = 0;
  #checkpoint = 0;
  #stepping: Promise<boolean> | undefined;

  constructor(parts: { readonly log: EntryLog; readonly index: EntryIndex; readonly nowMs?: () => number }) {
    this.#log = parts.log;
    this.#index = parts.index;
    this.#nowMs = parts.nowMs ?? (() => performance.now());
  }

  /** Adds some texts, never past the rows; false if nothing was left, and buffered texts are written. */
  step(): Promise<boolean> {
    // Concurrent callers share a step, so texts are added in order.
    this.#stepping ??= this.#step().finally(() => {
      this.#stepping = undefined;
    });
    return this.#stepping;
  }

  /** Returns once the texts of all rows were added. */
  async catchUp(): Promise<void> {
    while (await this.step());
  }

  /**
   * Adds texts if a search would have to scan many entries: one step if there is enough for it, so searches next to
   * busy writers keep up, and more only if very many wait.
   */
  async help(): Promise<void> {
    const untilMs = this.#nowMs() + HELPING_MS;
    if ((await this.#uncovered()) > STEP_ENTRIES) await this.step();
    while ((await this.#uncovered()) > UNCOVERED_MAX && this.#nowMs() < untilMs && (await this.step()));
  }

  /** Number of rows without texts. */
  async #uncovered(): Promise<number> {
    const checkpoint = await this.#index.textCheckpoint();
    // Another process got ahead, or the index was reset.
    if (checkpoint > this.#given || checkpoint < this.#checkpoint) {
      this.#given = checkpoint;
      this.#checkpoint = checkpoint;
    }
    return (await this.#index.checkpoint()) - this.#given;
  }

  async #step(): Promise<boolean> {
    const left = await this.#uncovered();
    if (left <= 0) {
      if (this.#given > this.#checkpoint) await this.#writeKept();
      return false;
    }
    const range = { after: this.#given, limit: Math.min(left, STEP_ENTRIES), bytes_max: STEP_BYTES };
    const batch = await this.#log.readBodies(range);
    const through = batch.at(-1)?.position;
    if (through === undefined) return false;
    const texts = batch.flatMap((stored) => {
      const placed = readableBody(stored);
      return placed === undefined ? [] : [toEntryTexts(placed)];
    });
    this.#given = await this.#index.applyTexts({ texts, after: range.after, through });
    this.#checkpoint = await this.#index.textCheckpoint();
    return true;
  }

  /** Writes buffered texts: other processes would have to scan them. */
  async #writeKept(): Promise<void> {
    await this.#index.mergeTexts?.();
    this.#checkpoint = await this.#index.textCheckpoint();
  }
}
