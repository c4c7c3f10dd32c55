// Branches that were left: what was said on them is recorded as it was said, and withdrawn, so that search finds it and
// history is the branch that was chosen. Which one that is may change while a file grows.
import { isJsonObject, type JsonObject } from "../../model/json.js";
import { hashedId } from "../identity.js";
import type { EntryStep, FindEntry, ImportedEntry, ImportStep, RejectedStep } from "../importer.js";

/** Withdrawals are made when so many are due: each of them waits until what it withdraws has its place. */
const DUE_MAX = 1_000;

export class Branches {
  readonly #format: string;
  #due: ImportedEntry[] = [];
  /** How often the message with a call came back: its result has to come after it each time. */
  readonly #timesBack = new Map<string, number>();

  constructor(format: string) {
    this.#format = format;
  }

  /** The steps of a record that lies on the branch that was chosen, or on one that was left. */
  *take(steps: Iterable<ImportStep>, isLeft: boolean): Generator<ImportStep> {
    for (const step of steps) yield "entry" in step ? this.#onBranch(step, isLeft) : step;
    if (this.#due.length >= DUE_MAX) yield* this.end();
  }

  /** The withdrawals of what was left. */
  *end(): Generator<ImportStep> {
    const later = (): readonly ImportedEntry[] => {
      const due = this.#due;
      this.#due = [];
      return due;
    };
    yield { line: 0, later };
  }

  #onBranch(step: EntryStep, isLeft: boolean, times = 0): EntryStep {
    const { entry, line } = step;
    if (entry.kind === "tool_call") return this.#result(step);
    if (entry.kind !== "message") return step;
    // A copy that counts as another session's message is that session's to withdraw, and of one that was erased nothing is left.
    let isOwn = true;
    const beyond = async (
      stored: JsonObject | undefined,
      find: FindEntry,
    ): Promise<EntryStep | RejectedStep | undefined> => {
      isOwn = stored?.session_id === entry.session_id;
      const next = await step.beyond?.(stored, find);
      if (next !== undefined && "reason" in next) return next;
      if (next !== undefined) {
        // The rest of a message follows the part that was recorded before, which is left as well.
        const position = isLeft && isOwn ? await find(entry.id) : undefined;
        if (position !== undefined) this.#withdraw(entry, position);
        return this.#onBranch(next, isLeft);
      }
      if (!isOwn || (await find(this.#withdrawalOf(entry.id))) === undefined) return undefined;
      const again = this.#again(entry);
      if (isLeft && (await find(again.id)) === undefined) return undefined;
      if (!isLeft) for (const id of callIds(entry)) this.#timesBack.set(id, times + 1);
      return this.#onBranch({ line, entry: again }, isLeft, times + 1);
    };
    const placed = (position: number): void => {
      step.placed?.(position);
      if (isLeft && isOwn) this.#withdraw(entry, position);
    };
    return { line, entry, placed, beyond };
  }

  /** A result counts for the call before it, so that it follows one that came back. */
  #result(step: EntryStep, times = 0): EntryStep {
    const { entry, line } = step;
    const beyond: EntryStep["beyond"] = async (stored, find) => {
      const next = await step.beyond?.(stored, find);
      if (next !== undefined) return next;
      if (times >= (this.#timesBack.get(String(entry.tool_call_id)) ?? 0)) return undefined;
      return this.#result({ line, entry: this.#again(entry) }, times + 1);
    };
    return { ...step, beyond };
  }

  #withdraw({ id, session_id, project, client, created_at }: ImportedEntry, withdraws: number): void {
    const labels = { session_id, project, client, created_at };
    this.#due.push({ kind: "withdrawal", id: this.#withdrawalOf(id), ...labels, withdraws });
  }

  #withdrawalOf(id: string): string {
    return hashedId(this.#format, ["withdrawal", id]);
  }

  /** What is withdrawn stays so; on a branch that is chosen again it is said again, and was paid for once. */
  #again(entry: ImportedEntry): ImportedEntry {
    const { usage: _, ...extra } = isJsonObject(entry.extra) ? entry.extra : {};
    return { ...entry, id: hashedId(this.#format, ["again", entry.id]), extra: { ...extra, again: entry.id } };
  }
}

function callIds({ tool_calls }: ImportedEntry): readonly string[] {
  return Array.isArray(tool_calls) ? tool_calls.map((call: JsonObject) => String(call.id)) : [];
}
