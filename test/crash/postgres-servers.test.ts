// Two servers on one PostgreSQL: one is killed, PostgreSQL is restarted, and nothing acknowledged is lost or stored twice.

import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { type ServingCli, serveCli } from "../e2e/cli-run.js";
import { serverOfTest } from "../support/postgres.js";
import type { PostgresServer } from "../support/postgres-server.js";

const WRITERS = 16;
const RETRY_MS = 50;

test("sixteen writers on two servers, one killed, PostgreSQL restarted: gapless, verified, complete", async () => {
  const database = await serverOfTest();
  const data = await database.createDatabase("shared");
  const servers = [await serve(data), await serve(data)];
  const acknowledged = new Map<string, number>();
  let isOver = false;
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let count = 0; !isOver; count += 1) {
      const id = `w${writer}-${count}`;
      acknowledged.set(id, await recordUntilTaken(servers, writer + count, id));
    }
  });
  await pause(700);
  servers[0]?.child.kill("SIGKILL");
  await pause(300);
  servers[0] = await serve(data);
  await pause(300);
  await database.stop("immediate");
  await pause(300);
  await database.start();
  await until(async () => (await healthOf(servers)).every(({ status }) => status === "ok"));
  await pause(700);
  isOver = true;
  await Promise.all(writers);

  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  const { position } = await recorder.health();
  const verification = await recorder.verify();
  expect(verification).toMatchObject({ ok: true, entries: position });
  // Clients without an answer sent the same id again, so there is one entry for each.
  expect(new Set(acknowledged.values()).size).toBe(acknowledged.size);
  expect(position).toBe(acknowledged.size);
  expect((await recorder.count()).entries).toBe(position);
  for (const server of servers) {
    const ids = await idsThrough(server);
    expect(ids).toEqual(new Set(acknowledged.keys()));
  }
}, 300_000);

test("while PostgreSQL is down, captures and reads are a 503 with Retry-After, and health is degraded", async () => {
  const database = await serverOfTest();
  const server = await serve(await database.createDatabase("away"));
  expect(await record(server, "before")).toMatchObject({ status: 201 });
  await until(async () => (await healthOf([server]))[0]?.indexed_through === 1);
  await database.stop("immediate");
  for (const path of ["/interactions", "/entries/before", "/sessions", "/verify"]) {
    const answer = await fetch(`${server.address}${path}`);
    expect({ path, status: answer.status, after: answer.headers.get("retry-after") }).toEqual({
      path,
      status: 503,
      after: "1",
    });
    expect(await answer.json()).toMatchObject({ error: { code: "store_unavailable", hint: expect.any(String) } });
  }
  expect((await record(server, "meanwhile")).status).toBe(503);
  // A client whose key cannot be looked up does not learn where the database is; the log has it.
  expect(await (await fetch(`${server.address}/sessions`)).text()).not.toContain("postgres://");
  expect(server.log()).toContain("cannot be reached");
  // What was last known is still told, and the operator learns of it without asking.
  const known = { status: "degraded", position: 1, indexed_through: 1, trouble: "store_unavailable" };
  expect(await healthOf([server])).toMatchObject([known]);
  await until(async () => server.log().includes("the database is unreachable"));
  await database.start();
  await until(async () => (await healthOf([server]))[0]?.status === "ok");
  await until(async () => server.log().includes("can be used again"));
  expect((await record(server, "before")).status).toBe(200);
  expect((await record(server, "after")).status).toBe(201);
}, 300_000);

test("a server that ends while or just before filling the index leaves the index to the others", async () => {
  const database = await serverOfTest();
  const data = await database.createDatabase("lease");
  const [first, second] = [await serve(data), await serve(data)];
  for (let count = 0; count < 20; count += 1) await record(first, `first-${count}`);
  await until(async () => (await healthOf([second]))[0]?.indexed_through === 20);
  first.child.kill("SIGKILL");
  await record(second, "second");
  await until(async () => (await healthOf([second]))[0]?.indexed_through === 21);
}, 300_000);

