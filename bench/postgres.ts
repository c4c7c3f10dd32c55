// PostgreSQL: capture against plain inserts through the driver, two servers against one, and search against ripgrep.

import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { Connections } from "../src/engines/postgres/driver.js";
import { PostgresLog } from "../src/engines/postgres/log.js";
import { openRecorder, type Recorder } from "../src/index.js";
import { itemAt } from "../src/model/item-at.js";
import { PostgresServer } from "../test/support/postgres-server.js";
import { type Measured, median, type Suite, type SuiteOptions } from "./figures.js";
import { inTurn, loop, medians, milliseconds, READS_EVERY, TURNS } from "./parts.js";
import { Corpus, idOf, sampleInteraction } from "./sample-data.js";
import { requireRipgrep } from "./search.js";

const BATCH = 500;
const ROWS_PER_INSERT = 100;
const QUERIES = 20;
const POLL_MS = 200;

export const postgres: Suite = {
  name: "postgres",
  about:
    "on a PostgreSQL of its own (fsync on): 4 KB entries per second against inserts of a hundred rows through `pg` into one table; a rare substring against `rg --count -i -F` over the same texts as JSONL; the loop of suite `parts`, tables of the log after a vacuum against its distinct text, and against a log that stores every body whole",
  async run(options: SuiteOptions): Promise<readonly Measured[]> {
    requireRipgrep();
    const server = await PostgresServer.create({ settings: ["shared_buffers = 256MB", "max_wal_size = 4GB"] });
    try {
      return [
        ...(await capturing(server, options)),
        ...(await sharing(server, options)),
        ...(await searching(server, options)),
      ];
    } finally {
      await server.destroy();
    }
  },
};

async function capturing(server: PostgresServer, { rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
  const count = Math.round(20_000 * scale);
  const runs = { raw: [] as number[], one: [] as number[], two: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    runs.raw.push(await raw(await server.createDatabase(`raw_${round}`), count));
    runs.one.push(await ours(await server.createDatabase(`one_${round}`), count, 1));
    runs.two.push(await ours(await server.createDatabase(`two_${round}`), count, 2));
  }
  const [plain, one, two] = [median(runs.raw), median(runs.one), median(runs.two)];
  return [
    { name: "raw, a hundred rows per insert", value: plain, unit: "entries/s" },
    { name: "64 callers, one server", value: one, unit: "entries/s" },
    {
      name: "64 callers ÷ raw",
      of: ["64 callers, one server", "raw, a hundred rows per insert"],
      target: { at_least: 0.5 },
    },
    { name: "64 callers on two servers", value: two, unit: "entries/s" },
    { name: "two servers ÷ one", of: ["64 callers on two servers", "64 callers, one server"] },
  ];
}

async function raw(address: string, count: number): Promise<number> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  await client.query("CREATE TABLE log (position bigserial PRIMARY KEY, body bytea NOT NULL)");
  const rows = Array.from({ length: ROWS_PER_INSERT }, (_, row) => `($${row + 1})`).join(", ");
  const statement = { name: "raw", text: `INSERT INTO log (body) VALUES ${rows}` };
  const start = performance.now();
  for (let done = 0; done < count; done += ROWS_PER_INSERT) {
    const bodies = Array.from({ length: ROWS_PER_INSERT }, (_, row) =>
      Buffer.from(JSON.stringify(sampleInteraction(done + row))),
    );
    await client.query({ ...statement, values: bodies });
  }
  const seconds = (performance.now() - start) / 1_000;
  await client.end();
  return count / seconds;
}

/** Both servers run in this process, so they share what one would have: the two cores of a small machine. */
async function ours(address: string, count: number, servers: number): Promise<number> {
  const recorders: Recorder[] = [];
  for (let server = 0; server < servers; server += 1) recorders.push(await openRecorder({ data: address }));
  let next = 0;
  const caller = async (_: unknown, number: number): Promise<void> => {
    const recorder = itemAt(recorders, number % servers);
    while (next < count) {
      next += 1;
      await recorder.append(sampleInteraction(next));
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: 64 }, caller));
  const seconds = (performance.now() - start) / 1_000;
  for (const recorder of recorders) await recorder.close();
  return count / seconds;
}

