// Stores whose bodies are in parts, on each engine: opened as a program does it, looked into, and changed as somebody does who
// may do anything with the files or the database.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { onTestFinished } from "vitest";
import { Connections } from "../../src/engines/postgres/driver.js";
import { PostgresLog } from "../../src/engines/postgres/log.js";
import { fromStored } from "../../src/engines/postgres/parts.js";
import { Database } from "../../src/engines/sqlite/driver.js";
import { SqliteLog } from "../../src/engines/sqlite/log.js";
import type { EntryLog } from "../../src/log/port.js";
import { databaseOfTest, serverOfTest, sharedPostgres } from "./postgres.js";
import type { PostgresServer } from "./postgres-server.js";
import { folderOfTest } from "./temporary-folder.js";

export interface PartCounts {
  readonly parts: number;
  /** How many of them differ. */
  readonly texts: number;
  /** How many bodies refer to parts. */
  readonly bodies: number;
  /** What parts and bodies hold, without what the engine adds. */
  readonly bytes: number;
}

export interface PartStore {
  /** What `--data` names. */
  readonly data: string;
  open(options?: { readonly parted_bytes_min?: number }): Promise<EntryLog>;
  counts(): Promise<PartCounts>;
  /** The newest body as it is stored. */
  newestBody(): Promise<Buffer>;
  /** Changes a byte of the part that holds a text, or takes the part away. */
  damage(text: string): Promise<void>;
  lose(text: string): Promise<void>;
  /** Stores an unreferenced part, removes it again, or files the first part under another digest. */
  plant(): Promise<void>;
  unplant(): Promise<void>;
  misfile(): Promise<void>;
  /** No body is taken while this work is done. */
  refusingBodies(work: () => Promise<void>): Promise<void>;
}

/** A store with access to every byte of its files. */
export interface LegibleStore extends PartStore {
  /** Remembers in which forms these texts lie in the files now. */
  watch(texts: readonly string[]): Promise<(text: string) => Promise<boolean>>;
}

export interface PartEngine {
  readonly engine: string;
  readonly store: () => Promise<PartStore>;
  readonly legible: () => Promise<LegibleStore>;
}

const STRAY_START = 1_000_000;

export const partEngines: readonly PartEngine[] = [
  { engine: "sqlite", store: async () => new SqliteParts(), legible: async () => new SqliteParts() },
  {
    engine: "postgres",
    store: async () => new PostgresParts(await sharedPostgres(), await databaseOfTest()),
    legible: async () => {
      const server = await serverOfTest();
      return new PostgresParts(server, await server.createDatabase("parts"));
    },
  },
];

class SqliteParts implements LegibleStore {
  readonly data = folderOfTest();
  readonly #path = join(this.data, "log.db");

