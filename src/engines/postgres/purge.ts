// Removes what deleted rows left in PostgreSQL's files: they stay there as dead rows until their table is vacuumed.
import type { Connections } from "./connection.js";
import { isAway, toFault } from "./faults.js";

/** Rewriting a table of this size takes seconds, for which nobody else can use it. */
const REWRITE_BYTES_MAX = 256 * 1024 * 1024;
/** Vacuuming takes longer than any question may take, and nobody waits for an answer but whoever asked to forget. */
const VACUUM_MS_MAX = 15 * 60_000;

/**
 * A table that is not large is rewritten, which leaves nothing of the deleted rows. A large one is vacuumed: its dead rows
 * are unreachable then, but their bytes stay where they are until new rows need the room.
 *
 * What was forgotten is forgotten by now, so that a table which cannot be vacuumed is told in words and is no failure.
 */
export async function purgeTables(connections: Connections, tables: readonly string[]): Promise<string | undefined> {
  const left: string[] = [];
  for (const table of tables) {
    try {
      if (!(await purgeTable(connections, table))) {
        left.push(`the room of deleted rows in ${table} is free, but not overwritten`);
      }
    } catch (error) {
      if (isAway(error)) throw toFault(error, connections.address);
      left.push(`deleted rows are still in the files of ${table} (${toFault(error, connections.address).message})`);
    }
  }
  return left.length === 0 ? undefined : `${left.join("; ")}; VACUUM FULL removes them and locks the table meanwhile`;
}

/** Whether nothing of the deleted rows is left. */
async function purgeTable(connections: Connections, table: string): Promise<boolean> {
  const text = "SELECT pg_total_relation_size($1::regclass)::bigint AS bytes";
  const [size] = await connections.query<{ readonly bytes: number }>({ text }, [table]);
  const isSmall = (size?.bytes ?? 0) <= REWRITE_BYTES_MAX;
  await connections.maintain(`VACUUM ${isSmall ? "FULL " : ""}${table}`, VACUUM_MS_MAX);
  return isSmall;
}

/** The partitions that held the bodies of these positions. */
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
