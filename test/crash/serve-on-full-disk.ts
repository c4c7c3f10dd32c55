// A program that serves from a small disk, fills it over HTTP, frees it again, and prints what the server answered.
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openRecorder } from "../../src/index.js";
import { serve } from "../../src/surfaces/http/serve.js";
import { PostgresServer } from "../support/postgres-server.js";
import { placeBallast } from "./ballast.js";

export interface ServingReport {
  /** Statuses and codes of refused captures, each once. */
  readonly refusals: readonly string[];
  readonly health_while_full: { readonly status: number; readonly body: object };
  readonly read_while_full: number;
  readonly status_after: number;
  readonly health_after: { readonly status: number; readonly body: object };
  /** Ids that were acknowledged and are missing, or were refused and are there. */
  readonly wrong: readonly string[];
}

const FREE_BYTES = 16 * 1024 * 1024;
const REFUSALS_ENOUGH = 20;
/** Nothing that a store could make shorter. */
const text = (): string => randomBytes(18_000).toString("base64");

const [folder, engine] = process.argv.slice(2) as [string, string | undefined];
const database = engine === "postgres" ? await PostgresServer.create() : undefined;
const data = (await database?.createDatabaseIn(folder)) ?? join(folder, "store");
const ballast = join(folder, "ballast");
placeBallast(ballast, { free_bytes: FREE_BYTES });
const serving = await serve({ recorder: await openRecorder({ data }), version: "1", port: 0 });

async function post(id: string): Promise<{ readonly status: number; readonly code?: string }> {
  const response = await fetch(`${serving.address}/entries`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ kind: "error", id, error: text() }),
  });
  const body = (await response.json()) as { readonly error?: { readonly code: string } };
  return { status: response.status, ...(body.error === undefined ? {} : { code: body.error.code }) };
}

async function get(path: string): Promise<{ readonly status: number; readonly body: object }> {
  const response = await fetch(`${serving.address}${path}`);
  return { status: response.status, body: (await response.json()) as object };
}

async function report(): Promise<ServingReport> {
  const stored: string[] = [];
  const refused: string[] = [];
  const refusals = new Set<string>();
  for (let nth = 0; refused.length < REFUSALS_ENOUGH; nth += 1) {
    const { status, code } = await post(`full.${nth}`);
    (status === 201 ? stored : refused).push(`full.${nth}`);
    if (status !== 201) refusals.add(`${status} ${code}`);
  }
  const health_while_full = await get("/health");
  const read_while_full = (await get(`/entries/${stored[0]}`)).status;
  rmSync(ballast);
  const { status: status_after } = await post("free");
  const health_after = await get("/health");
  const wrong: string[] = [];
  for (const id of stored) if ((await get(`/entries/${id}`)).status !== 200) wrong.push(id);
  for (const id of refused) if ((await get(`/entries/${id}`)).status !== 404) wrong.push(id);
  return { refusals: [...refusals], health_while_full, read_while_full, status_after, health_after, wrong };
}

process.stdout.write(JSON.stringify(await report()));
await serving.close();
await database?.destroy();
