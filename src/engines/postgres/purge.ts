// Removes leftovers of deleted rows from PostgreSQL's files, where they stay until the table is vacuumed, and vacuuming keeps what
// another transaction may still see. Then it is finished later, by any server of the store.
import { setTimeout as sleep } from "node:timers/promises";
import type { Connections } from "./driver.js";
import { isAway, toFault } from "./faults.js";

/** Rewriting a table of this size takes seconds, during which it is locked. */
const REWRITE_BYTES_MAX = 256 * 1024 * 1024;
/** Vacuuming exceeds the statement timeout; only the caller who forgets waits for it. */
const VACUUM_MS_MAX = 15 * 60_000;
/** A rewrite that waits for a lock holds up everybody who comes after it. */
const LOCK_MS_MAX = 5_000;
/** Most transactions that saw the deleted rows are over at once. */
const GRACE_MS = 2_000;
const LOOK_MS = 50;
/** How often a server looks whether what is left can go. */
const RETRY_MS = 20_000;

/**
 * Small tables are rewritten, which leaves nothing. Large ones are vacuumed: dead rows are unreachable, but their bytes
 * stay until new rows reuse the space. The entries are forgotten by now, so what is left is reported in words and is no
 * failure; where another transaction keeps it, a server finishes later.
 */
export async function purgeTables(connections: Connections, tables: readonly string[]): Promise<string | undefined> {
  if (tables.length === 0) return undefined;
  const left: string[] = [];
  try {
    const text = "SELECT pg_current_xact_id()::text AS xid";
    const [own] = await connections.query<{ readonly xid: string }>({ text });
    const xid = own?.xid ?? "0";
    const holder = await lastingHolder(connections, xid);
    for (const table of tables) {
      const reason = holder ?? (await leftAfterPurge(connections, table));
      if (reason === undefined) await settle(connections, table, xid);
      else left.push(await postpone(connections, { table, xid, reason }));
    }
  } catch (error) {
    throw toFault(error, connections.address);
  }
  return left.length === 0 ? undefined : left.join("; ");
}

/** What was left for later, each with the reason; for doctor. */
export async function pendingPurges(connections: Connections): Promise<readonly string[]> {
  const rows = await readPending(connections);
  const holders = await Promise.all(rows.map(({ xid }) => holderOf(connections, xid)));
  return rows.map(({ name }, at) => `${name}: ${holders[at] ?? "a server of the store removes it within a minute"}`);
}

/** Finishes what was left, while a server is up. */
export class PurgeRetries {
  readonly #connections: Connections;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;

  constructor(connections: Connections, everyMs = RETRY_MS) {
    this.#connections = connections;
    this.#timer = setInterval(() => this.#retry(), everyMs).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** One that fails is tried again; doctor shows what is left. */
  #retry(): void {
    this.#running ??= finishPurges(this.#connections)
      .catch(() => undefined)
      .finally(() => {
        this.#running = undefined;
      });
  }
}

async function finishPurges(connections: Connections): Promise<void> {
  for (const { name, xid } of await readPending(connections)) {
    if ((await holderOf(connections, xid)) !== undefined) continue;
    if ((await leftAfterPurge(connections, name)) === undefined) await settle(connections, name, xid);
  }
}

/** Why deleted text may still be in the table's files; undefined if nothing of it is. */
async function leftAfterPurge(connections: Connections, table: string): Promise<string | undefined> {
  try {
    const text = "SELECT pg_total_relation_size($1::regclass)::bigint AS bytes";
    const [size] = await connections.query<{ readonly bytes: number }>({ text }, [table]);
    const isSmall = (size?.bytes ?? 0) <= REWRITE_BYTES_MAX;
    await connections.maintain(`VACUUM ${isSmall ? "FULL " : ""}${table}`, VACUUM_MS_MAX, LOCK_MS_MAX);
    return isSmall ? undefined : "VACUUM FULL removes it, and locks the table while it runs";
  } catch (error) {
    if (isAway(error)) throw error;
    return `it could not be vacuumed (${toFault(error, connections.address).message})`;
  }
}

