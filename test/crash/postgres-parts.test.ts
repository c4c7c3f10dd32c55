// Bodies in parts on PostgreSQL: read back byte for byte, each text once in the tables, and gone from every file with the last
// entry that holds it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { newEntry } from "../../src/conformance/log-entries.js";
import { copyLog } from "../../src/custody/copy.js";
import { verify } from "../../src/custody/verify.js";
import { Connections } from "../../src/engines/postgres/connection.js";
import { PostgresLog } from "../../src/engines/postgres/log.js";
import { logMigrations } from "../../src/engines/postgres/log-schema.js";
import { migrate } from "../../src/engines/postgres/migrations.js";
import { fromStored } from "../../src/engines/postgres/part-bytes.js";
import { placeUnits } from "../../src/engines/postgres/placing.js";
import { SqliteLog } from "../../src/engines/sqlite/log.js";
import { openRecorder } from "../../src/index.js";
import { GENESIS_HASH } from "../../src/model/chain.js";
import { claimKey } from "../../src/model/claims.js";
import type { EntryLog, LogEntry } from "../../src/ports/entry-log.js";
import { digest, digested, loop, redaction, turn, words } from "../support/history-loop.js";
import { databaseOfTest, serverOfTest, sharedPostgres } from "../support/postgres.js";
import type { PostgresServer } from "../support/postgres-server.js";
import { folderOfTest } from "../support/temporary-folder.js";

const EVERY = 0;
const NONE = Number.POSITIVE_INFINITY;
const ALL = { after: 0, limit: 500 };

async function opened(address: string, parted_bytes_min?: number): Promise<PostgresLog> {
  const connections = await Connections.open({ address, wait_ms: 0 });
  onTestFinished(() => connections.close());
  return PostgresLog.open(connections, parted_bytes_min === undefined ? {} : { parted_bytes_min });
}

async function append(log: EntryLog, entries: readonly LogEntry[]): Promise<void> {
  for (const entry of entries) await log.append([[entry]]);
}

async function sql(address: string, text: string): Promise<readonly { readonly [column: string]: unknown }[]> {
  return (await sharedPostgres()).execute(text, new URL(address).pathname.slice(1));
}

/** As somebody would who may do anything in the database. */
function behindItsBack(address: string, text: string): Promise<unknown> {
  return sql(address, `SET session_replication_role = replica; ${text}`);
}

/** The row of a part, as it is stored. */
async function storedPart(address: string, text: string): Promise<{ readonly start: number; readonly bytes: Buffer }> {
  type Row = { readonly start: string; readonly bytes: Buffer; readonly whole_bytes: number | null };
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  const { rows } = await client.query<Row>("SELECT start, bytes, whole_bytes FROM hansard_parts");
  await client.end();
  const row = rows.find((one) => fromStored([one])[0]?.includes(text)) as Row;
  return { start: Number(row.start), bytes: row.bytes };
}

async function partsIn(address: string): Promise<{ readonly parts: number; readonly texts: number }> {
  const counts = "SELECT count(*)::int AS parts, count(DISTINCT bytes)::int AS texts FROM hansard_parts";
  return (await sql(address, counts))[0] as { readonly parts: number; readonly texts: number };
}

test("a loop that sends its whole history reads, copies and verifies as without parts, and takes its text once", async () => {
  const { entries, texts } = loop(150);
  const [address, whole] = [await databaseOfTest(), await databaseOfTest()];
  const [shared, apart] = [await opened(address), await opened(whole, NONE)];
  await append(shared, entries.slice(0, 100));
  // The rest in one batch, whose entries refer to each other's parts.
  await shared.append(entries.slice(100).map((entry) => [entry]));
  await append(apart, entries);
  expect(digested(await shared.read(ALL))).toEqual(digested(await apart.read(ALL)));
  const positions = [120, 3, 77];
  expect(digested(await shared.get(positions))).toEqual(digested(await apart.get(positions)));
  expect(await shared.getBodies(positions)).toStrictEqual(await apart.getBodies(positions));
  expect(await shared.getCheckedBodies(positions)).toStrictEqual(await apart.getBodies(positions));
  expect(await shared.readBodies(ALL)).toStrictEqual(await apart.readBodies(ALL));
  // A bound is one of the bytes that come out.
  const bytes_max = 2_000_000;
  expect(await shared.readBodies({ ...ALL, bytes_max })).toHaveLength(
    (await apart.readBodies({ ...ALL, bytes_max })).length,
  );
  const verified = await verify(shared);
  expect(verified).toMatchObject({ ok: true, entries: 150 });
  expect(verified).toEqual(await verify(apart));
  const [{ kept }] = (await sql(address, "SELECT sum(octet_length(bytes))::int AS kept FROM hansard_parts")) as [
    { readonly kept: number },
  ];
  expect(kept / texts.reduce((sum, text) => sum + text.length, 0)).toBeLessThan(1.1);
  expect(await sql(address, "SELECT sum(octet_length(body))::int < 60000 AS is_little FROM hansard_bodies")).toEqual([
    { is_little: true },
  ]);

  const folder = folderOfTest();
  const file = SqliteLog.open({ path: join(folder, "log.db"), mode: "create" });
  onTestFinished(() => file.close());
  await copyLog({ from: shared, to: file });
  const back = await opened(await databaseOfTest());
  await copyLog({ from: file, to: back });
  expect(digested(await back.read(ALL))).toEqual(digested(await apart.read(ALL)));
  expect(await verify(file)).toEqual(verified);
  expect(await verify(back)).toEqual(verified);
});

