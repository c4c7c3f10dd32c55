// Bodies in parts, in what is PostgreSQL's own: batches and several servers, dumps, guards, and logs of before.

import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { Connections } from "../../src/engines/postgres/driver.js";
import { PostgresLog } from "../../src/engines/postgres/log.js";
import { placeUnits } from "../../src/engines/postgres/log-append.js";
import { logMigrations } from "../../src/engines/postgres/log-schema.js";
import { migrate } from "../../src/engines/postgres/migrations.js";
import { SqliteLog } from "../../src/engines/sqlite/log.js";
import { copyLog } from "../../src/log/copy.js";
import type { EntryLog, LogEntry } from "../../src/log/port.js";
import { verify } from "../../src/log/verify.js";
import { GENESIS_HASH } from "../../src/model/chain.js";
import { claimKey } from "../../src/model/claims.js";
import { itemAt } from "../../src/model/item-at.js";
import { digest, digested, loop, range, redaction, turn, words } from "../support/history-loop.js";
import { databaseOfTest, serverOfTest, sharedPostgres } from "../support/postgres.js";
import { folderOfTest } from "../support/temporary-folder.js";

const ALL = { after: 0, limit: 500 };

async function opened(address: string): Promise<PostgresLog> {
  const connections = await Connections.open({ address, wait_ms: 0 });
  onTestFinished(() => connections.close());
  return PostgresLog.open(connections);
}

async function append(log: EntryLog, entries: readonly LogEntry[]): Promise<void> {
  for (const entry of entries) await log.append([[entry]]);
}

async function sql(address: string, text: string): Promise<readonly { readonly [column: string]: unknown }[]> {
  return (await sharedPostgres()).execute(text, new URL(address).pathname.slice(1));
}

async function partsIn(address: string): Promise<{ readonly parts: number; readonly texts: number }> {
  const counts = "SELECT count(*)::int AS parts, count(DISTINCT bytes)::int AS texts FROM hansard_parts";
  return (await sql(address, counts))[0] as { readonly parts: number; readonly texts: number };
}

test("a log is copied to a file and back with its parts, and restored from a database backup", async () => {
  const server = await serverOfTest();
  const { entries, texts } = loop(40);
  const address = await server.createDatabase("parts");
  const connections = await Connections.open({ address, wait_ms: 0 });
  const log = await PostgresLog.open(connections);
  await append(log, [...entries, redaction("gone", [7, 40])]);
  const [stored, verified] = [digested(await log.read(ALL)), await verify(log)];
  expect(verified).toMatchObject({ ok: true, erased: 2 });
  const file = SqliteLog.open({ path: join(folderOfTest(), "log.db"), mode: "create" });
  onTestFinished(() => file.close());
  await copyLog({ from: log, to: file });
  const back = await opened(await databaseOfTest());
  await copyLog({ from: file, to: back });
  await connections.close();
  const again = await opened(await server.copyDatabase(address, "restored"));
  for (const copy of [file, back, again]) {
    expect(digested(await copy.read(ALL))).toEqual(stored);
    expect(await verify(copy)).toEqual(verified);
  }
  // What a restored store goes on with refers to what was there, and goes with its last holder there.
  const parts = async (): Promise<number> => {
    const [row] = await server.execute("SELECT count(*)::int AS parts FROM hansard_parts", "restored");
    return row?.parts as number;
  };
  const before = await parts();
  const said = [texts[1], texts[20]].map((content) => ({ role: "user", content: content as string }));
  await append(again, [turn("more", { messages: said })]);
  expect((await parts()) - before).toBeLessThan(2);
  expect(await again.guards()).toEqual({ missing: [], foreign: [] });
  await append(again, [redaction("rest", [...range(1, 6), ...range(8, 39), 42])]);
  expect(await parts()).toBe(0);
});

test("a list continues one that was stored long before, and two of one batch continue each other", async () => {
  const address = await databaseOfTest();
  const messages = Array.from({ length: 120 }, () => ({ role: "user", content: words(60) }));
  const entries = [30, 100, 110, 120].map((count, at) => turn(`turn-${at}`, { messages: messages.slice(0, count) }));
  await append(await opened(address), entries.slice(0, 1));
  // Another server, which knows of nothing, and seventy messages later.
  const log = await opened(address);
  await append(log, entries.slice(1, 2));
  // One part for each message, and a list for each turn.
  expect(await partsIn(address)).toEqual({ parts: 102, texts: 102 });
  await log.append([entries.slice(2)]);
  expect(await partsIn(address)).toEqual({ parts: 124, texts: 124 });
  const bodies = (await log.read(ALL)).map(({ body }) => digest(body as Uint8Array));
  expect(bodies).toEqual(entries.map(({ body }) => digest(body)));
  expect(await verify(log)).toMatchObject({ ok: true, entries: 4 });
});

