// Removes leftovers of deleted rows from PostgreSQL's files, where they stay until the table is vacuumed.
import type { Connections } from "./driver.js";
import { isAway, toFault } from "./faults.js";

/** Rewriting a table of this size takes seconds, during which it is locked. */
const REWRITE_BYTES_MAX = 256 * 1024 * 1024;
/** Vacuuming exceeds the statement timeout; only the caller who forgets waits for it. */
const VACUUM_MS_MAX = 15 * 60_000;

/**
 * Small tables are rewritten, which leaves nothing. Large ones are vacuumed: dead rows are unreachable, but their bytes
 * stay until new rows reuse the space. The entries are forgotten by now, so a table that cannot be vacuumed is reported
 * in words and is no failure.
 */
export async function purgeTables(connections: Connections, tables: readonly string[]): Promise<string | undefined> {
  const left: string[] = [];
  for (const table of tables) {
    try {
      if (!(await purgeTable(connections, table))) {
        left.push(`deleted text may still be readable in the files of ${table}`);
      }
    } catch (error) {
      if (isAway(error)) throw toFault(error, connections.address);
      left.push(`deleted rows are still in the files of ${table} (${toFault(error, connections.address).message})`);
    }
  }
  return left.length === 0
    ? undefined
    : `${left.join("; ")}; VACUUM FULL removes it, and locks the table while it runs`;
}

/** Whether nothing of the deleted rows is left in the files. */
async function purgeTable(connections: Connections, table: string): Promise<boolean> {
  const text = "SELECT pg_total_relation_size($1::regclass)::bigint AS bytes";
  const [size] = await connections.query<{ readonly bytes: number }>({ text }, [table]);
  const isSmall = (size?.bytes ?? 0) <= REWRITE_BYTES_MAX;
  await connections.maintain(`VACUUM ${isSmall ? "FULL " : ""}${table}`, VACUUM_MS_MAX);
  return isSmall;
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
