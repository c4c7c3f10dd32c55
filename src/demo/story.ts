// A week of several agents at work, as entries: what `hansard demo` shows, and what the page is tested with.
import type { EntryInput } from "../model/entry.js";
import type { Recorder } from "../recorder.js";
import { elsewhere } from "./elsewhere.js";
import { invoices } from "./invoices.js";
import { added, proposed } from "./learned.js";
import { routine } from "./routine.js";
import type { Scene } from "./scene.js";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Tells the story to a recorder: the entries first, then what was learned from them. */
export async function tellStory(recorder: Recorder, now_ms: number): Promise<void> {
  await recorder.append(demoStory(now_ms));
  for (const memory of added) await recorder.memories.add(memory);
  for (const memory of proposed) {
    const answer = await recorder.memories.propose(memory);
    if ("dropped" in answer) throw new Error(`the story's ${memory.id} was dropped: ${answer.reason}`);
  }
}

/** The story as it would have been recorded, oldest first, ending on the day of `now_ms`. */
function demoStory(now_ms: number): readonly EntryInput[] {
  const told = [...invoices, ...elsewhere, ...routine()].flatMap((scene) => tell(scene, now_ms));
  return told.toSorted((one, other) => one.at_ms - other.at_ms).map(({ entry }) => entry);
}

function tell(scene: Scene, now_ms: number): readonly { readonly at_ms: number; readonly entry: EntryInput }[] {
  const { session_id, project, client, title, parent, steps } = scene;
  const labels = { session_id, project, client };
  let at_ms = startOf(scene, now_ms);
  const told = steps.map(({ after_s, entry }) => {
    at_ms += after_s * 1_000;
    const inherits = entry.kind === "feedback" ? {} : labels;
    return { at_ms, entry: { ...entry, ...inherits, created_at: new Date(at_ms).toISOString() } as EntryInput };
  });
  if (title === "" && parent === undefined) return told;
  const info = { kind: "session_info", ...labels, title, ...(parent === undefined ? {} : { parent }) } as const;
  const [first] = told;
  return first === undefined
    ? told
    : [first, { ...first, entry: { ...info, created_at: first.entry.created_at ?? null } }, ...told.slice(1)];
}

/** The hour it is told at, or a while ago where that has not come yet today. */
function startOf({ days_ago, at, steps }: Scene, now_ms: number): number {
  const day = new Date(now_ms - days_ago * DAY_MS).toISOString().slice(0, 10);
  const length_ms = steps.reduce((sum, { after_s }) => sum + after_s * 1_000, 0);
  return Math.min(Date.parse(`${day}T${at}:00Z`), now_ms - length_ms - MINUTE_MS);
}
