// A recorder in memory whose clock and chance repeat, with its parts within reach.
import type { Surroundings } from "../../src/capture/pack.js";
import { MemoryIndex } from "../../src/engines/memory/index.js";
import { MemoryLog } from "../../src/engines/memory/log.js";
import { Recorder } from "../../src/recorder.js";
import { LocalReading } from "../../src/threads/reading.js";
import { repeatableSurroundings } from "./surroundings.js";

export interface MemoryRecorder {
  readonly recorder: Recorder;
  readonly log: MemoryLog;
  readonly index: MemoryIndex;
}

export function memoryRecorder(surroundings: Surroundings = repeatableSurroundings()): MemoryRecorder {
  const log = new MemoryLog();
  const index = new MemoryIndex();
  const recorder = new Recorder({ log, reading: new LocalReading({ log, index }), surroundings });
  return { recorder, log, index };
}
