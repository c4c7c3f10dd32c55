// The indexer: carries entries from the log into the index, in order, each once.
import { idClaim } from "../model/claims.js";
import { hexOf } from "../model/hex.js";
import { isJsonObject } from "../model/json.js";
import { namedIn } from "../model/redaction.js";
import type { EntryIndex, EntryRow, IndexSource, IndexStanding } from "../ports/entry-index.js";
import type { EntryLog, StoredBody, StoredEntry } from "../ports/entry-log.js";
import { aboutOf, type PlacedBody, toEntryRow } from "./entry-row.js";
import { foldBatch } from "./folding.js";
import { KnownDocuments } from "./known-documents.js";

/** Large enough to pay for its commit, small enough that a read which has to wait for a batch hardly notices. */
const BATCH_ENTRIES = 1_000;
const BATCH_BYTES = 4 * 1024 * 1024;

export class Indexer {
  readonly #log: EntryLog;
  readonly #index: EntryIndex;
  readonly #known = new KnownDocuments();
  #logId: string | undefined;
  /** The epoch in which the index was found to be made from this log; in another one it may be made from another log. */
  #epoch: string | undefined;
  #stepping: Promise<boolean> | undefined;

  constructor(parts: { readonly log: EntryLog; readonly index: EntryIndex }) {
    this.#log = parts.log;
    this.#index = parts.index;
  }

  /**
   * Applies one batch; false when there was nothing left to apply. Where another process applies at the same time, one of
   * the two batches is passed over.
   */
  step(): Promise<boolean> {
    // Reads that come together would otherwise each make the same batch.
    this.#stepping ??= this.#step().finally(() => {
      this.#stepping = undefined;
    });
    return this.#stepping;
  }

  /** Returns once everything that is in the log now is in the index: what was acknowledged is then found. */
  async catchUp(): Promise<void> {
    const { position } = await this.#log.head();
    while (!this.holds(await this.#index.standing(), position)) await this.step();
  }

  /** Whether an index that stands so holds the entries of this log through a position, and not those of another. */
  holds({ position: reached, epoch }: IndexStanding, position: number): boolean {
    // An empty one is anybody's, and right for an empty log.
    if (reached === 0) return position === 0;
    return epoch === this.#epoch && reached >= position;
  }

  async #step(): Promise<boolean> {
    const log_id = await this.#ownLogId();
    const after = await this.#ownStanding(log_id);
    const batch = await this.#log.readBodies({ after: after.position, limit: BATCH_ENTRIES, bytes_max: BATCH_BYTES });
    const through = batch.at(-1)?.position;
    if (through === undefined) return false;
    const [last] = await this.#log.get([through]);
    const source = { log_id, position: through, hash: hexOf((last as StoredEntry).hash) };
    const bodies = batch.flatMap((stored) => readableBody(stored) ?? []);
    const erased = bodies.flatMap(({ position, kind, body }) => (kind === "redaction" ? namedIn(position, body) : []));
    const rows = await this.#toRows(bodies);
    this.#known.compare(after);
    const documents = await foldBatch({ index: this.#index, rows, erased, known: this.#known });
    const applied = { after, rows, through, erased, ...documents, source };
    if (await this.#index.apply(applied)) {
      this.#known.remember(applied);
      this.#epoch = after.epoch;
    }
    return true;
  }

  /**
   * Where the index stands, with entries of this very log or none. In every epoch it is looked at once, and started over
   * where it was made from another log: this one may have been replaced or restored to an earlier state while nobody
   * looked, and another one may share the index.
   */
  async #ownStanding(log_id: string): Promise<IndexStanding> {
    const standing = await this.#index.standing();
    if (standing.position === 0 || standing.epoch === this.#epoch) return standing;
    const source = await this.#index.source();
    const [stored] = source === undefined ? [] : await this.#log.get([source.position]);
    const isOurs = source === undefined || (stored !== undefined && isMadeFrom(source, log_id, stored));
    if (!isOurs) {
      await this.#index.reset();
      return this.#index.standing();
    }
    // What was looked at may have been of another epoch already.
    if ((await this.#index.standing()).epoch === standing.epoch) this.#epoch = standing.epoch;
    return standing;
  }

  async #ownLogId(): Promise<string> {
    if (this.#logId !== undefined) return this.#logId;
    const { log_id, position } = await this.#log.head();
    // An empty log may still become the copy of another one, and carry its id from then on.
    if (position > 0) this.#logId = log_id;
    return log_id;
  }

  async #toRows(bodies: readonly PlacedBody[]): Promise<readonly EntryRow[]> {
    const ids = bodies.flatMap(({ kind, body }) => aboutOf(kind, body) ?? []);
    const positions = ids.length === 0 ? [] : await this.#log.find(ids.map(idClaim));
    const positionById = new Map(ids.map((id, index) => [id, positions[index]]));
    return bodies.flatMap((placed) => {
      const about = aboutOf(placed.kind, placed.body);
      return toEntryRow(placed, about === undefined ? undefined : positionById.get(about)) ?? [];
    });
  }
}

function isMadeFrom(source: IndexSource, log_id: string, stored: StoredEntry): boolean {
  return source.log_id === log_id && source.hash === hexOf(stored.hash);
}

/**
 * An erased entry has no row. Neither has one whose body is damaged: reading it by its position and `verify` say so
 * loudly, but it must not keep everything after it out of every list.
 */
export function readableBody(stored: StoredBody): PlacedBody | undefined {
  const { position, kind, recorded_at, body: text } = stored;
  if (text === undefined) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    return isJsonObject(body) ? { position, kind, recorded_at, body } : undefined;
  } catch {
    return undefined;
  }
}
