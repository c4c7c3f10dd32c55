// Hooks that are called with what was recorded, once it is on disk: kinds, positions, labels and counts, never recorded
// text.
import { codePoints } from "../../model/normalise.js";
import type { Draft } from "./draft.js";

/** What hooks get for a recorded entry. */
export interface RecordedEntry {
  readonly kind: string;
  readonly id: string;
  readonly position: number;
  readonly created_at: string;
  readonly session_id: string;
  readonly project: string;
  readonly client: string;
  /** Number of memories that an interaction or response names; absent for other kinds. */
  readonly memories_used?: number;
  readonly chunks_used?: number;
  /** Length of its response in code points. */
  readonly response_chars?: number;
}

/** Called for each acknowledged batch, with entries that were not recorded before. */
export type OnRecorded = (entries: readonly RecordedEntry[]) => unknown;

/** A parsed entry, and its placement. */
export interface RecordedDraft {
  readonly draft: Pick<Draft, "kind" | "body">;
  readonly placed: Pick<RecordedEntry, "id" | "position" | "created_at">;
}

interface Hook {
  readonly onRecorded: OnRecorded;
  /** Checked first, to skip unneeded work. */
  readonly isWanted: () => boolean;
  hasFailed: boolean;
}

export class RecordedHooks {
  readonly #hooks = new Set<Hook>();

  /** Registers a hook; the returned function removes it. */
  add(onRecorded: OnRecorded, isWanted = (): boolean => true): () => void {
    const hook = { onRecorded, isWanted, hasFailed: false };
    this.#hooks.add(hook);
    return () => this.#hooks.delete(hook);
  }

  tell(recorded: () => readonly RecordedDraft[]): void {
    if (this.#hooks.size === 0) return;
    const hooks = [...this.#hooks].filter(({ isWanted }) => isWanted());
    if (hooks.length === 0) return;
    const entries = recorded().map(toRecordedEntry);
    if (entries.length === 0) return;
    for (const hook of hooks) void call(hook, entries);
  }
}

/** A failing hook never affects capture; its first failure is a warning. */
async function call(hook: Hook, entries: readonly RecordedEntry[]): Promise<void> {
  try {
    await hook.onRecorded(entries);
  } catch (error) {
    if (hook.hasFailed) return;
    hook.hasFailed = true;
    const message = `onRecorded failed: ${reasonOf(error)}. The entries are recorded; further failures are not reported.`;
    process.emitWarning(message, { type: "HansardWarning", code: "on_recorded_failed" });
  }
}

/** Anything can be thrown, even values that cannot be shown as text. */
function reasonOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "what it threw cannot be shown as text";
  }
}

function toRecordedEntry({ draft: { kind, body }, placed }: RecordedDraft): RecordedEntry {
  const { id, position, created_at } = placed;
  const label = (name: string): string => (body[name] as string | undefined) ?? "";
  const labels = { session_id: label("session_id"), project: label("project"), client: label("client") };
  const entry = { kind, id, position, created_at, ...labels };
  if (kind !== "interaction" && kind !== "response") return entry;
  const count = (name: string): number => (body[name] as readonly string[] | undefined)?.length ?? 0;
  const used = { memories_used: count("memories_used"), chunks_used: count("chunks_used") };
  return { ...entry, ...used, response_chars: codePoints((body.response as string | undefined) ?? "") };
}
