// Whoever can write to a store's database behind its back, on each engine: what an intruder would do with plain SQL.
import { join } from "node:path";
import pg from "pg";
import { Database } from "../../src/engines/sqlite/driver.js";
import { databaseOfTest } from "../support/postgres.js";
import { folderOfTest } from "../support/temporary-folder.js";

export interface Intruder {
  /** What `--data` names. */
  readonly data: string;
  /** Changes tables of the log; no trigger stops it. */
  editLog(sql: string): Promise<void>;
  /** Changes tables of the index. */
  editIndex(sql: string): Promise<void>;
  /** What each engine calls a table of the log, or of the index. */
  readonly log: (table: string) => string;
  readonly index: (table: string) => string;
}

/** Engines, each with a store for one test; called inside the test. */
export const engines: readonly { readonly engine: string; readonly intrude: () => Promise<Intruder> }[] = [
  { engine: "sqlite", intrude: intrudeSqlite },
  { engine: "postgres", intrude: intrudePostgres },
];

async function intrudeSqlite(): Promise<Intruder> {
  const data = folderOfTest();
  return {
    data,
    editLog: async (sql) => executeSqlite(join(data, "log.db"), sql),
    editIndex: async (sql) => executeSqlite(join(data, "index.db"), sql),
    log: (table) => table,
    index: (table) => table,
  };
}

/** Triggers are put back as they were, so only the rows differ. */
function executeSqlite(path: string, sql: string): void {
  const db = new Database(path, { must_exist: true, timeout_ms: 5_000 });
  try {
    const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all() as {
      readonly name: string;
      readonly sql: string;
    }[];
    for (const { name } of triggers) db.exec(`DROP TRIGGER "${name}"`);
    db.exec(sql);
    for (const trigger of triggers) db.exec(trigger.sql);
  } finally {
    db.close();
  }
}

async function intrudePostgres(): Promise<Intruder> {
  const data = await databaseOfTest();
  const edit = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: data });
    await client.connect();
    try {
      // As a replica no trigger of the table fires.
      await client.query(`SET session_replication_role = replica; ${sql}`);
    } finally {
      await client.end();
    }
  };
  return {
    data,
    editLog: edit,
    editIndex: edit,
    log: (table) => `hansard_${table}`,
    index: (table) => `hansard_index_${table}`,
  };
}