test("an export is the same to the byte with parts and without, with what was forgotten in between", async () => {
  const [one, other] = [await databaseOfTest(), await databaseOfTest()];
  const [whole, shared] = [await opened(one, NONE), await opened(other)];
  await append(whole, [...loop(12).entries, redaction("gone", [7, 12])]);
  await copyLog({ from: whole, to: shared });
  expect(await sql(other, "SELECT count(*)::int AS count FROM hansard_bodies WHERE encoding = 1")).toEqual([
    { count: 10 },
  ]);
  const exported = async (data: string): Promise<string> => {
    const recorder = await openRecorder({ data });
    let text = "";
    for await (const line of recorder.exportEntries()) text += line;
    await recorder.close();
    return text;
  };
  const text = await exported(one);
  expect(text.split("\n")).toHaveLength(15);
  expect(digest(Buffer.from(await exported(other)))).toBe(digest(Buffer.from(text)));
});

test("any bytes are read back as they were given, whatever they look like", async () => {
  const log = await opened(await databaseOfTest(), EVERY);
  const texts = fc.oneof(fc.string(), fc.constantFrom(...[words(80), `"${words(70)}\\`, '\\"'.repeat(150)]));
  const json = fc.jsonValue({ stringUnit: "binary" }).map((value) => JSON.stringify({ list: [value, value], value }));
  const lists = fc
    .array(fc.array(texts, { maxLength: 40 }), { maxLength: 4 })
    .map((all) => JSON.stringify({ all, again: all }));
  const bodies = fc.oneof(json, lists, texts).map((text) => Buffer.from(text));
  let made = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(bodies, fc.uint8Array({ maxLength: 3_000 })), { maxLength: 5 }), async (all) => {
      const unit = all.map((body) => newEntry(`entry-${made++}`, { body: Buffer.from(body) }));
      const { position } = await log.head();
      if (unit.length > 0) await log.append([unit]);
      const stored = await log.read({ after: position, limit: 10 });
      expect(stored.map(({ body }) => digest(body as Uint8Array))).toEqual(unit.map(({ body }) => digest(body)));
    }),
    { seed: 20, numRuns: 100 },
  );
  expect(await log.stray()).toBeUndefined();
});

test("10 MB in 10,000 messages are taken and read again, a second time for a few KB", async () => {
  const address = await databaseOfTest();
  const log = await opened(address);
  const messages = Array.from({ length: 10_000 }, (_, at) => ({ role: "user", content: `${at} ${"x".repeat(1_000)}` }));
  const [first, second] = [
    turn("first", { messages }),
    turn("second", { messages: [...messages, ...messages.slice(0, 1)] }),
  ];
  await append(log, [first]);
  const before = await partsIn(address);
  await append(log, [second]);
  expect((await partsIn(address)).parts - before.parts).toBeLessThan(3);
  const stored = await log.get([1, 2]);
  expect(stored.map((one) => digest(one?.body as Uint8Array))).toEqual([first, second].map(({ body }) => digest(body)));
});

