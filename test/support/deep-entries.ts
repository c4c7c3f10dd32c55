// A log with an entry whose unknown field is nested deeper, in `extra`, than captured entries may be.
import { type Packed, pack } from "../../src/log/capture/draft.js";
import type { JsonValue } from "../../src/model/json.js";
import { limits } from "../../src/model/limits.js";
import type { Recorder } from "../../src/recorder/recorder.js";
import { memoryRecorder } from "./memory-recorder.js";
import { repeatableContext } from "./write-context.js";

/** As deep as a field of an entry may be; in `extra` it is a level too deep. */
export const deepPart: JsonValue = nested(limits.nesting_levels - 1);

/** Three interactions, the second, with the id `deep`, of 201 levels. */
export async function deepLog(): Promise<Recorder> {
  const writeContext = repeatableContext();
  const { recorder, log } = memoryRecorder(writeContext);
  await recorder.append({ kind: "interaction", prompt: "before" });
  // Not through the door, which refuses it now.
  const body = { prompt: "How deep?", extra: { deep: deepPart, mood: "calm" } };
  const { entry } = pack({ kind: "interaction", id: "deep", body }, writeContext) as Packed;
  await log.append([[entry]]);
  await recorder.append({ kind: "interaction", prompt: "after" });
  return recorder;
}

function nested(levels: number): JsonValue {
  let value: JsonValue = "bottom";
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}
