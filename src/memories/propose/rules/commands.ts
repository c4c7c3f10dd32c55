// Commands that fail, and work with a few words changed: proposed once that happened in two sessions. A fold over tool calls in the
// order of the log.

import type { EntryOf } from "../../../model/entry.js";
import { itemAt } from "../../../model/item-at.js";
import { LruCache } from "../../../model/lru-cache.js";
import type { Proposal } from "../../../model/memory.js";

const SESSIONS_MIN = 2;
const WORDS_CHANGED_MAX = 4;
/** Longer ones are scripts. */
const COMMAND_CHARS_MAX = 500;
/** Failures of a session that wait for a command that works; the oldest are dropped. */
const WAITING_MAX = 100;
/** Limits of sessions with waiting failures, and of failed commands; the least recently used are dropped. */
const SESSIONS_KEPT = 1_000;
const LESSONS_KEPT = 10_000;
/** More sessions than this add nothing. */
const SESSIONS_MAX = 50;

interface CommandRun {
  readonly entry_id: string;
  readonly command: string;
}

interface Repair {
  readonly failed: CommandRun;
  readonly worked: CommandRun;
}

interface Lesson {
  readonly project: string;
  /** By session: the repair, or nothing while the failure has had none. */
  readonly repairs: Map<string, Repair | undefined>;
  /** The same command also worked unchanged, so it was not the problem. */
  isOver: boolean;
  /** How many sessions had repaired it when it was proposed last. */
  proposedOf: number;
}

interface CommandProposal {
  readonly proposal: Proposal;
  /** Call it once the proposal was made. */
  readonly done: () => void;
}

export class FailedCommands {
  readonly #lessons = new LruCache<Lesson>(LESSONS_KEPT);
  readonly #waitingBySession = new LruCache<Map<string, CommandRun>>(SESSIONS_KEPT);

  add(entry: EntryOf<"tool_call">): void {
    const command = commandOf(entry);
    if (command === undefined) return;
    const call = { entry_id: entry.id, command };
    // Many tools report failures only.
    if (entry.is_error === true) this.#fail(entry, call);
    else this.#work(entry, call);
  }

  /** What is new since the last proposal, in the order in which the commands failed last. */
  newProposals(): readonly CommandProposal[] {
    return [...this.#lessons.values()].flatMap((lesson) => {
      const { size } = lesson.repairs;
      const proposal = lesson.proposedOf === size ? undefined : proposalOf(lesson);
      const done = (): void => {
        lesson.proposedOf = size;
      };
      return proposal === undefined ? [] : [{ proposal, done }];
    });
  }

  #fail({ session_id, project }: EntryOf<"tool_call">, call: CommandRun): void {
    const key = keyOf(project, call.command);
    const lesson = this.#lessons.get(key) ?? { project, repairs: new Map(), isOver: false, proposedOf: 0 };
    this.#lessons.set(key, lesson);
    if (lesson.isOver || (lesson.repairs.size === SESSIONS_MAX && !lesson.repairs.has(session_id))) return;
    if (!lesson.repairs.has(session_id)) lesson.repairs.set(session_id, undefined);
    const waiting = this.#waitingBySession.get(session_id) ?? new Map<string, CommandRun>();
    this.#waitingBySession.set(session_id, waiting);
    if (lesson.repairs.get(session_id) === undefined) waiting.set(key, call);
    const [oldest] = waiting.keys();
    if (waiting.size > WAITING_MAX && oldest !== undefined) waiting.delete(oldest);
  }

  #work({ session_id, project }: EntryOf<"tool_call">, call: CommandRun): void {
    const waiting = this.#waitingBySession.get(session_id);
    if (waiting === undefined) return;
    for (const [key, failed] of waiting) {
      const lesson = this.#lessons.get(key);
      if (lesson === undefined || lesson.project !== project) continue;
      if (failed.command === call.command) end(lesson);
      else if (!isNearlyTheSame(failed.command, call.command)) continue;
      else lesson.repairs.set(session_id, { failed, worked: call });
      waiting.delete(key);
    }
  }
}

function end(lesson: Lesson): void {
  lesson.isOver = true;
  lesson.repairs.clear();
}

function proposalOf({ project, repairs, isOver }: Lesson): Proposal | undefined {
  if (isOver || repairs.size < SESSIONS_MIN) return undefined;
  const found = [...repairs.values()];
  const last = found.at(-1);
  if (last === undefined || found.includes(undefined)) return undefined;
  return {
    type: "adaptation",
    content: `\`${last.failed.command}\` fails; \`${last.worked.command}\` works`,
    source: "rule:commands",
    evidence: (found as readonly Repair[]).flatMap(({ failed, worked }) => [
      { entry_id: failed.entry_id, quote: failed.command },
      { entry_id: worked.entry_id, quote: worked.command },
    ]),
    project,
    tags: [],
    generation: "",
  };
}

/** The command that a tool was asked to run. */
function commandOf({ args }: EntryOf<"tool_call">): string | undefined {
  const given = args.command ?? args.cmd;
  // ["bash", "-lc", "npm test"]: the last is what the shell runs.
  const command = Array.isArray(given) ? given.at(-1) : given;
  if (typeof command !== "string" || command.trim() === "" || command.length > COMMAND_CHARS_MAX) return undefined;
  return command;
}

function keyOf(project: string, command: string): string {
  return `${project}\n${wordsOf(command).join(" ")}`;
}

function wordsOf(command: string): readonly string[] {
  return command.trim().split(/\s+/);
}

/** At most four words put in, left out or replaced, and something left that is the same. */
function isNearlyTheSame(one: string, other: string): boolean {
  const [left, right] = [wordsOf(one), wordsOf(other)];
  if (Math.abs(left.length - right.length) > WORDS_CHANGED_MAX) return false;
  const changed = wordsChanged(left, right);
  return changed >= 1 && changed <= WORDS_CHANGED_MAX && changed < Math.max(left.length, right.length);
}

function wordsChanged(left: readonly string[], right: readonly string[]): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (const [at, word] of left.entries()) {
    const next = [at + 1];
    for (const [to, other] of right.entries()) {
      const replaced = itemAt(row, to) + Number(word !== other);
      next.push(Math.min(replaced, itemAt(row, to + 1) + 1, itemAt(next, to) + 1));
    }
    row = next;
  }
  return itemAt(row, right.length);
}
