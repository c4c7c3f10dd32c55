// What goes wrong with a PostgreSQL, said in our words: at the start, while it runs, and when it is gone.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Connections } from "../../src/engines/postgres/driver.js";
import { toFault } from "../../src/engines/postgres/faults.js";
import { PostgresLog } from "../../src/engines/postgres/log.js";
import { openPostgres, type PostgresStore } from "../../src/engines/postgres/store.js";
import { verify } from "../../src/log/verify.js";
import { newEntries, newEntry, positionsOf } from "../conformance/suites/log-entries.js";
import { databaseOfTest, serverOfTest, sharedPostgres } from "../support/postgres.js";
import { TcpRelay } from "../support/tcp-relay.js";

describe("at the start", () => {
  test("a wrong password is refused at once, and no message shows it", async () => {
    const server = await sharedPostgres();
    const failure = await open(server.addressOf("postgres", "hansard:mistaken")).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "Fault", code: "store_refused" });
    expect(String(failure)).not.toContain("mistaken");
  });

  test("a missing database is named, with the statement that creates it", async () => {
    const server = await sharedPostgres();
    await expect(open(server.addressOf("nowhere"))).rejects.toMatchObject({
      code: "store_missing",
      message: expect.stringContaining("nowhere"),
      hint: expect.stringContaining("CREATE DATABASE"),
    });
  });

  test("a user who may not create tables gets the GRANT to run", async () => {
    const server = await sharedPostgres();
    const address = await databaseOfTest();
    const database = databaseName(address);
    await server.execute("DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD 'reads'");
    await server.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE EXTENSION pg_trgm", database);
    await expect(open(server.addressOf(database, "reader:reads"))).rejects.toMatchObject({
      code: "store_not_writable",
      hint: expect.stringContaining("GRANT"),
    });
  });

  test("a database with the C locale is refused, because search would be blind in most languages", async () => {
    const server = await sharedPostgres();
    const options = "TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'";
    const address = await server.createDatabase(`c_locale_${process.pid}`, options);
    await expect(open(address)).rejects.toMatchObject({
      code: "store_unsuitable",
      message: expect.stringContaining("locale C"),
      hint: expect.stringContaining("C.UTF-8"),
    });
    const left = "SELECT tablename FROM pg_tables WHERE tablename LIKE 'hansard%'";
    expect(await server.execute(left, databaseName(address))).toEqual([]);
  });

  test("a database in another encoding is refused", async () => {
    const server = await sharedPostgres();
    const options = "TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'";
    const address = await server.createDatabase(`latin_${process.pid}`, options);
    await expect(open(address)).rejects.toMatchObject({ code: "store_unsuitable" });
  });

  test("a server that is too old is refused, with its version and the one that is needed", async () => {
    const server = await sharedPostgres();
    const address = await databaseOfTest();
    // No server that old is at hand, so this one says of itself that it is.
    await server.execute(
      `CREATE SCHEMA old; CREATE FUNCTION old.current_setting(name text) RETURNS text LANGUAGE sql AS $$
         SELECT CASE name WHEN 'server_version_num' THEN '120022' WHEN 'server_version' THEN '12.22'
           ELSE pg_catalog.current_setting(name) END $$`,
      databaseName(address),
    );
    await expect(open(`${address}?options=-c%20search_path%3Dold,pg_catalog`)).rejects.toMatchObject({
      code: "store_unsuitable",
      message: expect.stringMatching(/PostgreSQL 12\.22, and Hansard needs 13/),
      hint: expect.stringContaining("Upgrade"),
    });
  });

  test("without the extension that search needs, the error names the package to install", async () => {
    const server = await sharedPostgres();
    const failure = await server.execute("CREATE EXTENSION nowhere").catch((error: unknown) => error);
    expect(toFault(failure, server.addressOf("postgres"))).toMatchObject({
      code: "store_unsuitable",
      hint: expect.stringContaining("postgresql-contrib"),
    });
  });

  test("a server that is down is retried, then reported as unavailable", async () => {
    const start = performance.now();
    const onWait = vi.fn();
    const address = "postgres://nobody@127.0.0.1:1/none";
    await expect(openPostgres({ address, create: true, wait_ms: 700, onWait })).rejects.toMatchObject({
      code: "store_unavailable",
    });
    expect(onWait.mock.calls).toEqual([[expect.objectContaining({ code: "store_unavailable" })]]);
    expect(performance.now() - start).toBeGreaterThan(400);
  });

  test("a missing store is an error where it must not be created", async () => {
    const address = await databaseOfTest();
    await expect(openPostgres({ address, create: false, wait_ms: 0 })).rejects.toMatchObject({ code: "store_missing" });
  });

  test("a store of a newer version is not changed", async () => {
    const address = await databaseOfTest();
    await close(await open(address));
    const database = databaseName(address);
    await (await sharedPostgres()).execute("UPDATE hansard_versions SET version = 99 WHERE part = 'log'", database);
    await expect(open(address)).rejects.toMatchObject({ code: "store_newer" });
  });

  test("an index of a newer version is not changed: open programs continue recording, and reads are refused", async () => {
    const address = await databaseOfTest();
    const store = await open(address);
    const newer = "UPDATE hansard_versions SET version = 99000 WHERE part = 'index'";
    await (await sharedPostgres()).execute(newer, databaseName(address));
    expect(positionsOf(await store.log.append([[newEntry("still")]]))).toEqual([1]);
    await expect(store.index.checkpoint()).rejects.toMatchObject({ code: "store_newer" });
    const batch = { after: { position: 0, epoch: "" }, rows: [], through: 1 };
    await expect(store.index.apply(batch)).rejects.toMatchObject({ code: "store_newer" });
    await expect(open(address)).rejects.toMatchObject({ code: "store_newer" });
    await close(store);
  });
});

