// PostgreSQL: capture against plain inserts through the driver, two servers against one, and search against ripgrep.
import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { openRecorder, type Recorder } from "../src/index.js";
import { PostgresServer } from "../test/support/postgres-server.js";
import { type Figure, median, type Suite, type SuiteOptions } from "./figures.js";
import { sampleInteraction } from "./sample.js";
import { Corpus, idOf } from "./search-corpus.js";

const BATCH = 500;
const ROWS_PER_INSERT = 100;
const QUERIES = 20;
const POLL_MS = 200;

export const postgres: Suite = {
  name: "postgres",
  about:
    "on a PostgreSQL of its own (fsync on): 4 KB entries per second against inserts of a hundred rows through `pg` into one table; a rare substring against `rg --count -i -F` over the same texts as JSONL",
  async run(options: SuiteOptions): Promise<readonly Figure[]> {
    const server = await PostgresServer.create({ settings: ["shared_buffers = 256MB", "max_wal_size = 4GB"] });
    try {
      return [...(await capturing(server, options)), ...(await searching(server, options))];
    } finally {
      await server.destroy();
    }
  },
};

async function capturing(server: PostgresServer, { rounds, scale }: SuiteOptions): Promise<readonly Figure[]> {
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
    { name: "64 callers ÷ raw", value: one / plain, unit: "×", target: { at_least: 0.5 } },
    { name: "64 callers on two servers", value: two, unit: "entries/s" },
    { name: "two servers ÷ one", value: two / one, unit: "×" },
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

/** Both servers run in this process, so that they share what one would have: the two cores of a small machine. */
async function ours(address: string, count: number, servers: number): Promise<number> {
  const recorders: Recorder[] = [];
  for (let server = 0; server < servers; server += 1) recorders.push(await openRecorder({ data: address }));
  let next = 0;
  const caller = async (_: unknown, number: number): Promise<void> => {
    const recorder = recorders[number % servers] as Recorder;
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

async function searching(server: PostgresServer, { folder, scale }: SuiteOptions): Promise<readonly Figure[]> {
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
    times.ripgrep.push(await milliseconds(() => spawnSync("rg", ["--count", "-i", "-F", "--", needle, lines])));
  }
  await recorder.close();
  const [log, index] = [await bytesOf(server, "NOT LIKE"), await bytesOf(server, "LIKE")];
  const [ours, ripgrep] = [median(times.ours), median(times.ripgrep)];
  return [
    { name: "captured and indexed for search", value: total / filled, unit: "entries/s" },
    { name: "log, bytes for an entry of 1.8 KB", value: log / total, unit: "bytes" },
    { name: "index, bytes for an entry of 1.8 KB", value: index / total, unit: "bytes" },
    { name: "rare substring", value: ours, unit: "ms" },
    { name: "rare substring, ripgrep", value: ripgrep, unit: "ms" },
    {
      ...{ name: "rare substring ÷ ripgrep", value: ours / ripgrep, unit: "×" },
      // Over a few thousand entries ripgrep takes no longer than it takes to start.
      ...(scale === 1 ? { target: { at_most: 0.3 } } : {}),
    },
  ];
}

async function bytesOf(server: PostgresServer, which: "LIKE" | "NOT LIKE"): Promise<number> {
  const [size] = await server.execute(
    `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class
     WHERE relkind = 'r' AND relname LIKE 'hansard_%' AND relname ${which} 'hansard_index_%'`,
    "search",
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

async function milliseconds(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
