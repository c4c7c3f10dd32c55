// The indexer: carries entries from the log into the index, in order, each once.
import { toEntry } from "../model/body.js";
import { idClaim } from "../model/claims.js";
import type { Entry } from "../model/entry.js";
import { Fault } from "../model/fault.js";
import { hexOf } from "../model/hex.js";
import type { EntryIndex, EntryRow } from "../ports/entry-index.js";
import type { EntryLog, StoredEntry } from "../ports/entry-log.js";
import { isSound, toEntryRow } from "./entry-row.js";

/** Large enough to pay for its commit, small enough that a read which has to wait for a batch hardly notices. */
const BATCH_ENTRIES = 1_000;
const BATCH_BYTES = 4 * 1024 * 1024;

export class Indexer {
  readonly #log: EntryLog;
  readonly #index: EntryIndex;
  #logId: string | undefined;

  constructor(parts: { readonly log: EntryLog; readonly index: EntryIndex }) {
    this.#log = parts.log;
    this.#index = parts.index;
  }

  /** Applies one batch; false when there was nothing left to apply. */
  async step(): Promise<boolean> {
    const log_id = await this.#checkedLogId();
    const after = await this.#index.checkpoint();
    const batch = await this.#log.read({ after, limit: BATCH_ENTRIES, bytes_max: BATCH_BYTES });
    const last = batch.at(-1);
    if (last === undefined) return false;
    const source = { log_id, position: last.position, hash: hexOf(last.hash) };
    await this.#index.apply({ rows: await this.#toRows(batch), through: last.position, source });
    return true;
  }

  /** Returns once everything that is in the log now is in the index: what was acknowledged is then found. */
  async catchUp(): Promise<void> {
    await this.#checkedLogId();
    const { position } = await this.#log.head();
    while ((await this.#index.checkpoint()) < position) await this.step();
  }

  /**
   * Looks once whether the index was made from this very log, and starts it over if not: the log may have been replaced
   * or restored to an earlier state while nobody looked.
   */
  async #checkedLogId(): Promise<string> {
    if (this.#logId !== undefined) return this.#logId;
    const { log_id, position } = await this.#log.head();
    const source = await this.#index.source();
    if (source !== undefined) {
      const [stored] = await this.#log.get([source.position]);
      const isOurs = stored !== undefined && source.log_id === log_id && source.hash === hexOf(stored.hash);
      if (!isOurs) await this.#index.reset();
    }
    // An empty log may still become the copy of another one, and carry its id from then on.
    if (position > 0) this.#logId = log_id;
    return log_id;
  }

  async #toRows(batch: readonly StoredEntry[]): Promise<readonly EntryRow[]> {
    const entries = batch.flatMap((stored) => readableEntry(stored) ?? []);
    const ids = entries.flatMap((entry) => (entry.kind === "response" ? [entry.interaction_id] : []));
    const positions = ids.length === 0 ? [] : await this.#log.find(ids.map(idClaim));
    const positionById = new Map(ids.map((id, index) => [id, positions[index]]));
    return entries.map((entry) =>
      toEntryRow(entry, entry.kind === "response" ? positionById.get(entry.interaction_id) : undefined),
    );
  }
}

/**
 * An erased entry has no row. Neither has one whose body is damaged: reading it by its position and `verify` say so
 * loudly, but it must not keep everything after it out of every list.
 */
function readableEntry(stored: StoredEntry): Entry | undefined {
  try {
    const entry = toEntry(stored);
    return "erased" in entry || !isSound(entry) ? undefined : entry;
  } catch (error) {
    if (error instanceof Fault && error.code === "entry_corrupt") return undefined;
    throw error;
  }
}
