// How the commands that a memory file names fared in the record: how often they worked and failed, and when they ran last.

import type { EntryIndex } from "../../index/port.js";
import { noMask } from "../../model/mask.js";
import { TimeSlice } from "../../model/scheduling.js";
import { commandName, type ParsedCommand, parseCommand } from "../../model/shell-command.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";
import { projectCommandClass } from "../propose/commands/project-commands.js";
import { stepsIn } from "../propose/commands/runs.js";

/** The newest calls of a project are looked through, up to this many. */
const CALLS_MAX = 5_000;
const PAGE = 100;
/** So often another command must have run for it to be the one that is used. */
const USED_MIN = 3;

interface Ran {
  readonly core: string;
  /** Its class among a project's commands, such as `Test`; empty for others. */
  readonly kind: string;
  worked: number;
  failed: number;
  last_at: string;
  entry_id: string;
  quote: string;
}

/** How a command of a statement fared. */
export interface CommandRuns {
  readonly command: string;
  readonly worked: number;
  readonly failed: number;
  readonly last_at: string;
  readonly evidence: { readonly entry_id: string; readonly quote: string };
}

/** Another command that does the same and ran, while the statement's never did. */
export interface OtherCommand extends CommandRuns {
  readonly instead_of: string;
}

const CODE_SPAN = /`([^`\n]{2,200})`/g;
/** Without marks only a command that a statement begins with, or that follows "run", is known to be one. */
const BARE =
  /^(?:(?:always |please )?(?:run|use|execute) )?((?:npm|pnpm|yarn|bun|make|cargo|go|pytest|uv|poetry|just|mvn|gradle|dotnet|npx|tox) [\w:./@=-]+(?: [\w:./@=-]+){0,4})/i;

export class CommandRecord {
  readonly #byCore = new Map<string, Ran>();

  /** Of the newest calls of a project, or of all where it is empty. */
  static async read(
    project: string,
    { index, entries }: { readonly index: EntryIndex; readonly entries: EntryReader },
  ): Promise<CommandRecord> {
    const record = new CommandRecord();
    const filter = { kinds: ["tool_call"], ...(project === "" ? {} : { project }) };
    const keys = await index.list({ filter, limit: CALLS_MAX });
    const positions = keys.map(({ position }) => position).toSorted((left, right) => left - right);
    const turn = new TimeSlice();
    for (let at = 0; at < positions.length; at += PAGE) {
      for (const entry of await entries.read(positions.slice(at, at + PAGE))) {
        if (entry.kind !== "tool_call") continue;
        for (const step of stepsIn(entry, noMask)) {
          if (step.is === "run" && step.outcome !== "unknown") {
            record.#add(step, step.outcome === "worked", entry.created_at);
          }
        }
      }
      if (turn.isOver) await turn.next();
    }
    return record;
  }

  /** What became of the first command of a statement that ran; or of another one that ran in its place. */
  find(statement: string): CommandRuns | OtherCommand | undefined {
    const commands = commandsIn(statement);
    for (const command of commands) {
      const ran = this.#runsOf(command);
      if (ran !== undefined) return ran;
    }
    for (const command of commands) {
      const other = this.#insteadOf(command);
      if (other !== undefined) return { ...other, instead_of: command.core };
    }
    return undefined;
  }

  #add(
    run: {
      readonly core: string;
      readonly words: readonly string[];
      readonly entry_id: string;
      readonly quote: string;
    },
    isOk: boolean,
    at: string,
  ): void {
    const known = this.#byCore.get(run.core);
    const ran = known ?? {
      core: run.core,
      kind: projectCommandClass(run) ?? "",
      worked: 0,
      failed: 0,
      last_at: "",
      entry_id: "",
      quote: "",
    };
    this.#byCore.set(run.core, ran);
    if (isOk) ran.worked += 1;
    else ran.failed += 1;
    if (at < ran.last_at) return;
    ran.last_at = at;
    ran.entry_id = run.entry_id;
    ran.quote = run.quote;
  }

  /** The command itself, also with further arguments. */
  #runsOf({ core }: ParsedCommand): CommandRuns | undefined {
    const alike = [...this.#byCore.values()].filter((ran) => `${ran.core} `.startsWith(`${core} `));
    const [newest] = alike.toSorted((left, right) => (left.last_at < right.last_at ? 1 : -1));
    if (newest === undefined) return undefined;
    const sum = (of: (ran: Ran) => number): number => alike.reduce((total, ran) => total + of(ran), 0);
    return { ...runsOf(newest), command: core, worked: sum((ran) => ran.worked), failed: sum((ran) => ran.failed) };
  }

  #insteadOf(command: ParsedCommand): CommandRuns | undefined {
    const kind = projectCommandClass(command);
    if (kind === undefined) return undefined;
    const [other] = [...this.#byCore.values()]
      .filter((ran) => ran.kind === kind && ran.worked + ran.failed >= USED_MIN)
      .toSorted((left, right) => right.worked - left.worked);
    return other === undefined ? undefined : runsOf(other);
  }
}

function runsOf({ core, worked, failed, last_at, entry_id, quote }: Ran): CommandRuns {
  return { command: core, worked, failed, last_at, evidence: { entry_id, quote } };
}

/** The commands that a statement names: code that a shell could run, with arguments or of a known program. */
function commandsIn(statement: string): readonly ParsedCommand[] {
  const bare = BARE.exec(statement)?.[1];
  const named = [
    ...[...statement.matchAll(CODE_SPAN)].map(([, code = ""]) => code),
    ...(bare === undefined ? [] : [bare]),
  ];
  return named.flatMap((code) => {
    const parsed = parseCommand(code);
    if (parsed === undefined) return [];
    const isCommand = parsed.words.length > 1 || projectCommandClass(parsed) !== undefined;
    return isCommand && /^[a-z.][\w./-]*/i.test(commandName(parsed)) ? [parsed] : [];
  });
}