test("a server that loses power leaves no orphaned part, and continues", async () => {
  const server = await serverOfTest();
  const log = await opened(await server.createDatabase("parts"));
  const { entries } = loop(12);
  await append(log, entries.slice(0, 3));
  // Whatever was under way when the power went is there whole or not at all.
  const answers = Promise.allSettled(entries.slice(3).map((entry) => log.append([[entry]])));
  await server.stop("immediate");
  await server.start();
  await answers;
  expect(await verify(log)).toMatchObject({ ok: true });
  for (const entry of entries.slice(3)) await log.append([[entry]]);
  expect(await verify(log)).toMatchObject({ ok: true, entries: 12 });
  expect(new Set((await log.read(ALL)).map(({ body }) => digest(body as Uint8Array)))).toEqual(
    new Set(entries.map(({ body }) => digest(body))),
  );
});

test("reading a body during its erasure gives the body or its erasure, never damage", async () => {
  const address = await databaseOfTest();
  const [log, reader] = [await opened(address), await opened(address)];
  const { entries } = loop(60);
  await append(log, entries);
  let isOver = false;
  const reading = (async () => {
    const flaws: string[] = [];
    while (!isOver) {
      for (const { flaw } of await reader.readBodies(ALL)) if (flaw !== undefined) flaws.push(flaw);
    }
    return flaws;
  })();
  for (const position of range(1, 60)) await log.append([[redaction(`gone-${position}`, [61 - position])]]);
  isOver = true;
  expect(await reading).toEqual([]);
  expect(await partsIn(address)).toMatchObject({ parts: 0 });
});

test("parts cannot be changed, and are deleted only with a redaction", async () => {
  const address = await databaseOfTest();
  const log = await opened(address);
  await append(log, loop(4).entries);
  await expect(sql(address, "UPDATE hansard_parts SET bytes = ''")).rejects.toThrow("append-only");
  await expect(sql(address, "DELETE FROM hansard_parts")).rejects.toThrow("only with a redaction");
  await append(log, [redaction("gone", [4])]);
  await expect(sql(address, "DELETE FROM hansard_parts")).rejects.toThrow("only with a redaction");
  await expect(sql(address, "TRUNCATE hansard_parts")).rejects.toThrow("append-only");
  expect(await log.guards()).toEqual({ missing: [], foreign: [] });
});

test("an older log is read as it is and continues in parts; a server of the older version stops", async () => {
  const address = await databaseOfTest();
  const connections = await Connections.open({ address, wait_ms: 0 });
  onTestFinished(() => connections.close());
  await migrate(connections, { part: "log", steps: logMigrations.slice(0, 2) });
  const { entries } = loop(8);
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  onTestFinished(() => client.end());
  const placed = placeUnits({ position: 0, hash: Buffer.from(GENESIS_HASH) }, [entries], new Map()).entries;
  for (const [index, entry] of placed.slice(0, 4).entries()) await appendAsBefore(client, index + 1, entry);
  const log = await opened(address);
  expect(await verify(log)).toMatchObject({ ok: true, entries: 4 });
  await expect(appendAsBefore(client, 5, itemAt(placed, 4))).rejects.toThrow("newer version");
  await append(log, entries.slice(4));
  expect(await sql(address, "SELECT encoding, count(*)::int FROM hansard_bodies GROUP BY 1 ORDER BY 1")).toEqual([
    { encoding: 0, count: 4 },
    { encoding: 1, count: 4 },
  ]);
  expect((await log.read(ALL)).map(({ body }) => digest(body as Uint8Array))).toEqual(
    entries.map(({ body }) => digest(body)),
  );
  expect(await verify(log)).toMatchObject({ ok: true, entries: 8 });
  // The older one would refuse to open it.
  await expect(migrate(connections, { part: "log", steps: logMigrations.slice(0, 2) })).rejects.toMatchObject({
    code: "store_newer",
  });
});

/** What a server of the version before did. */
async function appendAsBefore(
  client: pg.Client,
  position: number,
  entry: ReturnType<typeof placeUnits>["entries"][number],
): Promise<void> {
  await client.query("UPDATE hansard_head SET position = $1, hash = $2", [position, entry.hash]);
  await client.query(
    `INSERT INTO hansard_entries (position, kind, recorded_at, recorded_by, claims_digest, commitment, hash)
      VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      ...[position, entry.kind, entry.recorded_at, entry.recorded_by],
      ...[entry.claims_digest, entry.commitment, entry.hash],
    ],
  );
  const body = [position, entry.salt, entry.body];
  await client.query("INSERT INTO hansard_bodies (position, salt, encoding, body) VALUES ($1, $2, 0, $3)", body);
  for (const claim of entry.claims) {
    await client.query("INSERT INTO hansard_claims VALUES ($1, $2)", [claimKey(claim), position]);
  }
}
