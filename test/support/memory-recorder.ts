// A recorder in memory whose clock and chance repeat, with its parts within reach.

import { MemoryIndex } from "../../src/engines/memory/index.js";
import { MemoryLog } from "../../src/engines/memory/log.js";
import { MemoryKeys } from "../../src/engines/memory/store.js";
import { createMask } from "../../src/guard/masking/mask.js";
import type { EntryIndex } from "../../src/index/port.js";
import { AlteredNote } from "../../src/log/altered-note.js";
import type { WriteContext } from "../../src/log/capture/draft.js";
import type { EntryLog } from "../../src/log/port.js";
import { Sealing } from "../../src/log/seals/sealing.js";
import { calls } from "../../src/operations/calls.js";
import { readersOf } from "../../src/operations/readers.js";
import { LocalReading } from "../../src/reading/local-reading.js";
import { LocalTailSource } from "../../src/reading/tail/read-tail.js";
import { composeRecorder, type StoreParts } from "../../src/recorder/compose-recorder.js";
import { openStoreParts } from "../../src/recorder/open-store-parts.js";
import type { Recorder } from "../../src/recorder/recorder.js";
import { repeatableContext } from "./write-context.js";

export interface MemoryRecorder {
  readonly recorder: Recorder;
  readonly log: MemoryLog;
  readonly index: MemoryIndex;
}

export function memoryRecorder(writeContext: WriteContext = repeatableContext()): MemoryRecorder {
  const log = new MemoryLog();
  const index = new MemoryIndex();
  const recorder = composeInMemory({ log, index, writeContext });
  return { recorder, log, index };
}

/** A recorder on a store that is opened by its address, as `openRecorder` does it. */
export async function recorderAt(
  data: string,
  writeContext: WriteContext,
  watching: Pick<StoreParts, "bookmarks" | "watchClock"> = {},
): Promise<Recorder> {
  const mask = createMask();
  const parts = await openStoreParts({ data, mode: "create", mask, mask_values: [] });
  const sealing = new Sealing({ key_path: "nowhere", data });
  return composeRecorder({ ...parts, writeContext, mask, sealing, ...watching });
}

/** A recorder on parts of the test's own. */
export function composeInMemory(parts: {
  readonly log: EntryLog;
  readonly index: EntryIndex;
  readonly writeContext: WriteContext;
}): Recorder {
  const mask = createMask();
  const { log, index } = parts;
  return composeRecorder({
    ...parts,
    altered: new AlteredNote(),
    mask,
    reading: new LocalReading({ log, index, mask, calls, readersOf }),
    tailSource: new LocalTailSource(log, mask),
    keyStore: new MemoryKeys(),
    sealing: new Sealing({ key_path: "nowhere", data: "memory:" }),
  });
}
