// Builds an index anew beside the one in use, which goes on answering until the new one takes its place.

import { IndexFault } from "../index/index-holder.js";
import { Indexer } from "../index/indexer.js";
import type { EntryIndex, IndexDraft } from "../index/port.js";
import { TextIndexer } from "../index/text-indexer.js";
import type { EntryLog } from "../log/port.js";
import type { MaintenanceCalls } from "./maintenance.js";
import type { ResilientIndex } from "./resilient-index.js";

export interface RebuildPlan {
  readonly log: EntryLog;
  readonly index: EntryIndex;
  readonly onProgress: (position: number) => void;
}

/** Forgetting removes what a rebuild has made so far; where that happens again and again, whoever waits is told. */
const BEGINNINGS_MAX = 20;

export async function rebuildBeside(plan: RebuildPlan): Promise<void> {
  for (let beginnings = 0; beginnings < BEGINNINGS_MAX; beginnings += 1) {
    const draft = await plan.index.draft?.();
    if (draft === undefined) return plan.index.reset();
    if ((await fill(draft, plan)) === "adopted") return;
  }
  throw new IndexFault("store_busy", "entries are being forgotten faster than the index is built anew", {
    hint: "Try again when nothing is being forgotten; the index in use is sound.",
  });
}

/** Lets reads through between two steps; a read may use another event loop's turn, a step takes some milliseconds. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function fill(draft: IndexDraft, plan: RebuildPlan): Promise<"adopted" | "gone"> {
  try {
    return await fillAndAdopt(draft, plan);
  } catch (error) {
    // Whatever is done to a draft that another process has just put in place or removed fails.
    const isThere = await draft.isThere().catch(() => true);
    const outcome = !isThere && error instanceof IndexFault ? await draft.adopt() : "behind";
    if (outcome !== "behind") return outcome;
    await draft.remove().catch(() => undefined);
    throw error;
  }
}

async function fillAndAdopt(draft: IndexDraft, { log, onProgress }: RebuildPlan): Promise<"adopted" | "gone"> {
  const indexer = new Indexer({ log, index: draft.index });
  const textIndexer = new TextIndexer({ log, index: draft.index });
  const advance = async (step: () => Promise<boolean>): Promise<void> => {
    while ((await draft.isThere()) && (await step())) {
      // Rows and texts are each a half of the way.
      const [rows, texts] = [await draft.index.checkpoint(), await draft.index.textCheckpoint()];
      onProgress(Math.floor((rows + texts) / 2));
      await nextTurn();
    }
  };
  await advance(() => indexer.step());
  // Texts of what is recorded meanwhile can wait: search looks through them itself, and capture may go on for ever.
  await advance(() => textIndexer.step());
  // Others go on recording, and perhaps faster than is ever caught up with: it has only to come as far as the old index.
  for (;;) {
    const outcome = await draft.adopt();
    if (outcome !== "behind") return outcome;
    await indexer.step();
    await nextTurn();
  }
}

// A rebuild of the index under way: whoever asks for one meanwhile waits for the same, and can ask how far it has come.
/** How often whoever waits hears of it. */
const PROGRESS_MS = 200;

export class SharedRebuild {
  readonly #index: ResilientIndex<unknown>;
  #running: Promise<void> | undefined;
  #through: number | undefined;

  constructor(index: ResilientIndex<unknown>) {
    this.#index = index;
  }

  /** Position through which it has come; undefined while there is none. */
  get through(): number | undefined {
    return this.#through;
  }

  run(): Promise<void> {
    this.#running ??= this.#index
      .rebuild((position) => {
        this.#through = position;
      })
      .finally(() => {
        this.#running = undefined;
        this.#through = undefined;
      });
    return this.#running;
  }
}

/** A rebuild that somebody waits for and wants to hear of. */
export async function rebuildWithProgress(
  calls: Pick<MaintenanceCalls, "rebuildIndex" | "rebuiltThrough">,
  onProgress: ((position: number) => void) | undefined,
): Promise<void> {
  const looking = setInterval(async () => {
    const position = await calls.rebuiltThrough().catch(() => undefined);
    if (position !== undefined) onProgress?.(position);
  }, PROGRESS_MS);
  try {
    await calls.rebuildIndex();
  } finally {
    clearInterval(looking);
  }
}

// How patient reads are with an index that is being built from nothing: what it still lacks, and how long that is waited
// for before an answer is given from the newest entries alone.

export interface RebuildOptions {
  /** How many entries an index that is being rebuilt may lack for a read to wait for them. */
  readonly behind_max: number;
  /** How long reads wait for a rebuild before they are answered from the newest entries. */
  readonly wait_ms: number;
  /** How many entries are taken for the newest. */
  readonly newest: number;
}

export const rebuildDefaults: RebuildOptions = { behind_max: 20_000, wait_ms: 1_500, newest: 5_000 };

/** An index as it was when it was first looked at. */
interface Snapshot {
  readonly index: object;
  /** The log's end when an index began empty beside it: what comes later is ordinary following, which every read waits for. */
  readonly through: number;
  readonly waitUntilMs: number;
  checkpoint: number;
}

export class RebuildGrace {
  readonly #options: RebuildOptions;
  readonly #nowMs: () => number;
  #sight: Snapshot | undefined;

  constructor(options: RebuildOptions, nowMs: () => number) {
    this.#options = options;
    this.#nowMs = nowMs;
  }

  /** Whether this very index was looked at before, and has not been begun again since. */
  knows(index: object, checkpoint: number): boolean {
    return this.#sight?.index === index && checkpoint >= this.#sight.checkpoint;
  }

  /**
   * Looks at an index anew: `before` is its checkpoint as it was found, `checkpoint` what a first step has made of it. One
   * that had nothing, lost what it had, or has taken the place of another is new; what the log holds then is its debt.
   * Several reads may look at the same time, and the first of them saw the index as it was.
   */
  async look(
    index: object,
    before: number,
    step: () => Promise<{ readonly checkpoint: number; readonly position: number }>,
  ): Promise<void> {
    const known = this.#sight;
    const { checkpoint, position } = await step();
    const isNew = before === 0 || checkpoint < before || known !== undefined;
    if (this.#sight !== known) return;
    const patientUntilMs = this.#nowMs() + this.#options.wait_ms;
    this.#sight = { index, through: isNew ? position : 0, waitUntilMs: patientUntilMs, checkpoint };
  }

  /** How many entries it lacks of those that were there when it began. */
  lack(checkpoint: number): number {
    if (this.#sight === undefined) return 0;
    this.#sight.checkpoint = checkpoint;
    return this.#sight.through - checkpoint;
  }

  /** Whether so few are missing that an answer waits for them. */
  isEnough(checkpoint: number): boolean {
    return this.lack(checkpoint) <= this.#options.behind_max;
  }

  /** How long a read may still wait for more than that. */
  restMs(): number {
    return Math.max(0, (this.#sight?.waitUntilMs ?? 0) - this.#nowMs());
  }
}
