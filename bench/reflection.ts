// Looking back at many entries: how long it takes against merely reading them, and how much memory it needs.
import { join } from "node:path";
import { SqliteLog } from "../src/engines/sqlite/log.js";
import { type EntryInput, openRecorder } from "../src/index.js";
import { type Measured, median, type Suite, type SuiteOptions } from "./figures.js";

const BATCH = 1_000;
/** As reflection itself reads them. */
const CHUNK_ROWS = 8;
const SAMPLE_MS = 20;

export const reflection: Suite = {
  name: "reflection",
  about:
    "`reflect` over all entries of a store (about 1.8 KB each: questions, answers, tool calls, errors, decisions; topics from 10,000 different words), against reading the same entries from the log in the same order and parsing their JSON",
  async run({ folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
    const count = Math.round(100_000 * scale);
    const data = join(folder, "store");
    const recorder = await openRecorder({ data });
    for (let done = 0; done < count; done += BATCH) {
      await recorder.append(Array.from({ length: BATCH }, (_, n) => entryOf(done + n)));
    }
    await recorder.reflect({ limit: 10 });
    const times = { read: [] as number[], reflect: [] as number[] };
    const grown: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      times.read.push(await milliseconds(() => readAll(data, count)));
      const peak = new PeakMemory();
      times.reflect.push(await milliseconds(() => recorder.reflect({ limit: count })));
      grown.push(peak.stop());
    }
    await recorder.close();
    const cost = { read: median(times.read), reflect: median(times.reflect) };
    const entries = `${count.toLocaleString("en-US")} entries`;
    return [
      { name: `reading ${entries}`, value: cost.read, unit: "ms" },
      { name: `reflecting on ${entries}`, value: cost.reflect, unit: "ms" },
      { name: "reflecting ÷ reading", of: [`reflecting on ${entries}`, `reading ${entries}`], target: { at_most: 3 } },
      { name: "memory that reflecting adds, at its peak", value: median(grown), unit: "MiB", target: { at_most: 150 } },
    ];
  },
};

async function readAll(data: string, count: number): Promise<void> {
  const log = SqliteLog.open({ path: join(data, "log.db"), mode: "read" });
  for (let newest = count; newest > 0; newest -= CHUNK_ROWS) {
    const positions = Array.from({ length: Math.min(CHUNK_ROWS, newest) }, (_, n) => newest - n);
    for (const stored of await log.get(positions)) JSON.parse(Buffer.from(stored?.body as Uint8Array).toString("utf8"));
  }
  await log.close();
}

/** How much more memory the process has at its peak than when this was made. */
class PeakMemory {
  readonly #before = process.memoryUsage.rss();
  readonly #timer: NodeJS.Timeout;
  #peak = this.#before;

  constructor() {
    this.#timer = setInterval(() => this.#look(), SAMPLE_MS);
  }

  stop(): number {
    clearInterval(this.#timer);
    this.#look();
    return (this.#peak - this.#before) / 1024 / 1024;
  }

  #look(): void {
    this.#peak = Math.max(this.#peak, process.memoryUsage.rss());
  }
}

/** Five kinds in turn; half of all text is what users said. */
function entryOf(number: number): EntryInput {
  const session_id = `session-${number % 500}`;
  switch (number % 10) {
    case 8:
      return {
        kind: "error",
        session_id,
        error: `connect ECONNREFUSED 10.0.0.${number % 256}:5432 ${words(number, 200)}`,
      };
    case 9:
      return { kind: "decision", session_id, decision: words(number, 200), rationale: words(number + 1, 50) };
    case 6:
    case 7:
      return toolCall(number, session_id);
    default:
      return conversation(number, session_id);
  }
}

function toolCall(number: number, session_id: string): EntryInput {
  const call = {
    kind: "tool_call",
    session_id,
    tool: `tool-${number % 40}`,
    args: { path: `src/${number}.ts` },
  } as const;
  return { ...call, result: words(number, 230), is_error: number % 7 === 0, duration_ms: (number * 37) % 4_000 };
}

function conversation(number: number, session_id: string): EntryInput {
  if (number % 3 === 0)
    return { kind: "interaction", session_id, prompt: words(number, 120), response: words(number, 120) };
  const content = words(number, 230);
  if (number % 3 === 1) return { kind: "message", session_id, role: "user", content };
  return { kind: "message", session_id, role: "assistant", content, confidence: (number % 100) / 100 };
}

/** Text with the many small words that real text has, and topics of very different frequency. */
function words(seed: number, count: number): string {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: count }, () => {
    const chance = next();
    return chance < 0.45 ? SMALL[Math.floor(next() * SMALL.length)] : `topic${Math.floor(next() ** 3 * 10_000)}`;
  }).join(" ");
}

const SMALL = "the a of to and in is that it for was on are as with they be at this have from or what".split(" ");

async function milliseconds(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}
