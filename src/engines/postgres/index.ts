// The index on PostgreSQL, in tables next to the log. Any server may fill it, each batch under one lock.

import type {
  CandidateQuery,
  ChangeQuery,
  DocumentQuery,
  EntryIndex,
  EntryRow,
  IndexBatch,
  IndexDocument,
  IndexRevision,
  IndexSource,
  NewestCandidates,
  NewestQuery,
  RowCounts,
  RowKey,
  RowQuery,
  SessionPlace,
  SessionPlacesQuery,
  SessionRange,
  TextBatch,
} from "../../index/port.js";
import { Fault } from "../../model/fault.js";
import { displayLocation } from "../../model/store-location.js";
import type { ReplacedIndex } from "../port.js";
import { columnsOf } from "./columns.js";
import type { Connections, Session, Statement } from "./driver.js";
import { CREATE_DATABASE, toFault } from "./faults.js";
import { changeDocuments, changedDocuments, countDocuments, getDocuments, listDocuments } from "./index-documents.js";
import { addRows, countRows, eraseRows, rowsAt, sessionPlaces, sessionPositions } from "./index-rows.js";
import {
  CHECKPOINTS_SQL,
  createIndexTables,
  emptyIndexTables,
  forgetHeads,
  INDEX_VERSION,
  indexTables,
  rememberedHeads,
} from "./index-schema.js";
import { candidates, newestCandidates, textRow, textsStatement } from "./index-texts.js";
import { listKeys } from "./list-plan.js";
import { replaceDerived, writtenByNewer } from "./migrations.js";
import { purgeTables } from "./purge.js";

export class PostgresIndex implements EntryIndex {
  readonly engine = "postgres";
  /** The older and current versions, if opening recreated the index. */
  readonly replaced: ReplacedIndex | undefined;
  readonly #connections: Connections;

  private constructor(connections: Connections, replaced: ReplacedIndex | undefined) {
    this.#connections = connections;
    this.replaced = replaced;
  }

  static async open(connections: Connections): Promise<PostgresIndex> {
    const create = async (session: Session): Promise<void> => {
      await createIndexTables(session);
      // Checked here too, so an unsuitable database is left unchanged.
      await assertTrigrams(session, connections.address);
    };
    const older = await replaceDerived(connections, { part: "index", version: INDEX_VERSION, create });
    await assertTrigrams(connections, connections.address);
    await ensureCheckpoints(connections);
    return new PostgresIndex(
      connections,
      older === undefined ? undefined : { version: older, version_known: INDEX_VERSION },
    );
  }

  async checkpoint(): Promise<number> {
    return (await this.revision()).position;
  }

  revision(): Promise<IndexRevision> {
    return revisionOf(this.#connections, "rows");
  }

  async source(): Promise<IndexSource | undefined> {
    const text = "SELECT log_id, position, hash FROM hansard_index_checkpoints WHERE name = 'rows' AND log_id <> ''";
    const [source] = await this.#connections.query<IndexSource>({ text });
    return source;
  }

  apply(batch: IndexBatch): Promise<boolean> {
    return this.#transact(async (session) => {
      // The row lock keeps other servers from applying.
      const { position, epoch } = await revisionOf(this.#connections, "rows", session, "FOR UPDATE OF c");
      if (epoch === NO_EPOCH) await beginEmpty(session);
      const isTaken = epoch !== NO_EPOCH && position === batch.after.position && epoch === batch.after.epoch;
      if (isTaken) await take(session, batch);
      return isTaken;
    });
  }

