// Commands that fail and then work when a few words are changed: what failed in two sessions and worked the same way
// each time is worth knowing. A fold over tool calls, in the order of the log.
import type { EntryOf } from "../../model/entry.js";
import type { Proposal } from "../../model/memory.js";

const SESSIONS_MIN = 2;
const WORDS_CHANGED_MAX = 4;
/** Longer ones are scripts, in which four words are nothing. */
const COMMAND_CHARS_MAX = 500;
/** Failures of a session that still wait for a command that works; the oldest are given up. */
const WAITING_MAX = 100;

interface Call {
  readonly entry_id: string;
  readonly command: string;
}

interface Repair {
  readonly failed: Call;
  readonly worked: Call;
}

interface Lesson {
  readonly project: string;
  /** By session: the repair, or nothing while the failure has had none. */
  readonly repairs: Map<string, Repair | undefined>;
  /** It also worked as it was: the command was not what was wrong. */
  isFlaky: boolean;
}

export class FailedCommands {
  readonly #lessons = new Map<string, Lesson>();
  readonly #waitingBySession = new Map<string, Map<string, Call>>();

  add(entry: EntryOf<"tool_call">): void {
    const command = commandOf(entry);
    if (command === undefined) return;
    const call = { entry_id: entry.id, command };
    // Many tools say only when they failed.
    if (entry.is_error === true) this.#fail(entry, call);
    else this.#work(entry, call);
  }

  /** In the order in which the commands failed first. */
  proposals(): readonly Proposal[] {
    return [...this.#lessons.values()].flatMap((lesson) => proposalOf(lesson) ?? []);
  }

  #fail({ session_id, project }: EntryOf<"tool_call">, call: Call): void {
    const key = keyOf(project, call.command);
    const lesson = this.#lessons.get(key) ?? { project, repairs: new Map(), isFlaky: false };
    this.#lessons.set(key, lesson);
    if (!lesson.repairs.has(session_id)) lesson.repairs.set(session_id, undefined);
    const waiting = this.#waitingBySession.get(session_id) ?? new Map<string, Call>();
    this.#waitingBySession.set(session_id, waiting);
    if (lesson.repairs.get(session_id) === undefined) waiting.set(key, call);
    const [oldest] = waiting.keys();
    if (waiting.size > WAITING_MAX && oldest !== undefined) waiting.delete(oldest);
  }

  #work({ session_id, project }: EntryOf<"tool_call">, call: Call): void {
    const waiting = this.#waitingBySession.get(session_id);
    if (waiting === undefined) return;
    for (const [key, failed] of waiting) {
      const lesson = this.#lessons.get(key);
      if (lesson === undefined || lesson.project !== project) continue;
      if (failed.command === call.command) lesson.isFlaky = true;
      else if (!isNearlyTheSame(failed.command, call.command)) continue;
      else lesson.repairs.set(session_id, { failed, worked: call });
      waiting.delete(key);
    }
  }
}

function proposalOf({ project, repairs, isFlaky }: Lesson): Proposal | undefined {
  if (isFlaky || repairs.size < SESSIONS_MIN) return undefined;
  const found = [...repairs.values()];
  const last = found.at(-1);
  if (last === undefined || found.includes(undefined)) return undefined;
  return {
    type: "adaptation",
    content: `\`${last.failed.command}\` fails; \`${last.worked.command}\` works`,
    source: "rule",
    evidence: (found as readonly Repair[]).flatMap(({ failed, worked }) => [
      { entry_id: failed.entry_id, quote: failed.command },
      { entry_id: worked.entry_id, quote: worked.command },
    ]),
    project,
    tags: [],
    generation: "",
  };
}

/** What a tool was asked to run, of the tools that run commands. */
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
      const replaced = (row[to] as number) + Number(word !== other);
      next.push(Math.min(replaced, (row[to + 1] as number) + 1, (next[to] as number) + 1));
    }
    row = next;
  }
  return row[right.length] as number;
}
