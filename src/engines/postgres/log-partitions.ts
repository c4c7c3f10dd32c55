// Partitions of bodies, made ahead of the log's end, so that no append waits for one.
import type { Connections } from "./connection.js";
import { createPartition, PARTITION_POSITIONS } from "./log-schema.js";

const LOCK_SQL = "SELECT pg_advisory_xact_lock(hashtextextended('hansard partitions ' || current_schema(), 0))";

export class Partitions {
  readonly #connections: Connections;
  readonly #positions: number;
  #through = 0;
  #making: Promise<void> | undefined;

  constructor(connections: Connections, positions = PARTITION_POSITIONS) {
    this.#connections = connections;
    this.#positions = positions;
  }

  /** Returns once every position through this one has its place; half a partition before the end it makes the next. */
  async cover(position: number): Promise<void> {
    while (position > this.#through) await this.#make();
    // Ahead of need nobody waits for it, and a failure is met again when there is need.
    if (position + this.#positions / 2 > this.#through) void this.#make().catch(() => undefined);
  }

  #make(): Promise<void> {
    this.#making ??= this.#makeNext().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #makeNext(): Promise<void> {
    const through = await this.#connections.transact(async (session) => {
      await session.query({ text: LOCK_SQL });
      const [last] = await session.query<{ readonly through: number }>({ text: LAST_SQL });
      const known = last?.through ?? 0;
      // Another server may have made it; then there is nothing to do but to know of it.
      if (known > this.#through) return known;
      await session.query({ text: createPartition(known, this.#positions) });
      return known + this.#positions;
    });
    this.#through = Math.max(this.#through, through);
  }
}

/** Where the last partition ends, as PostgreSQL knows it. */
const LAST_SQL = `
  SELECT max(substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \\(''?(\\d+)''?\\)')::bigint) - 1 AS through
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'hansard_bodies'::regclass
`;
