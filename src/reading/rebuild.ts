// Rebuilding an index: next to the one in use, which answers until it is replaced; shared by all who ask for it; and
// how long reads wait for an index that is built from empty.

import { IndexFault } from "../index/index-holder.js";
import { Indexer, TextIndexer } from "../index/indexer.js";
import type { EntryIndex, IndexDraft } from "../index/port.js";
import type { EntryLog } from "../log/port.js";
import type { ResilientIndex } from "./local-reading.js";
import type { MaintenanceCalls } from "./maintenance.js";

export interface RebuildPlan {
  readonly log: EntryLog;
  readonly index: EntryIndex;
  readonly onProgress: (position: number) => void;
}

/** Forgetting discards drafts; after this many, the caller gets an error. */
const BEGINNINGS_MAX = 20;

export async function rebuildBeside(plan: RebuildPlan): Promise<void> {
  for (let beginnings = 0; beginnings < BEGINNINGS_MAX; beginnings += 1) {
    const draft = await plan.index.draft?.();
    if (draft === undefined) return plan.index.reset();
    if ((await fill(draft, plan)) === "adopted") return;
  }
  throw new IndexFault("store_busy", "entries are being forgotten faster than the index can be rebuilt", {
    hint: "Try again when nothing is being forgotten; the index in use is sound.",
  });
}

/** Lets reads run between two steps. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function fill(draft: IndexDraft, plan: RebuildPlan): Promise<"adopted" | "gone"> {
  try {
    return await fillAndAdopt(draft, plan);
  } catch (error) {
    // Operations on a draft fail once another process has adopted or removed it.
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
      // Rows and texts are each half of the work.
      const [rows, texts] = [await draft.index.checkpoint(), await draft.index.textCheckpoint()];
      onProgress(Math.floor((rows + texts) / 2));
      await nextTurn();
    }
  };
  await advance(() => indexer.step());
  // Texts of new entries can wait: searches scan those themselves, and capture may never stop.
  await advance(() => textIndexer.step());
  // Others may record faster than this catches up: it only has to reach the old index.
  for (;;) {
    const outcome = await draft.adopt();
    if (outcome !== "behind") return outcome;
    await indexer.step();
    await nextTurn();
  }
}

/** Interval of progress reports. */
const PROGRESS_MS = 200;

export class SharedRebuild {
  readonly #index: ResilientIndex<unknown>;
  #running: Promise<void> | undefined;
  #through: number | undefined;

  constructor(index: ResilientIndex<unknown>) {
    this.#index = index;
  }

  /** Progress; undefined if there is none. */
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

/** Rebuilds and reports progress. */
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

export interface RebuildOptions {
  /** Reads wait for an index that lacks at most this many entries. */
  readonly behind_max: number;
  /** How long reads wait for a rebuild before they are answered from the newest entries. */
  readonly wait_ms: number;
  /** How many entries count as the newest. */
  readonly newest: number;
}

export const rebuildDefaults: RebuildOptions = { behind_max: 20_000, wait_ms: 1_500, newest: 5_000 };

/** An index when it was first seen. */
interface Snapshot {
  readonly index: object;
  /** The log's end at that time; later entries are ordinary indexing, which every read waits for. */
  readonly through: number;
  readonly waitUntilMs: number;
  checkpoint: number;
}

export class RebuildGrace {
  readonly #options: RebuildOptions;
  readonly #nowMs: () => number;
  #snapshot: Snapshot | undefined;

  constructor(options: RebuildOptions, nowMs: () => number) {
    this.#options = options;
    this.#nowMs = nowMs;
  }

  /** Whether this index was seen before, and not reset since. */
  knows(index: object, checkpoint: number): boolean {
    return this.#snapshot?.index === index && checkpoint >= this.#snapshot.checkpoint;
  }

  /**
   * Registers an index: `before` is its checkpoint as found, `checkpoint` after a first step. An index that was empty,
   * lost entries, or replaced another is new, and must first index what the log contains now. Of concurrent reads, the
   * first one saw it as it was.
   */
  async observe(
    index: object,
    before: number,
    step: () => Promise<{ readonly checkpoint: number; readonly position: number }>,
  ): Promise<void> {
    const known = this.#snapshot;
    const { checkpoint, position } = await step();
    const isNew = before === 0 || checkpoint < before || known !== undefined;
    if (this.#snapshot !== known) return;
    const waitUntilMs = this.#nowMs() + this.#options.wait_ms;
    this.#snapshot = { index, through: isNew ? position : 0, waitUntilMs, checkpoint };
  }

  /** How many of the entries it had to index are missing. */
  lack(checkpoint: number): number {
    if (this.#snapshot === undefined) return 0;
    this.#snapshot.checkpoint = checkpoint;
    return this.#snapshot.through - checkpoint;
  }

  /** Whether so few are missing that reads wait for them. */
  isEnough(checkpoint: number): boolean {
    return this.lack(checkpoint) <= this.#options.behind_max;
  }

  /** How long reads may still wait. */
  restMs(): number {
    return Math.max(0, (this.#snapshot?.waitUntilMs ?? 0) - this.#nowMs());
  }
}