describe("the log refuses", () => {
  for (const table of ["entries", "bodies", "claims"]) {
    test(`to change, delete or replace ${table}`, async () => {
      const { log, query } = await logWithSql();
      await log.append([newEntries("entry", 3)]);
      for (const sql of [
        `UPDATE hansard_${table} SET position = position`,
        `DELETE FROM hansard_${table}`,
        `TRUNCATE hansard_${table}`,
        `INSERT INTO hansard_${table} SELECT * FROM hansard_${table}
           ON CONFLICT (${table === "claims" ? "claim" : "position"}) DO UPDATE SET position = excluded.position`,
      ]) {
        await expect(query(sql), sql).rejects.toThrow(/append-only|redaction/);
      }
      await expect(query("TRUNCATE hansard_bodies_1")).rejects.toThrow("append-only");
      expect((await log.read({ after: 0, limit: 10 })).map(({ body }) => body !== undefined)).toEqual([
        true,
        true,
        true,
      ]);
    });
  }

  test("to move its head back, and to lose it", async () => {
    const { log, query } = await logWithSql();
    await log.append([newEntries("entry", 3)]);
    await expect(query("UPDATE hansard_head SET position = 1")).rejects.toThrow("only goes forward");
    await expect(query("UPDATE hansard_head SET log_id = 'other'")).rejects.toThrow("only goes forward");
    await expect(query("DELETE FROM hansard_head")).rejects.toThrow("append-only");
  });
});

