// Builds an index anew beside the one in use, which goes on answering until the new one takes its place.

import { IndexFault } from "../index/index-holder.js";
import { Indexer } from "../index/indexer.js";
import type { EntryIndex, IndexDraft } from "../index/port.js";
import { TextIndexer } from "../index/text-indexer.js";
import type { EntryLog } from "../log/port.js";

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