/** As suite `parts`, on two logs of one server. */
async function sharing(server: PostgresServer, { rounds }: SuiteOptions): Promise<readonly Measured[]> {
  const times = {
    capture: { shared: [] as number[], whole: [] as number[] },
    read: { shared: [] as number[], whole: [] as number[] },
  };
  let [size, text] = [0, 0];
  for (let round = 0; round < Math.min(rounds, 2); round += 1) {
    const { entries, distinct } = loop();
    const names = { shared: `shared_${round}`, whole: `whole_${round}` };
    const logs = {
      shared: await openLog(await server.createDatabase(names.shared), {}),
      whole: await openLog(await server.createDatabase(names.whole), { parted_bytes_min: Number.POSITIVE_INFINITY }),
    };
    for (const [at, entry] of entries.entries()) {
      for (const of of inTurn(at)) times.capture[of].push(await milliseconds(() => logs[of].append([[entry]])));
    }
    for (let position = 1; position <= TURNS; position += READS_EVERY) {
      for (const of of inTurn(position)) {
        const read = async (): Promise<unknown> =>
          JSON.parse((await logs[of].getBodies([position]))[0]?.body as string);
        times.read[of].push(await milliseconds(read));
      }
    }
    for (const log of Object.values(logs)) await log.close();
    await server.execute("VACUUM", names.shared);
    [size, text] = [await bytesOf(server, names.shared, "NOT LIKE"), distinct];
  }
  const [capture, read] = [medians(times.capture), medians(times.read)];
  return [
    { name: "loop of 400 turns", value: size / 1e6, unit: "MB" },
    { name: "distinct text", value: text / 1e6, unit: "MB" },
    { name: "loop of 400 turns ÷ distinct text", of: ["loop of 400 turns", "distinct text"], target: { at_most: 1.3 } },
    { name: "capture of a turn, bodies whole", value: capture.whole, unit: "ms" },
    { name: "capture of a turn", value: capture.shared, unit: "ms" },
    {
      name: "capture of a turn ÷ whole",
      of: ["capture of a turn", "capture of a turn, bodies whole"],
      target: { at_most: 1.2 },
    },
    { name: "reading a turn, bodies whole", value: read.whole, unit: "ms" },
    { name: "reading a turn", value: read.shared, unit: "ms" },
    { name: "reading a turn ÷ whole", of: ["reading a turn", "reading a turn, bodies whole"] },
  ];
}

async function openLog(address: string, options: { readonly parted_bytes_min?: number }): Promise<PostgresLog> {
  return PostgresLog.open(await Connections.open({ address, wait_ms: 0 }), options);
}

async function searching(server: PostgresServer, { folder, scale }: SuiteOptions): Promise<readonly Measured[]> {
  // A quick look takes far fewer, since filling is what takes long.
  const total = Math.round(200_000 * scale ** 2);
  const lines = join(folder, "texts.jsonl");
  const recorder = await openRecorder({ data: await server.createDatabase("search") });
  // Asking how it is makes this recorder the one that follows the log in the background, as a server does.
  await recorder.health();
  const start = performance.now();
  await fill(recorder, lines, total);
  await untilCovered(server, total);
  const filled = (performance.now() - start) / 1_000;
  await server.execute("VACUUM ANALYZE", "search");
  const times = { ours: [] as number[], ripgrep: [] as number[] };
  for (let query = 0; query < QUERIES; query += 1) {
    const needle = idOf(Math.floor((total / QUERIES) * query) + 1).slice(1, -1);
    times.ours.push(await milliseconds(() => recorder.search(needle)));
    times.ripgrep.push(await milliseconds(async () => spawnSync("rg", ["--count", "-i", "-F", "--", needle, lines])));
  }
  await recorder.close();
  const [log, index] = [await bytesOf(server, "search", "NOT LIKE"), await bytesOf(server, "search", "LIKE")];
  const [ours, ripgrep] = [median(times.ours), median(times.ripgrep)];
  return [
    { name: "captured and indexed for search", value: total / filled, unit: "entries/s" },
    { name: "log, bytes for an entry of 1.8 KB", value: log / total, unit: "bytes" },
    { name: "index, bytes for an entry of 1.8 KB", value: index / total, unit: "bytes" },
    { name: "rare substring", value: ours, unit: "ms" },
    { name: "rare substring, ripgrep", value: ripgrep, unit: "ms" },
    {
      name: "rare substring ÷ ripgrep",
      of: ["rare substring", "rare substring, ripgrep"],
      // Over a few thousand entries ripgrep takes no longer than it takes to start.
      ...(scale === 1 ? { target: { at_most: 0.3 } } : {}),
    },
  ];
}

async function bytesOf(server: PostgresServer, database: string, which: "LIKE" | "NOT LIKE"): Promise<number> {
  const [size] = await server.execute(
    `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class
     WHERE relkind = 'r' AND relname LIKE 'hansard_%' AND relname ${which} 'hansard_index_%'`,
    database,
  );
  return Number(size?.bytes);
}

async function untilCovered(server: PostgresServer, total: number): Promise<void> {
  for (;;) {
    const [row] = await server.execute(
      "SELECT position::float8 AS through FROM hansard_index_checkpoints WHERE name = 'texts'",
      "search",
    );
    if (Number(row?.through) >= total) return;
    await pause(POLL_MS);
  }
}

async function fill(recorder: Recorder, lines: string, total: number): Promise<void> {
  const corpus = new Corpus();
  const file = openSync(lines, "w");
  for (let from = 0; from < total; from += BATCH) {
    const texts = Array.from({ length: Math.min(BATCH, total - from) }, (_, at) => corpus.entry(from + at));
    await recorder.append(texts.map((text) => ({ kind: "message", session_id: "bench", ...text })));
    for (const text of texts) writeSync(file, `${JSON.stringify(text)}\n`);
  }
  closeSync(file);
}