test("a list goes on from one that was stored long before, and two of one batch from each other", async () => {
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

test("two servers that store the same parts at once store each once", async () => {
  const address = await databaseOfTest();
  const servers = [await opened(address), await opened(address)];
  const { entries } = loop(30);
  const again = entries.map(({ kind, body }, at) => {
    const text = Buffer.from(body).toString("utf8").replace(`"turn-${at}"`, `"again-${at}"`);
    return newEntry(`again-${at}`, { kind, body: Buffer.from(text) });
  });
  await Promise.all([append(servers[0] as PostgresLog, entries), append(servers[1] as PostgresLog, again)]);
  const { parts, texts } = await partsIn(address);
  expect(texts).toBe(parts);
  const [log] = servers as [PostgresLog];
  expect(await verify(log)).toMatchObject({ ok: true, entries: 60 });
  const bodies = (await log.read(ALL)).map(({ body }) => digest(body as Uint8Array));
  expect(bodies.toSorted()).toEqual([...entries, ...again].map(({ body }) => digest(body)).toSorted());
});

test("an append that fails leaves no part behind, and so does a server that loses its power", async () => {
  const server = await serverOfTest();
  const address = await server.createDatabase("parts");
  const log = await opened(address);
  const { entries } = loop(12);
  await append(log, entries.slice(0, 3));
  const full = `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON hansard_bodies FOR EACH ROW EXECUTE FUNCTION full_disk()`;
  await server.execute(full, "parts");
  await expect(log.append([[entries[3] as LogEntry]])).rejects.toThrow("full");
  await server.execute("DROP FUNCTION full_disk() CASCADE", "parts");
  expect(await verify(log)).toMatchObject({ ok: true, entries: 3 });
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

test("a part goes from every byte with the last entry that holds it, and one that another holds stays", async () => {
  const server = await serverOfTest();
  const address = await server.createDatabase("parts");
  const [log, beside] = [await opened(address), await opened(address)];
  const { entries, texts } = loop(40);
  await append(log, entries);
  await server.execute("ANALYZE", "parts");
  const [first, early, late, last] = [texts[0], texts[1], texts[60], texts.at(-1)] as [string, string, string, string];
  // Of a part that is compressed, what lies in the files are its compressed bytes.
  const kept = new Map<string, Buffer>();
  for (const text of [early, late, last, first]) kept.set(text, (await storedPart(address, text)).bytes);
  const isThere = async (text: string): Promise<boolean> => {
    const forms = [Buffer.from(text), kept.get(text) as Buffer].map((form) => form.subarray(20, 80));
    return (await filesWith(server, forms)).length > 0;
  };
  expect([await isThere(last), await isThere(late), await isThere(early)]).toEqual([true, true, true]);
  await append(log, [redaction("one", [40])]);
  expect(await log.purge()).toBeUndefined();
  // The last answer was held by its own turn alone, the others by turns before it, too.
  expect([await isThere(last), await isThere(late), await isThere(early)]).toEqual([false, true, true]);
  const keeps = turn("keeps", { messages: [words(900), late].map((content) => ({ role: "user", content })) });
  await beside.append([[redaction("more", range(30, 39))], [keeps]]);
  await beside.append([[redaction("rest", range(1, 29))]]);
  expect(await beside.purge()).toBeUndefined();
  expect([await isThere(late), await isThere(early), await isThere(first)]).toEqual([true, false, false]);
  expect(await verify(log)).toMatchObject({ ok: true, erased: 40 });
  expect((await log.getCheckedBodies([43])).map((stored) => stored?.body)).toEqual([
    Buffer.from(keeps.body).toString("utf8"),
  ]);
});

test("who reads a body while it is erased finds it or that it is erased, and never damage", async () => {
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

test("a damaged part is told with every entry that holds it, whole reads are refused, and so with one that is gone", async () => {
  const address = await databaseOfTest();
  const log = await opened(address);
  const { entries, texts } = loop(6);
  await append(log, entries);
  await append(log, [newEntry("other", { body: Buffer.from(JSON.stringify({ id: "other", error: words(900) })) })]);
  const at = `start = ${(await storedPart(address, texts.at(-5) as string)).start}`;
  await behindItsBack(
    address,
    `UPDATE hansard_parts SET bytes = set_byte(bytes, 20, 255 - get_byte(bytes, 20)) WHERE ${at}`,
  );
  expect(await verify(log)).toMatchObject({ ok: false, position: 4, holders: [4, 5, 6] });
  await expect(log.getCheckedBodies([6])).resolves.toMatchObject([{ flaw: expect.stringContaining("not the one") }]);
  const recorder = await openRecorder({ data: address });
  onTestFinished(() => recorder.close());
  expect(await recorder.verify()).toMatchObject({ ok: false, position: 4, holders: [4, 5, 6] });
  await expect(recorder.getEntry("turn-5")).rejects.toMatchObject({ code: "entry_corrupt" });
  await behindItsBack(address, `DELETE FROM hansard_parts WHERE ${at}`);
  expect(await verify(log)).toMatchObject({ ok: false, position: 4, holders: [4, 5, 6] });
  await expect(recorder.getEntry("turn-5")).rejects.toMatchObject({ code: "entry_corrupt" });
});

test("a part that no entry holds is told, and so is one that lies under another's digest", async () => {
  const address = await databaseOfTest();
  const log = await opened(address);
  await append(log, loop(6).entries);
  await sql(address, "INSERT INTO hansard_parts VALUES (1000000, NULL, NULL, gen_random_uuid(), 'hello')");
  expect(await verify(log)).toMatchObject({
    ...{ ok: false, position: 0, reason: expect.stringContaining("no entry holds") },
  });
  await behindItsBack(address, "DELETE FROM hansard_parts WHERE start = 1000000");
  expect(await verify(log)).toMatchObject({ ok: true });
  await behindItsBack(address, "UPDATE hansard_parts SET digest = gen_random_uuid() WHERE start = 0");
  expect(await verify(log)).toMatchObject({ ok: false, position: 1, reason: expect.stringContaining("filed") });
});

test("parts are changed by nobody, and deleted only with a redaction", async () => {
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

test("a log of before is read as it is and goes on in parts; a server of that version is told to stop", async () => {
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
  await expect(appendAsBefore(client, 5, placed[4] as (typeof placed)[number])).rejects.toThrow("newer version");
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

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

/** The files of the server that hold one of these, but for the WAL, which PostgreSQL recycles in its own time. */
async function filesWith(server: PostgresServer, forms: readonly Buffer[]): Promise<readonly string[]> {
  await server.execute("CHECKPOINT");
  return readdirSync(join(server.place.folder, "data"), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && !file.parentPath.includes("pg_wal"))
    .map((file) => join(file.parentPath, file.name))
    .filter((path) => forms.some((form) => readFileSync(path).includes(form)));
}
