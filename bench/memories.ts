// What the memory loop costs with ten thousand active memories: counting the uses of a turn, recalling, and what capture
// notices of learning in the background.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Database } from "../src/engines/sqlite/driver.js";
import { openStore } from "../src/engines/stores.js";
import { type InteractionInput, openRecorder, type Recorder } from "../src/index.js";
import { packOwn } from "../src/log/capture/draft.js";
import { itemAt } from "../src/model/item-at.js";
import type { MemoryType } from "../src/model/memory.js";
import { type Measured, median, mediansInTurn, percentile, type Suite, type SuiteOptions } from "./figures.js";
import { Corpus } from "./sample-data.js";

const MEMORIES = 10_000;
/** Slow enough that learning does not pause: it works meanwhile. */
const PACE_PER_SECOND = 80;

export const memories: Suite = {
  name: "memories",
  about: `the memory loop with ${MEMORIES.toLocaleString("en-US")} active memories and turns of 4 KB: counting a turn's uses against storing it, recall against plain statements over the same rows, and capture at ${PACE_PER_SECOND} turns/s without and with learning`,
  async run(options: SuiteOptions): Promise<readonly Measured[]> {
    const store = new MemoryStore(Math.round(MEMORIES * options.scale));
    return [
      ...(await reinforcing(store, options)),
      ...(await recalling(store, options)),
      ...(await withLearning(store, options)),
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
async function withLearning(store: MemoryStore, { folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
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
    // In turn, so neither has the disk at its better times.
    const isFirst = round % 2 === 0;
    const first = await (isFirst ? calmly() : busily());
    const second = await (isFirst ? busily() : calmly());
    // The first round warms up caches and the compiler.
    if (round === 0) continue;
    p99.alone.push(isFirst ? first : second);
    p99.learning.push(isFirst ? second : first);
  }
  await Promise.all([alone.close(), learning.close()]);
  const [without, during] = [median(p99.alone), median(p99.learning)];
  return [
    { name: "turns counted while others come", value: median(meanwhile) * 100, unit: "%" },
    { name: "p99 of capture without learning", value: without, unit: "ms" },
    { name: "p99 of capture with learning", value: during, unit: "ms" },
    {
      name: "p99 with ÷ without",
      of: ["p99 of capture with learning", "p99 of capture without learning"],
      target: { at_most: 1.1 },
    },
  ];
}

async function countedTurns(recorder: Recorder): Promise<number> {
  return (await recorder.count()).by_kind.memory_reinforced ?? 0;
}

/** Until every turn was counted: then nothing else runs during the next measurement. */
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
  });
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

const PROJECT = "bench";
const TYPES: readonly MemoryType[] = ["knowledge", "knowledge", "project", "adaptation", "preference"];
const BATCH = 1_000;
const STATEMENT_CHARS_MAX = 120;
/** Of other things a turn speaks, about 4 KB with what surrounds it. */
const TURN_BYTES = 3_000;
/** How many memories a turn was given, and how many of these its answer repeats. */
const GIVEN = 10;
const USED = 2;
const QUESTION_WORDS = 4;

interface Statement {
  readonly id: string;
  readonly type: MemoryType;
  readonly content: string;
}

class MemoryStore {
  readonly statements: readonly Statement[];
  readonly #corpus = new Corpus();

  constructor(count: number) {
    this.statements = Array.from({ length: count }, (_, number) => ({
      id: `memory-${number}`,
      type: itemAt(TYPES, number % TYPES.length),
      content: this.#firstWords(number),
    }));
  }

  /** Puts every statement into an empty store, promoted, as persons who add them would. */
  async fill(data: string): Promise<void> {
    const store = await openStore({ address: data, mode: "create" });
    const log = await store.log("create");
    const writeContext = { nowMs: Date.now, randomBytes: (bytes: number) => randomBytes(bytes) };
    const said = { source: "person", generation: "", tags: [], valid_until: "", cites: "", actor: "bench" } as const;
    for (let from = 0; from < this.statements.length; from += BATCH) {
      const own = this.statements.slice(from, from + BATCH).flatMap(({ id, type, content }) => {
        const fields = { ...said, type, content, similar_to: [], conflicts_with: [] };
        const verdict = { memory_id: id, actor: "bench", reason: "" };
        return [
          packOwn("memory_proposed", fields, writeContext, { id, project: PROJECT }),
          packOwn("memory_promoted", verdict, writeContext, { project: PROJECT }),
        ];
      });
      await log.append([own.map(({ entry }) => entry)]);
    }
    await log.close();
  }

  /** A turn that was given ten memories, repeats two of them, and speaks of much else. */
  turn(number: number): InteractionInput & { readonly kind: "interaction" } {
    const given = Array.from({ length: GIVEN }, (_, nth) => this.#statement(number * GIVEN + nth));
    const echoes = given.slice(0, USED).map(({ content }) => `As noted, ${content}.`);
    return {
      kind: "interaction",
      project: PROJECT,
      session_id: `session-${number % 100}`,
      prompt: `${number}: what now?`,
      response: [this.#corpus.entry(number + 1_000_000, TURN_BYTES).content, ...echoes].join("\n"),
      memories_used: given.map(({ id }) => id),
      context_pack: { text: given.map(({ content }) => `- ${content}\n`).join("") },
    };
  }

  /** Words of a statement, as somebody would ask for it. */
  question(number: number): string {
    return this.#statement(number * 7)
      .content.split(" ")
      .slice(0, QUESTION_WORDS)
      .join(" ");
  }

  #statement(number: number): Statement {
    return itemAt(this.statements, number % this.statements.length);
  }

  #firstWords(number: number): string {
    const [line = ""] = this.#corpus.entry(number, 0).content.split("\n");
    return line.replace(/\.$/, "").slice(0, STATEMENT_CHARS_MAX);
  }
}
