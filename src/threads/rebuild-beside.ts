// Builds an index anew beside the one in use, which goes on answering until the new one takes its place.
import type { EntryIndex, IndexDraft } from "../ports/entry-index.js";
import type { EntryLog } from "../ports/entry-log.js";
import { IndexFault } from "../ports/index-holder.js";
import { noMask } from "../ports/mask.js";
import { Readers } from "./readers.js";

export interface RebuildPlan {
  readonly log: EntryLog;
  readonly index: EntryIndex;
  readonly onProgress: (position: number) => void;
}

export async function rebuildBeside(plan: RebuildPlan): Promise<void> {
  const draft = await plan.index.draft?.();
  if (draft === undefined) return plan.index.reset();
  try {
    await fill(draft, plan);
  } catch (error) {
    // Another process may have put the draft in place just then; else nothing of it is to be left.
    const isThere = await draft.isThere().catch(() => true);
    if (!isThere && error instanceof IndexFault) return;
    await draft.remove().catch(() => undefined);
    throw error;
  }
}

/** Lets reads through between two steps; a read may use another event loop's turn, a step takes some milliseconds. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function fill(draft: IndexDraft, { log, onProgress }: RebuildPlan): Promise<void> {
  const { indexer, textIndexer } = new Readers({ log, index: draft.index, mask: noMask });
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
  while (!(await draft.adopt())) {
    await indexer.step();
    await nextTurn();
  }
}