/**
 * What may still see rows that were deleted before this transaction: sessions of the database by their snapshot or their own
 * transaction, standbys, prepared transactions, and replication slots. Ages compare rightly when the numbers wrap around.
 */
const HOLDER_SQL = `
  SELECT what FROM (
    SELECT greatest(age(backend_xmin), age(backend_xid)) AS age,
      format('process %s (%s%s)', pid, coalesce(state, backend_type), coalesce(', ' || nullif(application_name, ''), ''))
        AS what
    FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND (datname = current_database() OR datname IS NULL)
    UNION ALL SELECT age(transaction), format('prepared transaction %s', quote_literal(gid)) FROM pg_prepared_xacts
      WHERE database = current_database()
    UNION ALL SELECT age(xmin), format('replication slot %s', slot_name) FROM pg_replication_slots
  ) AS holders
  WHERE age > age(($1::text::xid8)::xid) ORDER BY age DESC LIMIT 1`;

async function holderOf(connections: Connections, xid: string): Promise<string | undefined> {
  const [holder] = await connections.query<{ readonly what: string }>({ text: HOLDER_SQL }, [xid]);
  return holder === undefined ? undefined : `${holder.what} may still see it`;
}

/** The one that is still there after a moment. */
async function lastingHolder(connections: Connections, xid: string): Promise<string | undefined> {
  const end = performance.now() + GRACE_MS;
  for (;;) {
    const holder = await holderOf(connections, xid);
    if (holder === undefined || performance.now() > end) return holder;
    await sleep(LOOK_MS);
  }
}

// What is left is noted in the database, because the program that forgot may end before it can go.
const NOTED_SQL = "SELECT to_regclass('hansard_purges') IS NOT NULL AS is_noted";
const CREATE_SQL = "CREATE TABLE IF NOT EXISTS hansard_purges (name text PRIMARY KEY, xid xid8 NOT NULL)";
const NOTE_SQL = `INSERT INTO hansard_purges VALUES ($1, $2::text::xid8)
  ON CONFLICT (name) DO UPDATE SET xid = greatest(hansard_purges.xid, EXCLUDED.xid)`;
const SETTLE_SQL = "DELETE FROM hansard_purges WHERE name = $1 AND xid <= $2::text::xid8";

interface Pending {
  readonly name: string;
  readonly xid: string;
}

async function readPending(connections: Connections): Promise<readonly Pending[]> {
  const [found] = await connections.query<{ readonly is_noted: boolean }>({ text: NOTED_SQL });
  if (found?.is_noted !== true) return [];
  return connections.query<Pending>({ text: "SELECT name, xid::text AS xid FROM hansard_purges ORDER BY name" });
}

/** Notes it for later, and says so. */
async function postpone(
  connections: Connections,
  { table, xid, reason }: { readonly table: string; readonly xid: string; readonly reason: string },
): Promise<string> {
  await connections.query({ text: CREATE_SQL });
  await connections.query({ text: NOTE_SQL }, [table, xid]);
  return `deleted text may still be in the files of ${table}: ${reason}`;
}

/** Nothing is left of what was deleted before a transaction. */
async function settle(connections: Connections, table: string, xid: string): Promise<void> {
  const pending = await readPending(connections);
  if (pending.some(({ name }) => name === table)) await connections.query({ text: SETTLE_SQL }, [table, xid]);
}

/** The partitions that held these bodies. */
export async function partitionsOf(connections: Connections, positions: readonly number[]): Promise<readonly string[]> {
  const text = `SELECT c.relname AS name,
      substring(pg_get_expr(c.relpartbound, c.oid) FROM 'FROM \\(''?(\\d+)''?\\)')::bigint AS first,
      substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \\(''?(\\d+)''?\\)')::bigint AS beyond
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'hansard_bodies'::regclass`;
  type Partition = { readonly name: string; readonly first: number; readonly beyond: number };
  const partitions = await connections.query<Partition>({ text });
  return partitions
    .filter(({ first, beyond }) => positions.some((position) => position >= first && position < beyond))
    .map(({ name }) => name);
}
