// The indexer: carries entries from the log into the index, in order, each once.
import { toEntry } from "../model/body.js";
import { idClaim } from "../model/claims.js";
import type { Entry } from "../model/entry.js";
import { Fault } from "../model/fault.js";
import type { EntryIndex, EntryRow } from "../ports/entry-index.js";
import type { EntryLog, StoredEntry } from "../ports/entry-log.js";
import { toEntryRow } from "./entry-row.js";

/** Small enough that a read which has to wait for a batch does not notice. */
const BATCH_ENTRIES = 250;
const BATCH_BYTES = 2 * 1024 * 1024;

export class Indexer {
  readonly #log: EntryLog;
  readonly #index: EntryIndex;

  constructor(parts: { readonly log: EntryLog; readonly index: EntryIndex }) {
    this.#log = parts.log;
    this.#index = parts.index;
  }

  /** Applies one batch; false when there was nothing left to apply. */
  async step(): Promise<boolean> {
    const after = await this.#index.checkpoint();
    const batch = await this.#log.read({ after, limit: BATCH_ENTRIES, bytes_max: BATCH_BYTES });
    const through = batch.at(-1)?.position;
    if (through === undefined) return false;
    await this.#index.apply({ rows: await this.#toRows(batch), through });
    return true;
  }

  /** Returns once everything that is in the log now is in the index: what was acknowledged is then found. */
  async catchUp(): Promise<void> {
    const { position } = await this.#log.head();
    while ((await this.#index.checkpoint()) < position) await this.step();
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
    return "erased" in entry ? undefined : entry;
  } catch (error) {
    if (error instanceof Fault && error.code === "entry_corrupt") return undefined;
    throw error;
  }
}
