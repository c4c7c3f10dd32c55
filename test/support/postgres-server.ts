// A real PostgreSQL with a data folder of its own: started, stopped, killed and started again by tests.
import { execFile } from "node:child_process";
import { appendFileSync, chownSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { findPostgres, withinReach } from "../../scripts/postgres.mjs";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { newFolder } from "./temporary-folder.js";

const run = promisify(execFile);

/** What is needed to reach a running server, as text that another process can read. */
export interface ServerPlace {
  readonly folder: string;
  readonly bin: string;
  readonly port: number;
}

export class PostgresServer {
  readonly place: ServerPlace;

  constructor(place: ServerPlace) {
    this.place = place;
  }

  /** Makes a data folder and starts a server on it. */
  static async create(
    options: { readonly settings?: readonly string[]; readonly initdb?: readonly string[] } = {},
  ): Promise<PostgresServer> {
    const folder = newFolder("hansard-pg-");
    try {
      const bin = withinReach(findPostgres(repositoryRoot), folder);
      const server = new PostgresServer({ folder, bin, port: await freePort() });
      const owner = await serverUser();
      if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
      const secret = join(folder, "password");
      writeFileSync(secret, "secret", { mode: 0o644 });
      await server.#call("initdb", [
        ...["-D", join(folder, "data"), "-U", "hansard", "--encoding=UTF8", "--locale=C.UTF-8", "-N"],
        ...["--auth=scram-sha-256", `--pwfile=${secret}`, ...(options.initdb ?? [])],
      ]);
      const socket = join(folder, "socket");
      mkdirSync(socket);
      if (owner !== undefined) chownSync(socket, owner.uid, owner.gid);
      const lines = [`port = ${server.place.port}`, `unix_socket_directories = '${socket}'`, ...settings];
      appendFileSync(join(folder, "data", "postgresql.conf"), [...lines, ...(options.settings ?? []), ""].join("\n"));
      await server.start();
      return server;
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  async start(env: NodeJS.ProcessEnv = {}): Promise<void> {
    const log = join(this.place.folder, "server.log");
    await this.#call("pg_ctl", ["start", "-w", "-t", "60", "-D", this.#data, "-l", log], env);
  }

  /** `fast` ends sessions in order; `immediate` is as if the machine had lost its power. */
  async stop(mode: "fast" | "immediate" = "fast"): Promise<void> {
    await this.#call("pg_ctl", ["stop", "-w", "-t", "60", "-m", mode, "-D", this.#data]);
  }

  /** Stops the server and removes everything of it. */
  async destroy(): Promise<void> {
    await this.stop("immediate").catch(() => undefined);
    rmSync(this.place.folder, { recursive: true, force: true });
  }

  /** The address of a database, as users write it. */
  addressOf(database: string, user = "hansard:secret"): string {
    return `postgres://${user}@127.0.0.1:${this.place.port}/${database}`;
  }

  /** A copy of the database at an address, file by file, as a base backup restores it; no client may be connected. */
  async copyDatabase(address: string, name: string): Promise<string> {
    return this.createDatabase(name, `TEMPLATE "${new URL(address).pathname.slice(1)}" STRATEGY file_copy`);
  }

  async createDatabase(name: string, options = ""): Promise<string> {
    await this.execute(`CREATE DATABASE "${name}" ${options}`);
    return this.addressOf(name);
  }

  /** A database whose tables lie in a folder of their own, for example on another disk. */
  async createDatabaseIn(folder: string, name = "apart"): Promise<string> {
    const place = join(folder, "tables");
    mkdirSync(place);
    const owner = await serverUser();
    if (owner !== undefined) chownSync(place, owner.uid, owner.gid);
    await this.execute(`CREATE TABLESPACE "${name}" LOCATION '${place}'`);
    return this.createDatabase(name, `TABLESPACE "${name}"`);
  }

  /** Runs SQL as the server's superuser. */
  async execute(sql: string, database = "postgres"): Promise<readonly { readonly [column: string]: unknown }[]> {
    const client = new pg.Client({ connectionString: this.addressOf(database) });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  get #data(): string {
    return join(this.place.folder, "data");
  }

  async #call(program: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<void> {
    const { folder, bin } = this.place;
    // pg_ctl start leaves a server behind that would keep the pipes of its output open.
    const env = { ...process.env, LC_ALL: "C", ...more };
    await run(join(bin, program), args, { cwd: folder, ...(await serverUser()), env });
  }
}

/** Durable as in production, but small: several servers run at once. */
const settings = ["listen_addresses = '127.0.0.1'", "shared_buffers = 64MB", "max_connections = 200", "fsync = on"];

/** PostgreSQL refuses to run as root, so root starts it as another user. */
async function serverUser(): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const ids = await Promise.all(["-u", "-g"].map((flag) => run("id", [flag, name]))).catch(() => undefined);
    if (ids !== undefined) return { uid: Number(ids[0]?.stdout), gid: Number(ids[1]?.stdout) };
  }
  throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as.");
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });
}
