// A program that serves from a small disk, leaves next to no room on it, forgets over HTTP, and prints what was answered.
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openRecorder } from "../../src/index.js";
import { serve } from "../../src/surfaces/http/serve.js";
import { PostgresServer } from "../support/postgres-server.js";
import { placeBallast } from "./ballast.js";

export interface ForgettingReport {
  readonly status: number;
  readonly positions: readonly number[];
  readonly redaction: number;
  /** How much could not be cleaned, in words. */
  readonly left: readonly string[];
  /** Whether what was forgotten is still answered with. */
  readonly is_read: boolean;
  readonly verified: boolean;
  /** What the next forgetting left, once there was room. */
  readonly left_after: readonly string[];
}

const ENTRIES = 60;
/** Enough for a redaction, and not for a copy of the index. */
const FREE_BYTES = 400 * 1024;
const text = (): string => randomBytes(18_000).toString("base64");

const [folder, engine] = process.argv.slice(2) as [string, string | undefined];
const database = engine === "postgres" ? await PostgresServer.create() : undefined;
const data = (await database?.createDatabaseIn(folder)) ?? join(folder, "store");
const ballast = join(folder, "ballast");
const serving = await serve({ recorder: await openRecorder({ data }), version: "1", port: 0 });

async function ask(path: string, body?: object): Promise<{ readonly status: number; readonly body: object }> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(`${serving.address}${path}`, body === undefined ? {} : init);
  return { status: response.status, body: (await response.json()) as object };
}

async function report(): Promise<ForgettingReport> {
  for (let nth = 0; nth < ENTRIES; nth += 1) {
    // One of them is long, so overflow pages have to be scrubbed, too.
    const [session_id, error] = nth < 5 ? ["few", nth === 0 ? text() : "short"] : ["many", text()];
    await ask("/entries", { kind: "error", id: `e${nth}`, session_id, error });
  }
  await ask("/search?q=nothing");
  // What is still to be indexed would take the room that is left.
  const metrics = async (): Promise<string> => (await fetch(`${serving.address}/metrics`)).text();
  while (!/text_index_lag_entries 0$/m.test(await metrics())) await pause(50);
  await pause(1_000);
  placeBallast(ballast, { free_bytes: FREE_BYTES });
  const { status, body } = await ask("/forget", { session_id: "few", reason: "it was asked for" });
  const forgotten = body as Pick<ForgettingReport, "positions" | "redaction" | "left">;
  const read = await ask("/entries/e2");
  rmSync(ballast);
  const verified = (await ask("/verify")).body as { readonly ok: boolean };
  const after = await ask("/forget", { entry: "e9", reason: "it was asked for" });
  return {
    status,
    positions: forgotten.positions,
    redaction: forgotten.redaction,
    left: forgotten.left,
    is_read: JSON.stringify(read.body).includes('"error":"'),
    verified: verified.ok,
    left_after: (after.body as ForgettingReport).left,
  };
}

process.stdout.write(JSON.stringify(await report()));
await serving.close();
await database?.destroy();