  async open(options: { readonly parted_bytes_min?: number } = {}): Promise<EntryLog> {
    const log = SqliteLog.open({ path: this.#path, mode: "create", ...options });
    onTestFinished(() => log.close());
    return log;
  }

  async newestBody(): Promise<Buffer> {
    return this.#get<Buffer>("SELECT body FROM bodies ORDER BY position DESC LIMIT 1", true);
  }

  async counts(): Promise<PartCounts> {
    return this.#get<PartCounts>(`SELECT count(digest) AS parts, count(DISTINCT digest) AS texts, (SELECT count(*) FROM bodies WHERE encoding = 1) AS bodies,
        coalesce(sum(length(bytes)), 0) + coalesce((SELECT sum(length(body)) FROM bodies), 0) AS bytes FROM parts`);
  }

  async damage(text: string): Promise<void> {
    const changed = "CAST(substr(bytes, 1, 20) || '#' || substr(bytes, 22) AS BLOB)";
    this.#edit(`DROP TRIGGER parts_never_updated; UPDATE parts SET bytes = ${changed} WHERE ${holds(text)}`);
  }

  async lose(text: string): Promise<void> {
    this.#edit(`DROP TRIGGER IF EXISTS parts_only_erased; DELETE FROM parts WHERE ${holds(text)}`);
  }

  async plant(): Promise<void> {
    this.#edit(`INSERT INTO parts VALUES (${STRAY_START}, randomblob(16), 5, CAST('hello' AS BLOB))`);
  }

  async unplant(): Promise<void> {
    this.#edit(`DROP TRIGGER parts_only_erased; DELETE FROM parts WHERE start = ${STRAY_START}`);
  }

  async misfile(): Promise<void> {
    this.#edit("DROP TRIGGER parts_never_updated; UPDATE parts SET digest = randomblob(16) WHERE start = 0");
  }

  async refusingBodies(work: () => Promise<void>): Promise<void> {
    this.#edit("CREATE TRIGGER full BEFORE INSERT ON bodies BEGIN SELECT RAISE(FAIL, 'full'); END");
    await work();
    this.#edit("DROP TRIGGER full");
  }

  /** Parts lie there as they are. */
  async watch(): Promise<(text: string) => Promise<boolean>> {
    const files = [this.#path, `${this.#path}-wal`];
    return async (text) => files.filter((file) => existsSync(file)).some((file) => readFileSync(file).includes(text));
  }

  #get<T>(sql: string, isOneColumn = false): T {
    const db = new Database(this.#path, { read_only: true });
    try {
      const statement = db.prepare(sql);
      return (isOneColumn ? statement.pluck() : statement).get() as T;
    } finally {
      db.close();
    }
  }

  #edit(sql: string): void {
    const db = new Database(this.#path);
    db.exec(sql);
    db.close();
  }
}

function holds(text: string): string {
  return `instr(bytes, CAST('${text.slice(0, 40)}' AS BLOB)) > 0`;
}

/** A server makes and removes files as it likes. */
function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}

class PostgresParts implements LegibleStore {
  readonly #server: PostgresServer;
  readonly data: string;

  constructor(server: PostgresServer, data: string) {
    this.#server = server;
    this.data = data;
  }

  async open(options: { readonly parted_bytes_min?: number } = {}): Promise<EntryLog> {
    const connections = await Connections.open({ address: this.data, wait_ms: 0 });
    onTestFinished(() => connections.close());
    return PostgresLog.open(connections, options);
  }

  async counts(): Promise<PartCounts> {
    const sql = `SELECT count(*)::int AS parts, count(DISTINCT bytes)::int AS texts,
      (SELECT count(*)::int FROM hansard_bodies WHERE encoding = 1) AS bodies,
      (coalesce(sum(octet_length(bytes)), 0) + coalesce((SELECT sum(octet_length(body)) FROM hansard_bodies), 0))::int AS bytes
      FROM hansard_parts`;
    return (await this.#sql(sql))[0] as unknown as PartCounts;
  }

  async newestBody(): Promise<Buffer> {
    const [row] = await this.#sql("SELECT body FROM hansard_bodies ORDER BY position DESC LIMIT 1");
    return row?.body as Buffer;
  }

  async damage(text: string): Promise<void> {
    const { start } = await this.#part(text);
    const changed = "set_byte(bytes, 20, 255 - get_byte(bytes, 20))";
    await this.#behindItsBack(`UPDATE hansard_parts SET bytes = ${changed} WHERE start = ${start}`);
    this.#damaged.set(text, start);
  }

  /** One that was damaged before is no longer found by its text. */
  readonly #damaged = new Map<string, number>();

  async lose(text: string): Promise<void> {
    const start = this.#damaged.get(text) ?? (await this.#part(text)).start;
    await this.#behindItsBack(`DELETE FROM hansard_parts WHERE start = ${start}`);
  }

  async plant(): Promise<void> {
    await this.#sql(`INSERT INTO hansard_parts VALUES (${STRAY_START}, NULL, NULL, gen_random_uuid(), 'hello')`);
  }

  async unplant(): Promise<void> {
    await this.#behindItsBack(`DELETE FROM hansard_parts WHERE start = ${STRAY_START}`);
  }

  async misfile(): Promise<void> {
    await this.#behindItsBack("UPDATE hansard_parts SET digest = gen_random_uuid() WHERE start = 0");
  }

  async refusingBodies(work: () => Promise<void>): Promise<void> {
    await this.#sql(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$;
      CREATE TRIGGER full_disk BEFORE INSERT ON hansard_bodies FOR EACH ROW EXECUTE FUNCTION full_disk()`);
    await work();
    await this.#sql("DROP FUNCTION full_disk() CASCADE");
  }

  /** The files hold the compressed bytes of a compressed part. */
  async watch(texts: readonly string[]): Promise<(text: string) => Promise<boolean>> {
    const kept = new Map<string, Buffer>();
    for (const text of texts) kept.set(text, (await this.#part(text)).bytes);
    return async (text) => {
      const forms = [Buffer.from(text), kept.get(text) as Buffer].map((form) => form.subarray(20, 80));
      await this.#server.execute("CHECKPOINT");
      // But for the WAL, which PostgreSQL recycles in its own time.
      return readdirSync(join(this.#server.place.folder, "data"), { recursive: true, withFileTypes: true })
        .filter((file) => file.isFile() && !file.parentPath.includes("pg_wal"))
        .map((file) => readIfThere(join(file.parentPath, file.name)))
        .some((bytes) => forms.some((form) => bytes.includes(form)));
    };
  }

  async #part(text: string): Promise<{ readonly start: number; readonly bytes: Buffer }> {
    type Row = { readonly start: string; readonly bytes: Buffer; readonly whole_bytes: number | null };
    const client = new pg.Client({ connectionString: this.data });
    await client.connect();
    const { rows } = await client.query<Row>("SELECT start, bytes, whole_bytes FROM hansard_parts");
    await client.end();
    const row = rows.find((one) => fromStored([one])[0]?.includes(text)) as Row;
    return { start: Number(row.start), bytes: row.bytes };
  }

  #sql(text: string): ReturnType<PostgresServer["execute"]> {
    return this.#server.execute(text, new URL(this.data).pathname.slice(1));
  }

  #behindItsBack(text: string): Promise<unknown> {
    return this.#sql(`SET session_replication_role = replica; ${text}`);
  }
}