  list(query: RowQuery): Promise<readonly RowKey[]> {
    return listKeys(this.#connections, query);
  }

  async textCheckpoint(): Promise<number> {
    return (await revisionOf(this.#connections, "texts")).position;
  }

  async applyTexts(batch: TextBatch): Promise<number> {
    return this.#transact(async (session) => {
      const { position: checkpoint } = await revisionOf(this.#connections, "texts", session, "FOR UPDATE OF c");
      if (batch.through <= checkpoint || (batch.after ?? 0) > checkpoint) return checkpoint;
      // Only texts with rows are kept; if the rows are not there yet, as after a reset, all would be skipped for good.
      const { position: rowsThrough } = await revisionOf(this.#connections, "rows", session);
      if (batch.through > rowsThrough) return checkpoint;
      const rows = batch.texts.filter(({ position, texts }) => position > checkpoint && texts.length > 0).map(textRow);
      if (rows.length > 0) await session.query(textsStatement, columnsOf(rows, 3));
      await session.query(MOVE_CHECKPOINT, ["texts", batch.through, "", ""]);
      return batch.through;
    });
  }

  async candidates(query: CandidateQuery): Promise<readonly RowKey[]> {
    return query.limit === 0 ? [] : candidates(this.#connections, query);
  }

  newestCandidates(query: NewestQuery): Promise<NewestCandidates> {
    return newestCandidates(this.#connections, query);
  }

  getDocuments(query: {
    readonly collection: string;
    readonly keys: readonly string[];
  }): Promise<readonly IndexDocument[]> {
    return getDocuments(this.#connections, query);
  }

  listDocuments(query: DocumentQuery): Promise<readonly IndexDocument[]> {
    return listDocuments(this.#connections, query);
  }

  changedDocuments(query: ChangeQuery): Promise<readonly IndexDocument[]> {
    return changedDocuments(this.#connections, query);
  }

  countDocuments(collection: string): Promise<number> {
    return countDocuments(this.#connections, collection);
  }

  rowsAt(positions: readonly number[]): Promise<readonly EntryRow[]> {
    return rowsAt(this.#connections, positions);
  }

  count(): Promise<RowCounts> {
    return countRows(this.#connections);
  }

  sessionPlaces(query: SessionPlacesQuery): Promise<readonly SessionPlace[]> {
    return sessionPlaces(this.#connections, query);
  }

  sessionPositions(range: SessionRange): Promise<readonly number[]> {
    return sessionPositions(this.#connections, range);
  }

  async reset(): Promise<void> {
    await this.#transact(async (session) => {
      // An index of a newer version must not be emptied.
      await revisionOf(this.#connections, "rows", session);
      await emptyIndexTables(session);
    });
  }

  rememberedHeads(): Promise<readonly IndexSource[]> {
    return rememberedHeads(this.#connections);
  }

  forgetHeads(heads: readonly IndexSource[]): Promise<void> {
    return forgetHeads(this.#connections, heads);
  }

  purge(): Promise<string | undefined> {
    return purgeTables(this.#connections, indexTables);
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }

  async #transact<T>(work: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await this.#connections.transact(work);
    } catch (error) {
      throw toFault(error, this.#connections.address);
    }
  }
}

const MOVE_CHECKPOINT = {
  name: "hansard_index_checkpoint",
  text: "UPDATE hansard_index_checkpoints SET position = $2, log_id = $3, hash = $4 WHERE name = $1",
};

/** A dump without the index restores its tables, but not its checkpoints. */
async function ensureCheckpoints(connections: Connections): Promise<void> {
  const known = await connections.query<object>({ text: "SELECT 1 FROM hansard_index_checkpoints" });
  if (known.length === 0) await connections.transact(beginEmpty);
}

/** Where there is no checkpoint: somebody emptied the tables, or restored some of them, maybe while servers used them. */
const NO_EPOCH = "";

/** Rows that were left without a checkpoint would be added a second time. */
async function beginEmpty(session: Session): Promise<void> {
  await session.query({ text: CHECKPOINTS_SQL });
  await emptyIndexTables(session);
}

/** A newer version may have recreated the tables since this index was opened. */
async function revisionOf(
  connections: Connections,
  name: "rows" | "texts",
  session: Session = connections,
  lock: "" | "FOR UPDATE OF c" = "",
): Promise<IndexRevision> {
  const text = `SELECT c.position, c.epoch, v.version FROM hansard_index_checkpoints c, hansard_versions v
    WHERE c.name = $1 AND v.part = 'index' ${lock}`;
  const statement: Statement = { name: `hansard_index_reached${lock === "" ? "" : "_alone"}`, text, isQuick: true };
  const [reached] = await session.query<IndexRevision & { readonly version: number }>(statement, [name]);
  const { position = 0, epoch = NO_EPOCH, version = INDEX_VERSION } = reached ?? {};
  if (version !== INDEX_VERSION) throw writtenByNewer(connections.address, version, INDEX_VERSION);
  return { position, epoch };
}

async function take(session: Session, batch: IndexBatch): Promise<void> {
  const { rows, erased = [], source } = batch;
  await addRows(session, rows);
  await changeDocuments(session, batch);
  if (erased.length > 0) await eraseRows(session, erased);
  const { log_id = "", hash = "" } = source ?? {};
  await session.query(MOVE_CHECKPOINT, ["rows", batch.through, log_id, hash]);
}

/** With the C locale, trigrams ignore non-ASCII letters, and searches would miss most languages. */
async function assertTrigrams(session: Session, address: string): Promise<void> {
  const text = `SELECT cardinality(show_trgm('日本語')) AS found, datctype AS ctype
    FROM pg_database WHERE datname = current_database()`;
  const [seen] = await session.query<{ readonly found: number; readonly ctype: string }>({ text });
  if (seen === undefined || seen.found > 0) return;
  const where = displayLocation(address);
  const message = `${where} has the locale ${seen.ctype} (LC_CTYPE), which supports only ASCII letters; search needs a UTF-8 one`;
  throw new Fault("store_unsuitable", message, { hint: CREATE_DATABASE });
}