describe("while it runs", () => {
  test("bodies continue in new partitions, which are created in advance", async () => {
    const { log, query } = await logWithSql({ partition_positions: 10 });
    // The first partition has its usual size; what is restored beyond it shows the next ones.
    await query("ALTER TABLE hansard_bodies DETACH PARTITION hansard_bodies_1; DROP TABLE hansard_bodies_1");
    for (let batch = 0; batch < 7; batch += 1) await log.append([newEntries(`batch-${batch}`, 6)]);
    expect((await log.read({ after: 0, limit: 100 })).filter(({ body }) => body !== undefined)).toHaveLength(42);
    const partitions = "SELECT 1 FROM pg_inherits WHERE inhparent = 'hansard_bodies'::regclass";
    await expect.poll(async () => (await query(partitions)).length).toBeGreaterThanOrEqual(5);
  });

  test("a transaction that blocks the head gives a clear fault in time, and nothing is stored", async () => {
    const address = await databaseOfTest();
    const log = await PostgresLog.open(await Connections.open({ address, wait_ms: 0, lock_ms: 300 }));
    const blocker = new pg.Client({ connectionString: address });
    await blocker.connect();
    await blocker.query("BEGIN; SELECT * FROM hansard_head FOR UPDATE");
    await expect(log.append([[newEntry("late")]])).rejects.toMatchObject({ code: "store_busy" });
    await blocker.end();
    expect(positionsOf(await log.append([[newEntry("late")]]))).toEqual([1]);
    await log.close();
  });

  test.each(["head", "lease"])(
    "a program that is killed while it holds the %s leaves it to the others",
    async (what) => {
      const address = await databaseOfTest();
      const store = await open(address);
      const program = fileURLToPath(new URL("./postgres-holder.js", import.meta.url));
      const holder = spawn(process.execPath, [program, address, what], { stdio: ["ignore", "pipe", "inherit"] });
      onTestFinished(() => void holder.kill("SIGKILL"));
      await once(holder.stdout, "data");
      if (what === "lease") {
        expect(await store.leases.hold("indexer")).toBe(false);
        holder.kill("SIGKILL");
        await vi.waitUntil(() => store.leases.hold("indexer"), { timeout: 30_000 });
      } else {
        const waiting = store.log.append([[newEntry("waits")]]);
        holder.kill("SIGKILL");
        expect(positionsOf(await waiting)).toEqual([1]);
      }
      await close(store);
    },
  );

  test("a session that stops answering is dropped; its batch is stored once, even if it resumes later", async () => {
    const address = await databaseOfTest();
    const server = await sharedPostgres();
    const log = await PostgresLog.open(await Connections.open({ address, wait_ms: 0, quick_ms: 500 }));
    await log.append([[newEntry("before")]]);
    const sessions = "SELECT pid FROM pg_stat_activity WHERE application_name = 'hansard' AND datname = $1";
    const asleep = (await server.execute(sessions.replace("$1", `'${databaseName(address)}'`))).map(({ pid }) =>
      Number(pid),
    );
    expect(asleep).not.toEqual([]);
    for (const pid of asleep) process.kill(pid, "SIGSTOP");
    try {
      expect(positionsOf(await log.append([newEntries("meanwhile", 3)]))).toEqual([2, 3, 4]);
    } finally {
      for (const pid of asleep) process.kill(pid, "SIGCONT");
    }
    expect(positionsOf(await log.append([[newEntry("after")]]))).toEqual([5]);
    expect((await log.read({ after: 0, limit: 10 })).map(({ position }) => position)).toEqual([1, 2, 3, 4, 5]);
    await log.close();
  });

  test("rows that cannot be vacuumed because a transaction reads them are reported, and nothing fails", async () => {
    const address = await databaseOfTest();
    const log = await PostgresLog.open(await Connections.open({ address, wait_ms: 0, lock_ms: 300 }));
    await log.append([newEntries("entry", 3)]);
    const reader = new pg.Client({ connectionString: address });
    await reader.connect();
    await reader.query("BEGIN; SELECT * FROM hansard_bodies");
    const body = Buffer.from(JSON.stringify({ id: "gone", positions: [2], reason: "asked to" }));
    await log.append([[newEntry("gone", { kind: "redaction", body })]]);
    expect(await log.purge()).toMatch(
      /still be in the files of hansard_bodies_1: it could not be vacuumed .*held a lock/,
    );
    await reader.end();
    await log.close();
  });

  test("a batch whose connection was cut is stored once, whether it had been committed or not", async () => {
    const { log, query } = await logWithSql();
    const cut =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    const positions: number[] = [];
    const cutting = (async () => {
      for (let times = 0; times < 25; times += 1) {
        await query(cut);
        await pause(20);
      }
    })();
    for (let batch = 0; batch < 60; batch += 1) {
      positions.push(...positionsOf(await log.append([newEntries(`batch-${batch}`, 5)])));
    }
    await cutting;
    expect(positions).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
    expect((await log.head()).position).toBe(300);
  });

  test("a committed batch whose response was lost is stored once and acknowledged", async () => {
    const address = await databaseOfTest();
    const relay = await TcpRelay.open({ host: "127.0.0.1", port: Number(new URL(address).port) });
    onTestFinished(() => relay.close());
    const log = await PostgresLog.open(await Connections.open({ address: relay.through(address), wait_ms: 30_000 }));
    expect(positionsOf(await log.append([[newEntry("before")]]))).toEqual([1]);
    relay.dropAnswers(1);
    expect(positionsOf(await log.append([newEntries("lost", 3)]))).toEqual([2, 3, 4]);
    expect(relay.answersToDrop).toBe(0);
    expect((await log.head()).position).toBe(4);
    await log.close();
  });

  test("while the server is down every call says so; afterwards the same store continues", async () => {
    const server = await serverOfTest();
    const store = await open(await server.createDatabase("away"));
    await store.log.append([newEntries("before", 3)]);
    await server.stop("immediate");
    await expect(store.log.append([[newEntry("meanwhile")]])).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(store.log.head()).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(store.index.checkpoint()).rejects.toMatchObject({ code: "store_unavailable" });
    await server.start();
    expect(positionsOf(await store.log.append([[newEntry("after")]]))).toEqual([4]);
    await close(store);
  });
});

