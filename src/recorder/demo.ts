// The record of `hansard demo` and of the page's tests: a week of several agents at work, in demo.ndjson. A line is an
// entry, or something done with memories in between. Times are shifted so that the week ends now.
import { readFileSync } from "node:fs";
import type { EntryInput } from "../model/entry.js";
import { packageFile } from "../model/files.js";
import type { Recorder } from "./recorder.js";

type Memories = Recorder["memories"];
type Verdict = { readonly id: string; readonly reason?: string };
type Timed = EntryInput & { readonly created_at: string };

type Step =
  | { readonly entry: Timed }
  | { readonly add: Parameters<Memories["add"]>[0] }
  | { readonly propose: Parameters<Memories["propose"]>[0] }
  | { readonly promote: Verdict }
  | { readonly reject: Verdict };

const MINUTE_MS = 60_000;

/** Records the week so its newest entry is a minute old, then counts which memories were used. */
export async function loadDemo(recorder: Recorder, nowMs: number): Promise<void> {
  const lines = readFileSync(packageFile("dist/bundle/demo.ndjson"), "utf8").trim().split("\n");
  const steps = lines.map((line) => JSON.parse(line) as Step);
  const newestMs = Math.max(...steps.map((step) => ("entry" in step ? Date.parse(step.entry.created_at) : 0)));
  const shiftMs = nowMs - MINUTE_MS - newestMs;
  let entries: EntryInput[] = [];
  for (const step of steps) {
    if ("entry" in step) {
      const created_at = new Date(Date.parse(step.entry.created_at) + shiftMs).toISOString();
      entries.push({ ...step.entry, created_at });
      continue;
    }
    // Memories name entries that come before them.
    if (entries.length > 0) await recorder.append(entries);
    entries = [];
    await carryOut(recorder.memories, step);
  }
  if (entries.length > 0) await recorder.append(entries);
  await recorder.memories.reinforce();
}

async function carryOut(memories: Memories, step: Exclude<Step, { readonly entry: Timed }>): Promise<void> {
  if ("add" in step) await memories.add(step.add);
  else if ("propose" in step) await propose(memories, step.propose);
  else if ("promote" in step) await memories.promote(step.promote.id);
  else await memories.reject(step.reject.id, { reason: step.reject.reason ?? "" });
}

async function propose(memories: Memories, proposal: Parameters<Memories["propose"]>[0]): Promise<void> {
  const answer = await memories.propose(proposal);
  if ("dropped" in answer) throw new Error(`the demo's ${proposal.id} was dropped: ${answer.reason}`);
}
