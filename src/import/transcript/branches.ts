// Abandoned branches of a conversation, and withdrawn prompts. Their messages are recorded and withdrawn: search finds
// them, and history is the active branch. Which branch is active may change while a file grows.
import { isJsonObject, type JsonObject } from "../../model/json.js";
import { hashedId } from "../identity.js";
import type { EntryStep, FindEntry, ImportedEntry, ImportStep, ReadStored, RejectedStep } from "../importer.js";
import type { TranscriptSession } from "./transcript.js";

/** Withdrawals are made for this many records at once: each has to wait for the position of what it withdraws. */
const LEFT_MAX = 1_000;
/** Calls on a branch that became active again; of more than these, the oldest are dropped. */
const CALLS_MAX = 4_096;

/** State for a reading that resumes later. */
export interface BranchesState {
  readonly times_back: ReadonlyMap<string, number>;
}

/** Records, by native id, that changed to or from the active branch after they were recorded. */
export interface BranchSwitch {
  readonly left: readonly string[];
  readonly back: readonly string[];
}

export class Branches {
  readonly #format: string;
  #due: ImportedEntry[] = [];
  /** How many records are not withdrawn yet. */
  #left = 0;
  /** How often the message with a call was repeated: its result has to follow it each time. */
  readonly #timesBack: Map<string, number>;

  constructor(format: string, known?: BranchesState) {
    this.#format = format;
    this.#timesBack = new Map(known?.times_back);
  }

