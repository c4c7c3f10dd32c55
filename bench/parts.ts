// An agent's loop that sends its whole history with every turn: what it takes on disk, to capture and to read, against a log that
// stores every body whole.
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { SqliteLog } from "../src/engines/sqlite/log.js";
import type { LogEntry } from "../src/log/port.js";
import { SALT_BYTES } from "../src/model/chain.js";
import { type Measured, median, type Suite, type SuiteOptions } from "./figures.js";

export const TURNS = 400;
/** What a tool brought, and what the model answered, in words of about six bytes. */
const WORDS = { result: 500, answer: 200 };
export const READS_EVERY = 7;

export const parts: Suite = {
  name: "parts",
  about:
    "a loop of 400 turns, each recorded with all messages so far and 4 KB of new text: bytes of log.db against the distinct text of all messages, and capture and reading of a turn against a log that stores every body whole",
  /** The length stays as it is in a quick look too, because the targets are meant for it. */
  async run({ folder, rounds }: SuiteOptions): Promise<readonly Measured[]> {
    const times = {
      capture: { shared: [] as number[], whole: [] as number[] },
      read: { shared: [] as number[], whole: [] as number[] },
    };
    let [size, text] = [0, 0];
    for (let round = 0; round < Math.min(rounds, 3); round += 1) {
      const { entries, distinct } = loop();
      const paths = { shared: join(folder, `shared-${round}.db`), whole: join(folder, `whole-${round}.db`) };
      const logs = {
        shared: SqliteLog.open({ path: paths.shared, mode: "create" }),
        whole: SqliteLog.open({ path: paths.whole, mode: "create", parted_bytes_min: Number.POSITIVE_INFINITY }),
      };
      for (const [at, entry] of entries.entries()) {
        for (const of of inTurn(at)) {
          times.capture[of].push(await milliseconds(() => logs[of].append([[entry]])));
          if (at % 10 === 0) logs[of].finishCheckpoint();
        }
      }
      for (let position = 1; position <= TURNS; position += READS_EVERY) {
        for (const of of inTurn(position)) {
          times.read[of].push(
            await milliseconds(async () => JSON.parse((await logs[of].getBodies([position]))[0]?.body as string)),
          );
        }
      }
      for (const log of Object.values(logs)) await log.close();
      [size, text] = [statSync(paths.shared).size, distinct];
    }
    const [capture, read] = [medians(times.capture), medians(times.read)];
    return [
      { name: "log.db", value: size / 1e6, unit: "MB" },
      { name: "distinct text", value: text / 1e6, unit: "MB" },
      { name: "log.db ÷ distinct text", of: ["log.db", "distinct text"], target: { at_most: 1.3 } },
      { name: "capture of a turn, bodies whole", value: capture.whole, unit: "ms" },
      { name: "capture of a turn", value: capture.shared, unit: "ms" },
      {
        name: "capture ÷ whole",
        of: ["capture of a turn", "capture of a turn, bodies whole"],
        target: { at_most: 1.2 },
      },
      { name: "reading a turn, bodies whole", value: read.whole, unit: "ms" },
      { name: "reading a turn", value: read.shared, unit: "ms" },
      { name: "reading ÷ whole", of: ["reading a turn", "reading a turn, bodies whole"], target: { at_most: 1.5 } },
    ];
  },
};

type Kind = "shared" | "whole";

/** Each first as often as the other, so what else the machine does meets both. */
export function inTurn(nth: number): readonly Kind[] {
  return nth % 2 === 0 ? ["shared", "whole"] : ["whole", "shared"];
}

export function medians(of: { readonly [kind in Kind]: readonly number[] }): { readonly [kind in Kind]: number } {
  return { shared: median(of.shared), whole: median(of.whole) };
}

export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** An agent that sends its whole history with each of its turns, and how much text that is, each once. */
export function loop(): { readonly entries: readonly LogEntry[]; readonly distinct: number } {
  const messages: { role: string; content: string }[] = [{ role: "system", content: words(800) }];
  const entries = Array.from({ length: TURNS }, (_, at) => {
    const prompt = words(WORDS.result);
    const response = words(WORDS.answer);
    messages.push({ role: "user", content: prompt });
    const entry = turn(`turn-${at}`, {
      session_id: "loop",
      prompt,
      response,
      context_pack: { messages },
      model: "example-1",
    });
    messages.push({ role: "assistant", content: response });
    return entry;
  });
  return { entries, distinct: messages.reduce((sum, { content }) => sum + content.length, 0) };
}

function turn(id: string, fields: object): LogEntry {
  const text = JSON.stringify({ id, ...fields });
  const bytes = Buffer.concat([randomBytes(SALT_BYTES), Buffer.from(text)]);
  const [salt, body] = [bytes.subarray(0, SALT_BYTES), bytes.subarray(SALT_BYTES)];
  const [recorded_at, recorded_by] = ["2026-11-15T06:39:37.123Z", ""];
  return { kind: "interaction", recorded_at, recorded_by, salt, body, claims: [`id:${id}`] };
}

function words(count: number): string {
  const bytes = randomBytes(4 * count);
  return Array.from({ length: count }, (_, at) => (bytes.readUInt32LE(4 * at) % 2 ** 26).toString(36)).join(" ");
}
