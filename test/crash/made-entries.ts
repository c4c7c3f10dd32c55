// Entries whose content follows from their id alone, so a reader of one can tell whether it is whole.
import { createHash } from "node:crypto";
import type { EntryInput } from "../../src/index.js";

/** Ids of a batch carry its size: `b.<batch>.<size>.<item>`. */
export function batchIds(batch: string, size: number): readonly string[] {
  return Array.from({ length: size }, (_, item) => `b.${batch}.${size}.${item}`);
}

/** The batch an id belongs to, and how many entries it must have; undefined for an entry that came alone. */
export function batchOf(id: string): { readonly batch: string; readonly size: number } | undefined {
  const match = /^b\.(.+)\.(\d+)\.\d+$/.exec(id);
  return match === null ? undefined : { batch: match[1] as string, size: Number(match[2]) };
}

/** Whether an id is one of those that `entryOf` makes an entry for. */
export function isMade(id: string): boolean {
  return /^[sb]\./.test(id);
}

/** From a few bytes to twelve kilobytes, more than a page of the database. */
export function textOf(id: string): string {
  const digest = createHash("sha256").update(id).digest();
  const length = ((digest[0] as number) % 4) * 1_000 * ((digest[1] as number) % 5) + (digest[2] as number);
  return `${id} `.padEnd(length, digest.toString("hex"));
}

/** Long enough for entries to share parts of it. */
const said = Array.from({ length: 23 }, (_, at) => ({ role: "user", content: `${at} was said before. `.repeat(40) }));

export function entryOf(id: string): EntryInput {
  const kinds = ["interaction", "message", "error", "decision"] as const;
  const kind = kinds[id.length % kinds.length] as (typeof kinds)[number];
  const common = { id, session_id: sessionOf(id), project: "crash" };
  if (kind === "interaction") {
    const extra = { said: said.slice(0, id.length % said.length) };
    return { ...common, kind, prompt: textOf(id), memories_used: [`memory-${id.length}`], extra };
  }
  if (kind === "message") return { ...common, kind, role: "user", content: textOf(id) };
  if (kind === "error") return { ...common, kind, error: textOf(id) };
  return { ...common, kind, decision: textOf(id) };
}

/** A session of its own for each entry, so a list can be asked for just this one. */
export function sessionOf(id: string): string {
  return `session of ${id}`;
}