  /** Call it after all withdrawals were made. */
  state(): BranchesState {
    return { times_back: this.#timesBack };
  }

  /** The steps of a record on the active branch, or on an abandoned one. */
  *take(steps: Iterable<ImportStep>, isLeft: boolean): Generator<ImportStep> {
    // What the active branch says next was said without the abandoned one.
    if (!isLeft) yield* this.end();
    for (const step of steps) yield "entry" in step ? this.#onBranch(step, isLeft) : step;
    if (isLeft) this.#left += 1;
    if (this.#left >= LEFT_MAX) yield* this.end();
  }

  /** Withdraws or repeats, in order, what was recorded while another branch was active. */
  *applySwitch(session: TranscriptSession, { left, back }: BranchSwitch): Generator<ImportStep> {
    yield* this.#switched(session, left, true);
    yield* this.#switched(session, back, false);
  }

  /** The withdrawals that are due, at the end of each part of a source. */
  *end(): Generator<ImportStep> {
    if (this.#left === 0) return;
    this.#left = 0;
    const deferred = (): readonly ImportedEntry[] => {
      const due = this.#due;
      this.#due = [];
      return due;
    };
    yield { line: 0, deferred };
  }

  #onBranch(step: EntryStep, isLeft: boolean, times = 0): EntryStep {
    const { entry, line } = step;
    if (entry.kind === "tool_call") return this.#result(step);
    if (entry.kind !== "message") return step;
    // Another session withdraws its own copy; an erased message needs no withdrawal.
    let isOwn = true;
    const onExisting = async (
      stored: JsonObject | undefined,
      find: FindEntry,
    ): Promise<EntryStep | RejectedStep | undefined> => {
      isOwn = stored?.session_id === entry.session_id;
      const next = await step.onExisting?.(stored, find);
      if (next !== undefined && "reason" in next) return next;
      if (next !== undefined) {
        // The rest follows a part that was recorded before, which has to be withdrawn as well.
        const position = isLeft && isOwn ? await find(entry.id) : undefined;
        if (position !== undefined) this.#due.push(this.#withdrawal(entry, position));
        return this.#onBranch(next, isLeft);
      }
      if (!isOwn || (await find(this.#withdrawalOf(entry.id))) === undefined) return undefined;
      const again = this.#again(entry);
      if (isLeft && (await find(again.id)) === undefined) return undefined;
      if (!isLeft) this.#cameBack(entry, times + 1);
      return this.#onBranch({ line, entry: again }, isLeft, times + 1);
    };
    const onPlaced = (position: number): void => {
      step.onPlaced?.(position);
      if (isLeft && isOwn) this.#due.push(this.#withdrawal(entry, position));
    };
    return { line, entry, onPlaced, onExisting };
  }

  /** A result belongs to the call before it, so it has to follow a repeated call. */
  #result(step: EntryStep, times = 0): EntryStep {
    const { entry, line } = step;
    const onExisting: EntryStep["onExisting"] = async (stored, find) => {
      const next = await step.onExisting?.(stored, find);
      if (next !== undefined) return next;
      if (times >= this.#timesBackOf(entry)) return undefined;
      return this.#result({ line, entry: this.#again(entry) }, times + 1);
    };
    return { ...step, onExisting };
  }

  *#switched(session: TranscriptSession, natives: readonly string[], isLeft: boolean): Generator<ImportStep> {
    for (const id of natives.flatMap((native) => session.idsOf(native))) {
      yield {
        line: 0,
        deferred: (find, read) => this.#switchedEntries({ id, session_id: session.id, isLeft }, { find, read }),
      };
    }
  }

  async #switchedEntries(
    { id: first, session_id, isLeft }: { readonly id: string; readonly session_id: string; readonly isLeft: boolean },
    { find, read }: { readonly find: FindEntry; readonly read: ReadStored },
  ): Promise<readonly ImportedEntry[]> {
    const made: ImportedEntry[] = [];
    // The rest of a message was recorded under numbered ids.
    for (let part = 1, id = first; ; id = `${first}:${part}`, part += 1) {
      const newest = await this.#newestOf(id, find);
      const body = newest === undefined ? undefined : await read(newest.position);
      if (newest === undefined || body?.session_id !== session_id) return made;
      const { times, position, isWithdrawn } = newest;
      const kind = "role" in body ? "message" : "tool_call";
      const entry: ImportedEntry = { ...body, kind, id: newest.id };
      if (isLeft && kind === "message" && !isWithdrawn) made.push(this.#withdrawal(entry, position));
      if (isLeft) continue;
      if (kind === "message") this.#cameBack(entry, isWithdrawn ? times + 1 : times);
      const isDue = kind === "message" ? isWithdrawn : times < this.#timesBackOf(entry);
      if (isDue) made.push(this.#again(entry));
    }
  }

  /** The last repetition of what was recorded under an id. */
  async #newestOf(
    id: string,
    find: FindEntry,
    times = 0,
  ): Promise<
    | { readonly id: string; readonly position: number; readonly times: number; readonly isWithdrawn: boolean }
    | undefined
  > {
    const position = await find(id);
    if (position === undefined) return undefined;
    const again = await this.#newestOf(this.#againOf(id), find, times + 1);
    return again ?? { id, position, times, isWithdrawn: (await find(this.#withdrawalOf(id))) !== undefined };
  }

  #cameBack(entry: ImportedEntry, times: number): void {
    if (times === 0) return;
    for (const id of callIds(entry)) {
      const [oldest] = this.#timesBack.size < CALLS_MAX ? [] : this.#timesBack.keys();
      if (oldest !== undefined) this.#timesBack.delete(oldest);
      this.#timesBack.set(id, times);
    }
  }

  #timesBackOf({ tool_call_id }: ImportedEntry): number {
    return this.#timesBack.get(String(tool_call_id)) ?? 0;
  }

  #withdrawal({ id, session_id, project, client, created_at }: ImportedEntry, withdraws: number): ImportedEntry {
    const labels = { session_id, project, client, created_at };
    return { kind: "withdrawal", id: this.#withdrawalOf(id), ...labels, withdraws };
  }

  #withdrawalOf(id: string): string {
    return hashedId(this.#format, ["withdrawal", id]);
  }

  /** A withdrawal is final: if its branch becomes active again, the message is repeated, without its usage. */
  #again(entry: ImportedEntry): ImportedEntry {
    const { usage: _, ...extra } = isJsonObject(entry.extra) ? entry.extra : {};
    return { ...entry, id: this.#againOf(entry.id), extra: { ...extra, again: entry.id } };
  }

  #againOf(id: string): string {
    return hashedId(this.#format, ["again", id]);
  }
}

function callIds({ tool_calls }: ImportedEntry): readonly string[] {
  return Array.isArray(tool_calls) ? tool_calls.map((call: JsonObject) => String(call.id)) : [];
}

/** Only recent prompts can be withdrawn; of more turns than these, the oldest are dropped. */
const TURNS_MAX = 100;

interface ConversationTurn {
  readonly prompt: string;
  readonly parent: string;
  /** The native ids of its messages. */
  readonly said: string[];
  /** Whether it was withdrawn. It is remembered because a copy of the whole file contains it again. */
  is_left: boolean;
}

/** State for a reading that resumes later. */
export interface RewindsState {
  readonly turns: readonly ConversationTurn[];
  readonly is_copy: boolean;
}

/** Withdrawn prompts of one session: a prompt with the parent of an earlier one replaces everything that followed. */
export class Rewinds {
  readonly #turns: ConversationTurn[];
  /** Whether the current turn is a copy of an earlier one. */
  #isCopy: boolean;

  constructor(known?: RewindsState) {
    this.#turns = (known?.turns ?? []).map((turn) => ({ ...turn, said: [...turn.said] }));
    this.#isCopy = known?.is_copy ?? false;
  }

  state(): RewindsState {
    return { turns: this.#turns, is_copy: this.#isCopy };
  }

  /** Takes a prompt, and returns the native ids of what it replaces. */
  ask(prompt: string, parent = ""): readonly string[] {
    this.#isCopy = this.#turns.some((turn) => turn.prompt === prompt);
    if (this.#isCopy) return [];
    const from = this.#turns.findIndex((turn) => parent !== "" && turn.parent === parent && !turn.is_left);
    const left = from === -1 ? [] : this.#turns.slice(from).filter((turn) => !turn.is_left);
    for (const turn of left) turn.is_left = true;
    this.#turns.push({ prompt, parent, said: [prompt], is_left: false });
    if (this.#turns.length > TURNS_MAX) this.#turns.shift();
    return left.flatMap(({ said }) => said);
  }

  /** Takes a message after the last prompt, by its native id. */
  say(native: string): void {
    const said = this.#isCopy ? undefined : this.#turns.at(-1)?.said;
    if (said !== undefined && said.at(-1) !== native) said.push(native);
  }
}
