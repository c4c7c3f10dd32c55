// What the memory loop costs with ten thousand active memories: counting the uses of a turn, recalling, and what capture
// notices of learning beside it.
import { join } from "node:path";
import Database from "better-sqlite3";
import { openRecorder, type Recorder } from "../src/index.js";
import { type Measured, median, percentile, type Suite, type SuiteOptions } from "./figures.js";
import { mediansInTurn } from "./in-turn.js";
import { MemoryStore, PROJECT, QUESTION_WORDS } from "./memory-store.js";

const MEMORIES = 10_000;
/** Below what makes learning stand back, so that it does its work meanwhile. */
const PACE_PER_SECOND = 80;

export const memories: Suite = {
  name: "memories",
  about: `the memory loop with ${MEMORIES.toLocaleString("en-US")} active memories and turns of 4 KB: counting a turn's uses against storing it, recall against plain statements over the same rows, and capture at ${PACE_PER_SECOND} turns/s without and with learning beside it`,
  async run(options: SuiteOptions): Promise<readonly Measured[]> {
    const store = new MemoryStore(Math.round(MEMORIES * options.scale));
    return [
      ...(await reinforcing(store, options)),
      ...(await recalling(store, options)),
      ...(await beside(store, options)),
    ];
  },
};

/** Each turn is stored, then counted, by one caller. */
async function reinforcing(store: MemoryStore, { folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
  const recorder = await openFilled(store, join(folder, "reinforcing"));
  const [storing, counting]: [number[], number[]] = [[], []];
  const turns = Math.round(100 * rounds * scale);
  for (let number = 0; number < turns * 1.2; number += 1) {
    const start = performance.now();
    const { id } = await recorder.recordInteraction(store.turn(number));
    const stored = performance.now();
    const { reinforced } = await recorder.memories.reinforce({ interaction_id: id });
    const counted = performance.now();
    if (reinforced.length < 10) throw new Error("the turn was given ten memories, and not all were counted");
    if (number < turns * 0.2) continue;
    storing.push((stored - start) * 1_000);
    counting.push((counted - stored) * 1_000);
  }
  await recorder.close();
  const [store_us, count_us] = [median(storing), median(counting)];
  return [
    { name: "storing a turn", value: store_us, unit: "µs" },
    { name: "counting its uses", value: count_us, unit: "µs" },
    { name: "counting ÷ storing", of: ["counting its uses", "storing a turn"], target: { at_most: 10 } },
  ];
}

/** At rest, and where what is known of memories has just changed, as it does with every turn that used some. */
async function recalling(store: MemoryStore, { folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
  const recorder = await openFilled(store, join(folder, "recalling"));
  const raw = rawTables(store);
  const recall = async (nth: number): Promise<void> => {
    const { memories_used } = await recorder.memories.recall({ project: PROJECT, q: store.question(nth) });
    if (memories_used.length < 10) throw new Error("a recall gives more than ten of ten thousand memories");
  };
  const calls = Math.round(100 * scale);
  const us = await mediansInTurn(
    {
      recall,
      scan: (nth) => raw.scan(store.question(nth)),
      fts: (nth) => raw.fts(store.question(nth)),
    },
    { rounds, calls },
  );
  const afterChange: number[] = [];
  for (let nth = 0; nth < calls; nth += 1) {
    const { id } = await recorder.recordInteraction(store.turn(nth));
    await recorder.memories.reinforce({ interaction_id: id });
    const start = performance.now();
    await recall(nth);
    afterChange.push(performance.now() - start);
  }
  await recorder.close();
  raw.close();
  return [
    { name: "raw: all rows that have a word of the question, counted and sorted", value: us.scan / 1_000, unit: "ms" },
    { name: "raw: FTS5, by rank", value: us.fts / 1_000, unit: "ms" },
    { name: "recall", value: us.recall / 1_000, unit: "ms", target: { at_most: 5 } },
    { name: "recall ÷ raw scan", of: ["recall", "raw: all rows that have a word of the question, counted and sorted"] },
    { name: "recall ÷ FTS5", of: ["recall", "raw: FTS5, by rank"] },
    { name: "recall after uses were counted", value: median(afterChange), unit: "ms", target: { at_most: 5 } },
  ];
}

/** One store without learning, one with it, in turn; each at rest while the other is measured. */
async function beside(store: MemoryStore, { folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
  const alone = await openFilled(store, join(folder, "alone"));
  const learning = await openFilled(store, join(folder, "learning"));
  await learning.learn();
  const count = Math.round(400 * scale);
  const p99 = { alone: [] as number[], learning: [] as number[] };
  let number = 0;
  const capture = async (recorder: Recorder): Promise<number> => {
    const latencies: number[] = [];
    const begin = performance.now();
    for (let nth = 0; nth < count; nth += 1) {
      const wait = begin + (nth * 1_000) / PACE_PER_SECOND - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      const turn = store.turn(number);
      number += 1;
      const start = performance.now();
      await recorder.append(turn);
      latencies.push(performance.now() - start);
    }
    return percentile(latencies, 0.99);
  };
  const meanwhile: number[] = [];
  for (let round = 0; round < rounds * 2; round += 1) {
    const calmly = async (): Promise<number> => capture(alone);
    const busily = async (): Promise<number> => {
      const before = await countedTurns(learning);
      const latency = await capture(learning);
      meanwhile.push(((await countedTurns(learning)) - before) / count);
      await caughtUp(learning, count * (round + 1));
      return latency;
    };
    // In turn, so that neither has the disk at its better times.
    const isFirst = round % 2 === 0;
    const first = await (isFirst ? calmly() : busily());
    const second = await (isFirst ? busily() : calmly());
    // The first round warms up caches and the compiler.
    if (round === 0) continue;
    p99.alone.push(isFirst ? first : second);
    p99.learning.push(isFirst ? second : first);
  }
  await Promise.all([alone.close(), learning.close()]);
  const [without, beside] = [median(p99.alone), median(p99.learning)];
  return [
    { name: "turns counted while others come", value: median(meanwhile) * 100, unit: "%" },
    { name: "p99 of capture without learning", value: without, unit: "ms" },
    { name: "p99 of capture with learning beside it", value: beside, unit: "ms" },
    {
      name: "p99 with ÷ without",
      of: ["p99 of capture with learning beside it", "p99 of capture without learning"],
      target: { at_most: 1.1 },
    },
  ];
}

async function countedTurns(recorder: Recorder): Promise<number> {
  return (await recorder.count()).by_kind.memory_reinforced ?? 0;
}

/** Until every turn was counted: then nothing is left to do beside what is measured next. */
async function caughtUp(recorder: Recorder, turns: number): Promise<void> {
  while ((await countedTurns(recorder)) < turns) await new Promise((resolve) => setTimeout(resolve, 100));
}

async function openFilled(store: MemoryStore, data: string): Promise<Recorder> {
  await store.fill(data);
  const recorder = await openRecorder({ data });
  const { memories_used } = await recorder.memories.recall({ project: PROJECT });
  if (memories_used.length === 0) throw new Error("nothing is remembered");
  return recorder;
}

/** The same statements in plain tables, asked as somebody would who has nothing else. */
function rawTables({ statements }: MemoryStore) {
  const database = new Database(":memory:");
  database.exec("CREATE TABLE memories (id TEXT PRIMARY KEY, type TEXT, content TEXT)");
  database.exec("CREATE VIRTUAL TABLE words USING fts5(content)");
  const insert = database.prepare("INSERT INTO memories VALUES (?, ?, ?)");
  const insertWords = database.prepare("INSERT INTO words VALUES (?)");
  database.transaction(() => {
    for (const { id, type, content } of statements) {
      insert.run(id, type, content);
      insertWords.run(content);
    }
  })();
  const has = Array.from({ length: QUESTION_WORDS }, () => "(content LIKE '%' || ? || '%')").join(" + ");
  const scan = database.prepare(`SELECT id, type, content, ${has} AS n FROM memories ORDER BY n DESC, id LIMIT 100`);
  const fts = database.prepare("SELECT rowid, content FROM words WHERE words MATCH ? ORDER BY rank LIMIT 100");
  return {
    scan: (question: string) => scan.all(...question.split(" ")),
    fts: (question: string) =>
      fts.all(
        question
          .split(" ")
          .map((word) => `"${word}"`)
          .join(" OR "),
      ),
    close: () => database.close(),
  };
}
