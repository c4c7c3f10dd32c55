// Sessions that grow: what one more message costs in a long one, against a short one and against rewriting its file.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type EntryInput, openRecorder, type Recorder } from "../src/index.js";
import { type Measured, median, type Suite, type SuiteOptions } from "./figures.js";

const SENTENCE = "The agent asked for the weather in Lisbon, compared three sources and answered in two lines. ";
/** As many as make an entry of about 4 KB, which all benchmarks of capture write, and of about 1 KB. */
const SENTENCES = { append: 40, read: 10 };
const APPENDS_PER_ROUND = 40;
const REWRITES_PER_ROUND = 3;
const READS_PER_ROUND = 5;
const BATCH = 1_000;

export const sessions: Suite = {
  name: "sessions",
  about:
    "one more message of 4 KB in a long session, each on disk with an fsync, against a short session and against rewriting the session's JSONL file without one; and `history(500)` of a long session against a short one, with messages of 1 KB",
  async run(options: SuiteOptions): Promise<readonly Measured[]> {
    return [...(await appending(options)), ...(await reading(options))];
  },
};

/** The lengths stay as they are in a quick look too, because the targets are meant for them. */
async function appending({ folder, rounds }: SuiteOptions): Promise<readonly Measured[]> {
  const sentences = SENTENCES.append;
  // Both logs are equally long, so nothing but the length of the session differs.
  const short = await storeWith(join(folder, "append-short"), { messages: 100, others: 9_900, sentences });
  const long = await storeWith(join(folder, "append-long"), { messages: 10_000, others: 0, sentences });
  const file = new RewrittenSession(join(folder, "session.jsonl"), 10_000);
  const times = { short: [] as number[], long: [] as number[], rewrite: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    // In turn, and each first as often as the other, so what else the machine does meets both.
    for (let n = 0; n < APPENDS_PER_ROUND; n += 1) {
      for (const of of n % 2 === 0 ? (["short", "long"] as const) : (["long", "short"] as const)) {
        const recorder = of === "short" ? short : long;
        times[of].push(await microseconds(() => recorder.append(messageOf(n, sentences))));
      }
    }
    for (let n = 0; n < REWRITES_PER_ROUND; n += 1)
      times.rewrite.push(await microseconds(() => file.add(messageOf(n, sentences))));
  }
  await Promise.all([short.close(), long.close()]);
  const cost = { short: median(times.short), long: median(times.long), rewrite: median(times.rewrite) };
  const appended = { short: "append, session of 100 messages", long: "append, session of 10,000 messages" };
  return [
    { name: appended.short, value: cost.short, unit: "µs" },
    { name: appended.long, value: cost.long, unit: "µs" },
    { name: "append, long ÷ short", of: [appended.long, appended.short], target: { at_most: 1.3 } },
    { name: "rewriting the file of 10,000 messages", value: cost.rewrite, unit: "µs" },
    {
      name: "rewriting ÷ append",
      of: ["rewriting the file of 10,000 messages", appended.long],
      target: { at_least: 100 },
    },
  ];
}

async function reading({ folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
  const length = Math.round(100_000 * scale);
  const sentences = SENTENCES.read;
  const short = await storeWith(join(folder, "read-short"), { messages: 1_000, others: 0, sentences });
  const long = await storeWith(join(folder, "read-long"), { messages: length, others: 0, sentences });
  const times = { short: [] as number[], long: [] as number[] };
  for (let n = 0; n < rounds * READS_PER_ROUND; n += 1) {
    times.short.push(await microseconds(() => short.session("s").history()));
    times.long.push(await microseconds(() => long.session("s").history()));
  }
  await Promise.all([short.close(), long.close()]);
  const cost = { short: median(times.short) / 1_000, long: median(times.long) / 1_000 };
  const [short_messages, long_messages] = [1_000, length].map((count) => count.toLocaleString("en-US"));
  const read = {
    short: `history(500), session of ${short_messages} messages`,
    long: `history(500), session of ${long_messages} messages`,
  };
  return [
    { name: read.short, value: cost.short, unit: "ms" },
    { name: read.long, value: cost.long, unit: "ms" },
    { name: "history(500), long ÷ short", of: [read.long, read.short], target: { at_most: 3 } },
  ];
}

/** A store with a session of so many messages, after as many in another one, and its index up to date. */
async function storeWith(
  data: string,
  wanted: { readonly messages: number; readonly others: number; readonly sentences: number },
): Promise<Recorder> {
  const recorder = await openRecorder({ data });
  const total = wanted.others + wanted.messages;
  for (let done = 0; done < total; done += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, total - done) }, (_, n): EntryInput => {
      const message = messageOf(done + n, wanted.sentences);
      return done + n < wanted.others ? { ...message, session_id: "other" } : message;
    });
    await recorder.append(batch);
  }
  await recorder.session("s").history();
  return recorder;
}

/** Four steps over and over: a question, a call, its result, the answer. */
function messageOf(number: number, sentences: number): EntryInput {
  const id = `call-${Math.floor(number / 4)}`;
  const content = `${number}: ${SENTENCE.repeat(sentences)}`;
  const message = { kind: "message", session_id: "s", content } as const;
  const call = { id, type: "function", function: { name: "weather", arguments: '{"city":"Lisbon"}' } };
  switch (number % 4) {
    case 0:
      return { ...message, role: "user" };
    case 1:
      return { ...message, role: "assistant", tool_calls: [call] };
    case 2:
      return { ...message, role: "tool", tool_call_id: id };
    default:
      return { ...message, role: "assistant" };
  }
}

/**
 * The way of the older session manager: all messages in memory, and with each new one the file is truncated and written
 * again, a line each. It never asks for an fsync, so neither does this.
 */
class RewrittenSession {
  readonly #path: string;
  readonly #messages: object[];

  constructor(path: string, messages: number) {
    this.#path = path;
    this.#messages = Array.from({ length: messages }, (_, n) => ({
      ...messageOf(n, SENTENCES.append),
      timestamp: now(),
    }));
  }

  add(message: object): void {
    this.#messages.push({ ...message, timestamp: now() });
    const header = { _type: "metadata", key: "s", updated_at: now(), metadata: {}, last_consolidated: 0 };
    writeFileSync(this.#path, `${[header, ...this.#messages].map((line) => JSON.stringify(line)).join("\n")}\n`);
  }
}

function now(): string {
  return new Date().toISOString();
}

async function microseconds(act: () => unknown): Promise<number> {
  const start = performance.now();
  await act();
  return (performance.now() - start) * 1_000;
}
