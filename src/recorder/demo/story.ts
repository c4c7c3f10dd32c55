// A week of several agents at work, as entries: what `hansard demo` shows, and what the page is tested with.
import type { EntryInput } from "../../model/entry.js";
import type { Recorder } from "../recorder.js";
import { elsewhere } from "./elsewhere.js";
import { invoices } from "./invoices.js";
import { added, judged, proposed } from "./learned.js";
import { routine } from "./routine.js";
import type { Scene } from "./scene.js";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** How many days of the story come after something was learned, and could use it. */
const DAYS_AFTER = 3.5;

/** Tells the story to a recorder: what came first, what was learned from it, what came of that, and what waits for a verdict. */
export async function tellStory(recorder: Recorder, now_ms: number): Promise<void> {
  const story = demoStory(now_ms);
  const learnt_ms = now_ms - DAYS_AFTER * DAY_MS;
  await recorder.append(story.filter(({ at_ms }) => at_ms < learnt_ms).map(({ entry }) => entry));
  for (const memory of added) await recorder.memories.add(memory);
  for (const { memory, verdict, reason } of judged) {
    await propose(recorder, memory);
    await recorder.memories[verdict](memory.id, reason === undefined ? {} : { reason });
  }
  await recorder.append(story.filter(({ at_ms }) => at_ms >= learnt_ms).map(({ entry }) => entry));
  for (const memory of proposed) await propose(recorder, memory);
  await recorder.memories.reinforce();
}

async function propose(recorder: Recorder, memory: Parameters<Recorder["memories"]["propose"]>[0]): Promise<void> {
  const answer = await recorder.memories.propose(memory);
  if ("dropped" in answer) throw new Error(`the story's ${memory.id} was dropped: ${answer.reason}`);
}

interface Told {
  readonly at_ms: number;
  readonly entry: EntryInput;
}

/** The story as it would have been recorded, oldest first, ending on the day of `now_ms`. */
function demoStory(now_ms: number): readonly Told[] {
  const told = [...invoices, ...elsewhere, ...routine()].flatMap((scene) => tell(scene, now_ms));
  return told.toSorted((one, other) => one.at_ms - other.at_ms);
}

function tell(scene: Scene, now_ms: number): readonly Told[] {
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