function databaseName(address: string): string {
  return new URL(address).pathname.slice(1);
}

function open(address: string, wait_ms = 0): Promise<PostgresStore> {
  return openPostgres({ address, create: true, wait_ms });
}

async function close({ log, growth, leases }: PostgresStore): Promise<void> {
  growth.close();
  await leases.close();
  await log.close();
}

describe("verify detects direct changes of the database:", () => {
  const entry = "kind, recorded_at, commitment, hash FROM hansard_entries WHERE position = 2";
  test.each([
    ["an entry behind the head", 4, `INSERT INTO hansard_entries SELECT 4, ${entry}`],
    ["an entry before the first", 0, `INSERT INTO hansard_entries SELECT 0, ${entry}`],
    [
      ...(["a body behind the head", 4] as const),
      "INSERT INTO hansard_bodies SELECT 4, salt, encoding, body FROM hansard_bodies WHERE position = 2",
    ],
    ["a claim that leads behind the head", 9, "INSERT INTO hansard_claims VALUES ('later', 9)"],
    ["another hash at the head", 3, "UPDATE hansard_head SET hash = 'other'"],
    ["the last entry cut off", 3, "DELETE FROM hansard_entries WHERE position = 3"],
    ["a changed kind", 2, "UPDATE hansard_entries SET kind = 'raw' WHERE position = 2"],
  ])("%s", async (_, position, sql) => {
    const { log, query } = await logWithSql();
    await log.append([newEntries("entry", 3)]);
    expect(await verify(log)).toMatchObject({ ok: true, entries: 3 });
    await query(`SET session_replication_role = replica; ${sql}`);
    expect(await verify(log)).toMatchObject({ ok: false, position });
    await log.close();
  });
});

async function logWithSql(options: { readonly partition_positions?: number } = {}): Promise<{
  readonly log: PostgresLog;
  readonly query: (sql: string) => Promise<readonly unknown[]>;
}> {
  const address = await databaseOfTest();
  const server = await sharedPostgres();
  const log = await PostgresLog.open(await Connections.open({ address, wait_ms: 0 }), options);
  return { log, query: (sql) => server.execute(sql, databaseName(address)) };
}
