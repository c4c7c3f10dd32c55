// A program that records with many callers at once and says on stdout what was acknowledged, until it is killed.
//
// The line is written synchronously right after the acknowledgement: never before it, and nothing acknowledged is held
// back in a buffer when the process dies. `+ id position` is an acknowledged entry, `- id code` a refused one.

import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { connectRecorder } from "../../client/index.js";
import type { EntryInput, Recorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { batchIds, entryOf } from "./made-entries.js";
import type { Acknowledged } from "./programs.js";

type ClientInput = Parameters<ReturnType<typeof connectRecorder>["append"]>[0] extends infer Input
  ? Exclude<Input, readonly unknown[]>
  : never;

/** The library as it is shipped. */
const { Fault, openRecorder } = (await import(
  new URL("../../bundle/index.js", import.meta.url).href
)) as typeof import("../../src/index.js");

export interface WriterOptions {
  readonly data: string;
  /** Begins every id, so no two writers make the same. */
  readonly name: string;
  readonly callers: number;
  /** How often each caller records before the program ends by itself. */
  readonly rounds: number;
  /** Whether callers go on after a fault: with the next entries where nothing was stored, else with the same again. */
  readonly goes_on?: boolean;
  /** The pause between a caller's calls. */
  readonly pause_ms?: number;
  /** Captures through the client SDK instead; acknowledged is what is in the spool, and has no position yet. */
  readonly client?: { readonly url: string; readonly spool: string };
}

const RETRY_MS = 20;
const options = JSON.parse(itemAt(process.argv, 2)) as WriterOptions;
const recorder = options.client === undefined ? await openRecorder({ data: options.data }) : undefined;
const client =
  options.client === undefined
    ? undefined
    : connectRecorder({
        ...options.client,
        retry_ms_min: 20,
        retry_ms_max: 100,
        adopt_ms: 50,
        onProblem: () => undefined,
      });

/** Lists now and then, so the index is being written as well when the end comes. */
async function call(caller: number): Promise<void> {
  for (let round = 0; round < options.rounds; round += 1) {
    const name = `${options.name}.${caller}.${round}`;
    const ids = round % 3 === 2 && client === undefined ? batchIds(name, 2 + (caller % 4)) : [`s.${name}`];
    await record(ids);
    if (caller === 0 && round % 5 === 0) await list();
    if (options.pause_ms !== undefined) await pause(options.pause_ms);
  }
}

async function record(ids: readonly string[]): Promise<void> {
  const inputs = ids.map(entryOf);
  for (;;) {
    const code = await attempt(async () => {
      const acknowledged = await append(inputs);
      writeSync(1, acknowledged.map(({ id, position }) => `+ ${id} ${position}\n`).join(""));
    });
    if (code === undefined) return;
    writeSync(1, ids.map((id) => `- ${id} ${code}\n`).join(""));
    await pause(RETRY_MS);
    if (code === "disk_full") return;
  }
}

async function append(inputs: readonly EntryInput[]): Promise<readonly Acknowledged[]> {
  if (client === undefined) return (await opened().append(inputs.length === 1 ? itemAt(inputs, 0) : inputs)).entries;
  const captured = await client.append(inputs as readonly ClientInput[]);
  return captured.flatMap(({ id, status }) => (status === "queued" ? [{ id, position: 0 }] : []));
}

async function list(): Promise<void> {
  if (client === undefined) await attempt(() => opened().listInteractions({ limit: 3 }));
}

function opened(): Recorder {
  if (recorder === undefined) throw new Error("a client has no store");
  return recorder;
}

/** The code of the fault that was met, if there was one. */
async function attempt(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (options.goes_on === true && error instanceof Fault) return error.code;
    throw error;
  }
}

await Promise.all(Array.from({ length: options.callers }, (_, caller) => call(caller)));
await (client ?? opened()).close();
