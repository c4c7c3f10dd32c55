// A log that somebody reaches behind its back: its rows, with what protects them switched off, on each engine that keeps rows.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Connections } from "../../src/engines/postgres/driver.js";
import { PostgresLog } from "../../src/engines/postgres/log.js";
import { Database } from "../../src/engines/sqlite/driver.js";
import { SqliteLog } from "../../src/engines/sqlite/log.js";
import type { EntryLog } from "../../src/log/port.js";
import { databaseOfTest, sharedPostgres } from "../support/postgres.js";
import { folderOfTest } from "../support/temporary-folder.js";

export interface AttackedLog {
  readonly log: EntryLog;
  /** Runs statements as the log's owner would, `{entries}` standing for the engine's table; nothing refuses them. */
  edit(sql: string): Promise<void>;
  /** The same with all that protects the rows as it is. */
  execute(sql: string): Promise<void>;
  /** Bytes as the engine's SQL writes them. */
  bytes(value: Uint8Array): string;
  /** The store opened once more. */
  reopened(mode: "read" | "write"): Promise<EntryLog>;
}

export const attackedEngines = { sqlite: attackedSqlite, postgres: attackedPostgres } as const;
export const engineNames = Object.keys(attackedEngines) as readonly (keyof typeof attackedEngines)[];

async function attackedSqlite(): Promise<AttackedLog> {
  const folder = join(folderOfTest(), "store");
  mkdirSync(folder);
  const path = join(folder, "log.db");
  const execute = async (sql: string): Promise<void> => {
    const db = new Database(path);
    try {
      db.exec(sql.replaceAll(/\{(\w+)\}/g, "$1"));
    } finally {
      db.close();
    }
  };
  const edit = async (sql: string): Promise<void> => {
    const db = new Database(path);
    const rows = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
    const triggers = rows as readonly { readonly name: string; readonly sql: string }[];
    try {
      for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
      db.exec(sql.replaceAll(/\{(\w+)\}/g, "$1"));
      for (const trigger of triggers) db.exec(trigger.sql);
    } finally {
      db.close();
    }
  };
  const open = async (mode: "create" | "read" | "write"): Promise<EntryLog> => {
    const log = SqliteLog.open({ path, mode });
    onTestFinished(() => log.close());
    return log;
  };
  const log = await open("create");
  const bytes = (value: Uint8Array): string => `x'${Buffer.from(value).toString("hex")}'`;
  return { log, execute, edit, bytes, reopened: open };
}

async function attackedPostgres(): Promise<AttackedLog> {
  const address = await databaseOfTest();
  const server = await sharedPostgres();
  const database = new URL(address).pathname.slice(1);
  const execute = async (sql: string): Promise<void> => {
    await server.execute(sql.replaceAll(/\{(\w+)\}/g, "hansard_$1"), database);
  };
  const open = async (mode: "read" | "write"): Promise<EntryLog> => {
    const connections = await Connections.open({ address, wait_ms: 0 });
    const log = await PostgresLog.open(connections, { reads_only: mode === "read" });
    onTestFinished(() => log.close());
    return log;
  };
  return {
    log: await open("write"),
    execute,
    edit: (sql) => execute(`SET session_replication_role = replica; ${sql}`),
    bytes: (value) => `'\\x${Buffer.from(value).toString("hex")}'::bytea`,
    reopened: open,
  };
}
