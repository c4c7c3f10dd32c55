// Who is told what was recorded, once it is on disk: kinds, places, labels and counts, and never a recorded text.
import { codePoints } from "../../model/normalise.js";
import type { Draft } from "./draft.js";

/** What is told of an entry that was recorded. */
export interface RecordedEntry {
  readonly kind: string;
  readonly id: string;
  readonly position: number;
  readonly created_at: string;
  readonly session_id: string;
  readonly project: string;
  readonly client: string;
  /** How many memories an interaction or a response names; absent on other kinds. */
  readonly memories_used?: number;
  readonly chunks_used?: number;
  /** Length of its response in code points. */
  readonly response_chars?: number;
}

/** Called with the entries of each batch that was acknowledged and not recorded before. */
export type OnRecorded = (entries: readonly RecordedEntry[]) => unknown;

/** An entry as it was parsed, and what the log answered. */
export interface RecordedDraft {
  readonly draft: Pick<Draft, "kind" | "body">;
  readonly placed: Pick<RecordedEntry, "id" | "position" | "created_at">;
}

interface Hook {
  readonly onRecorded: OnRecorded;
  /** Asked before anything is counted for nobody. */
  readonly isWanted: () => boolean;
  hasFailed: boolean;
}

export class RecordedHooks {
  readonly #hooks = new Set<Hook>();

  /** Tells it of every batch from now on, until the answer is called. */
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

/** Whatever a hook does, capture goes on; the first failure of each is a warning. */
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

/** Anything can be thrown, also what has no text, or what throws when it is asked for it. */
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