test("a tail on one server gets all entries of the others, once and in order, even if a notification was lost", async () => {
  const database = await serverOfTest();
  const data = await database.createDatabase("tail");
  const [left, right] = [await openRecorder({ data }), await openRecorder({ data })];
  const positions: number[] = [];
  const following = (async () => {
    for await (const { position } of left.tail({ after: 0 })) {
      positions.push(position);
      if (position === 300) return;
    }
  })();
  for (let batch = 0; batch < 30; batch += 1) {
    if (batch % 7 === 3) await database.execute(CUT_SQL);
    const messages = Array.from({ length: 10 }, (_, at) => ({ kind: "error" as const, error: `${batch}.${at}` }));
    await right.append(messages);
  }
  await following;
  expect(positions).toEqual(Array.from({ length: 300 }, (_, at) => at + 1));
  await Promise.all([left.close(), right.close()]);
}, 300_000);

test("a database restored from a dump without the index rebuilds it automatically", async () => {
  const database = await serverOfTest();
  const data = await database.createDatabase("restored");
  const recorder = await openRecorder({ data });
  const messages = Array.from({ length: 50 }, (_, at) => ({ kind: "error" as const, error: `needle ${at}` }));
  await recorder.append(messages);
  expect((await recorder.count()).entries).toBe(50);
  await recorder.close();
  await emptyIndex(database, "restored");
  const restored = await openRecorder({ data });
  onTestFinished(() => restored.close());
  expect((await restored.count()).entries).toBe(50);
  expect((await restored.search("needle 49")).results).toHaveLength(1);
}, 300_000);

test("an index that is emptied or loses its checkpoints while servers use it is rebuilt, with each row once", async () => {
  const database = await serverOfTest();
  const data = await database.createDatabase("emptied");
  const recorders = [await openRecorder({ data }), await openRecorder({ data })];
  onTestFinished(async () => void (await Promise.all(recorders.map((recorder) => recorder.close()))));
  let entries = 0;
  for (let round = 0; round < 6; round += 1) {
    const recorder = itemAt(recorders, round % 2);
    if (round % 3 === 1) await emptyIndex(database, "emptied");
    if (round % 3 === 2) await database.execute("TRUNCATE hansard_index_checkpoints", "emptied");
    await recorder.append(Array.from({ length: 20 }, (_, at) => ({ kind: "error" as const, error: `${round} ${at}` })));
    entries += 20;
    for (const one of recorders) expect((await one.count()).entries).toBe(entries);
  }
}, 300_000);

/** What `pg_dump --exclude-table-data='hansard_index_*'` leaves of the index. */
async function emptyIndex(database: PostgresServer, name: string): Promise<void> {
  const sql = "SELECT tablename FROM pg_tables WHERE tablename LIKE 'hansard_index_%'";
  const tables = await database.execute(sql, name);
  await database.execute(`TRUNCATE ${tables.map(({ tablename }) => tablename).join(", ")}`, name);
}

const CUT_SQL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";

function serve(data: string): Promise<ServingCli> {
  return serveCli({ data });
}

function record(server: ServingCli, id: string): Promise<Response> {
  return fetch(`${server.address}/interactions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id, prompt: `question ${id}` }),
  });
}

async function recordUntilTaken(servers: readonly ServingCli[], turn: number, id: string): Promise<number> {
  for (let tries = 0; ; tries += 1) {
    const server = itemAt(servers, (turn + tries) % servers.length);
    const answer = await record(server, id).catch(() => undefined);
    if (answer?.status === 201 || answer?.status === 200) {
      return ((await answer.json()) as { readonly position: number }).position;
    }
    expect([undefined, 503]).toContain(answer?.status);
    await pause(RETRY_MS);
  }
}

interface Health {
  readonly status: string;
  readonly indexed_through: number;
}

function healthOf(servers: readonly ServingCli[]): Promise<readonly Health[]> {
  return Promise.all(servers.map(async ({ address }) => (await (await fetch(`${address}/health`)).json()) as Health));
}

async function idsThrough(server: ServingCli): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  let cursor = "";
  do {
    const answer = await fetch(`${server.address}/interactions?limit=500&cursor=${encodeURIComponent(cursor)}`);
    const page = (await answer.json()) as {
      readonly interactions: readonly { readonly id: string }[];
      next_cursor: string;
    };
    for (const { id } of page.interactions) ids.add(id);
    cursor = page.next_cursor;
  } while (cursor);
  return ids;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo().catch(() => false))) await pause(100);
}
