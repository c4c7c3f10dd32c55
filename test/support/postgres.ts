// One PostgreSQL for the whole test run, started by the first test that needs it, and a database of its own for each.
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { inject, onTestFinished } from "vitest";
import { PostgresServer, type ServerPlace } from "./postgres-server.js";

const START_MS_MAX = 90_000;
const SHARED_DATABASE = "stores";

declare module "vitest" {
  export interface ProvidedContext {
    /** Where the first test that needs a PostgreSQL writes down how to reach it. */
    readonly postgresFolder: string;
  }
}

/** The server that all test files share. */
export async function sharedPostgres(): Promise<PostgresServer> {
  const folder = inject("postgresFolder");
  const placeFile = join(folder, "place.json");
  if (isFirst(folder)) {
    const text = await createShared().then(
      (server) => JSON.stringify(server.place),
      (error: unknown) => JSON.stringify({ failure: String(error) }),
    );
    writeFileSync(`${placeFile}.new`, text);
    renameSync(`${placeFile}.new`, placeFile);
  }
  const end = performance.now() + START_MS_MAX;
  while (!existsSync(placeFile)) {
    if (performance.now() > end) throw new Error("PostgreSQL did not start in time.");
    await pause(50);
  }
  const place = JSON.parse(readFileSync(placeFile, "utf8")) as ServerPlace | { readonly failure: string };
  if ("failure" in place) throw new Error(place.failure);
  return new PostgresServer(place);
}

/**
 * The address of the store of this name, which is made where there is none. It is a schema and not a database of its own,
 * because that takes a hundredth of the time, and every test needs one.
 */
export async function storeAddress(name: string): Promise<string> {
  const server = await sharedPostgres();
  await server.execute(`CREATE SCHEMA IF NOT EXISTS "${name}"`, SHARED_DATABASE).catch((error: unknown) => {
    // Another process that creates it at this moment creates the same one.
    if ((error as { readonly code?: string }).code !== "23505") throw error;
  });
  return `${server.addressOf(SHARED_DATABASE)}?options=${encodeURIComponent(`-c search_path="${name}",public`)}`;
}

/** A database for one test, which goes with it; called inside the test. */
export async function databaseOfTest(): Promise<string> {
  const server = await sharedPostgres();
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const address = await server.createDatabase(name);
  onTestFinished(async () => {
    await server.execute(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
  });
  return address;
}

/** A server for one test alone, for tests that stop it; called inside the test. */
export async function serverOfTest(options: Parameters<typeof PostgresServer.create>[0] = {}): Promise<PostgresServer> {
  const server = await PostgresServer.create(options);
  onTestFinished(() => server.destroy());
  return server;
}

async function createShared(): Promise<PostgresServer> {
  const server = await PostgresServer.create();
  await server.createDatabase(SHARED_DATABASE);
  await server.execute("CREATE EXTENSION pg_trgm", SHARED_DATABASE);
  return server;
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(join(folder, "started"));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
