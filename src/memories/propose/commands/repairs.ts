// Commands that fail, and what made them work: another form, or another command before them. What happened once may be chance, so
// it is proposed once it happened in two sessions, or once the fixed form was used twice.

import { itemAt } from "../../../model/item-at.js";
import { LruCache } from "../../../model/lru-cache.js";
import type { Evidence } from "../../../model/memory.js";
import { commandName } from "../../../model/shell-command.js";
import { type Lesson, type LessonClass, withError } from "./lesson.js";
import type { CommandStep, ShellRun } from "./runs.js";

const TIMES_MIN = 2;
const WORDS_CHANGED_MAX = 4;
const KEPT_MAX = 10_000;
const EVIDENCE_MAX = 6;

/** They look, wait or print: how they fail teaches nothing. */
const LOOKING: ReadonlySet<string> = new Set(
  (
    "cd ls cat head tail grep egrep rg ag find fd wc sort uniq diff test which type echo printf pwd sleep exit true false kill " +
    "pkill ps lsof stat file du df rm mv cp mkdir touch chmod tree less more awk sed cut tr xargs jq date env export source . " +
    "history man open curl wget"
  ).split(" "),
);
/** What a person decides, or what depends on the moment. */
const MOMENTARY = /^git (?:commit|push|pull|merge|rebase|checkout|stash|add|rm|mv|cherry-pick|reset|restore|switch)$/;
/** One source file run or compiled: it says nothing about the next one. */
const RUNS_FILES =
  /^(?:gcc|g\+\+|cc|clang|clang\+\+|rustc|javac|node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|ruby|perl|php)$/;
const SOURCE_FILE = /\.(?:c|cc|cpp|h|rs|java|m?[jt]sx?|cjs|py|rb|pl|php)$/;
/** Programs that are another's other name: there, one file shows what holds for all. */
const SAME_PROGRAM = /^(?:python|pip|node|nodejs|make|gmake)[\d.]*$/;
const PREPARES = /\b(?:install|ci|generate|migrate|sync|init|setup|bootstrap|restore|codegen|prepare)\b/;

type Form = "program" | "env" | "folder" | "flag" | "script";

interface Repair {
  readonly failed: ShellRun;
  readonly worked: ShellRun;
}

interface OtherForm {
  readonly form: Form;
  readonly last: Repair;
  readonly sessions: Map<string, Repair>;
  /** The failed command worked unchanged at another time, so it was not the problem. */
  isOver: boolean;
}

interface Help extends Repair {
  readonly helper: ShellRun;
}

interface Helped {
  readonly last: Help;
  /** Whether the error names the helper, or it installs or generates something. */
  readonly isPlain: boolean;
  readonly times: Help[];
  readonly sessions: Set<string>;
}

export class RepairLessons implements LessonClass {
  readonly #forms = new LruCache<OtherForm>(KEPT_MAX);
  readonly #helped = new LruCache<Helped>(KEPT_MAX);
  /** By command: the lessons that it failed in. */
  readonly #formsByFailed = new LruCache<Set<string>>(KEPT_MAX);
  /** By command: how often it worked. */
  readonly #worked = new LruCache<number>(KEPT_MAX);

  add(step: CommandStep, recent: readonly CommandStep[]): void {
    if (step.is !== "run" || step.outcome !== "worked") return;
    const own = keyOf(step);
    this.#worked.set(own, (this.#worked.get(own) ?? 0) + 1);
    for (const key of this.#formsByFailed.get(own) ?? []) {
      const known = this.#forms.get(key);
      if (known !== undefined) known.isOver = true;
    }
    // Only the newest failure of a command counts.
    const seen = new Set<string>();
    for (const [at, before] of recent.entries()) {
      if (before.is !== "run" || before.project !== step.project) continue;
      const key = keyOf(before);
      if (seen.has(key)) continue;
      seen.add(key);
      if (before.outcome !== "failed" || !isTelling(before)) continue;
      if (key === own) this.#help({ failed: before, worked: step }, recent.slice(0, at));
      else this.#repair({ failed: before, worked: step });
    }
  }

  *lessons(): Generator<Lesson> {
    for (const [key, known] of this.#forms.entries()) if (!known.isOver) yield this.#lessonOf(key, known);
    for (const [key, known] of this.#helped.entries()) {
      const lesson = lessonOfHelp(key, known);
      if (lesson !== undefined) yield lesson;
    }
  }

  #repair(repair: Repair): void {
    const { failed, worked } = repair;
    const form = formOf(failed, worked);
    if (form === undefined) return;
    const key = `${keyOf(failed)}\n${form}\n${form === "program" ? itemAt(worked.words, 0) : keyOf(worked)}`;
    const known = this.#forms.get(key);
    const sessions = known?.sessions ?? new Map<string, Repair>();
    sessions.set(failed.session_id, repair);
    this.#forms.set(key, { form, last: repair, sessions, isOver: known?.isOver ?? false });
    const failedKey = keyOf(failed);
    const keys = this.#formsByFailed.get(failedKey) ?? new Set();
    this.#formsByFailed.set(failedKey, keys.add(key));
  }

  #lessonOf(key: string, { form, last, sessions }: OtherForm): Lesson {
    const { failed, worked } = last;
    const uses = this.#worked.get(keyOf(worked)) ?? 0;
    const isKnown = sessions.size >= TIMES_MIN || uses >= TIMES_MIN;
    return {
      class: "other_form",
      key,
      type: "adaptation",
      project: failed.project,
      content: statementOf(form, last),
      evidence: [...sessions.values()].flatMap(evidenceOf).slice(-EVIDENCE_MAX),
      weight: sessions.size,
      ...(isKnown ? {} : { waits: "It was seen in one session, and the form that worked was used once." }),
    };
  }

  /** The same command failed and works now: what ran between may have helped, unless a file was changed. */
  #help(repair: Repair, between: readonly CommandStep[]): void {
    const { failed } = repair;
    const isEdited = between.some(({ is }) => is === "edit");
    const seen = new Set<string>();
    for (const helper of between) {
      if (helper.is !== "run" || helper.outcome !== "worked" || !isTelling(helper, false)) continue;
      // Run twice before the same attempt, it helped once.
      if (seen.has(helper.core)) continue;
      seen.add(helper.core);
      const isNamed = failed.error.includes(helper.words.slice(0, 3).join(" ")) && helper.words.length > 1;
      if (!isNamed && (failed.is_finding || isEdited)) continue;
      const key = `${failed.project}\n${failed.core}\n${helper.core}`;
      const known = this.#helped.get(key);
      const isPlain = isNamed || PREPARES.test(helper.core) || known?.isPlain === true;
      const help = { ...repair, helper };
      const sessions = (known?.sessions ?? new Set<string>()).add(failed.session_id);
      const times = [...(known?.times ?? []), help].slice(-TIMES_MIN);
      this.#helped.set(key, { last: help, isPlain, times, sessions });
    }
  }
}

function lessonOfHelp(key: string, { last, isPlain, times, sessions }: Helped): Lesson | undefined {
  const { failed, helper } = last;
  const isKnown = sessions.size >= TIMES_MIN || (isPlain && times.length >= TIMES_MIN);
  return {
    class: "fix",
    key,
    type: "adaptation",
    project: failed.project,
    content: withError(`When \`${failed.core}\` fails`, failed.error, `, \`${shown(helper)}\` helps`),
    evidence: times.flatMap((one) => [quoted(one.failed), quoted(one.helper), quoted(one.worked)]),
    weight: sessions.size,
    ...(isKnown ? {} : { waits: isPlain ? "It helped once." : "It ran between in one session only." }),
  };
}

function statementOf(form: Form, { failed, worked }: Repair): string {
  const { error } = failed;
  if (form === "folder") {
    const where = worked.folder === "" ? "the root of the project" : `\`${worked.folder}\``;
    return withError(`Run \`${worked.core}\` in ${where}: elsewhere it fails`, error, "");
  }
  if (form === "program") {
    const [one, other] = [itemAt(worked.words, 0), itemAt(failed.words, 0)];
    return withError(`Use \`${one}\`, not \`${other}\`: \`${shown(failed)}\` fails`, error, "");
  }
  return withError(`\`${shown(failed)}\` fails`, error, `; \`${shown(worked)}\` works`);
}

/** A command with what was set for it. */
function shown({ env, core }: ShellRun): string {
  return [...env, core].join(" ");
}

function evidenceOf({ failed, worked }: Repair): readonly Evidence[] {
  return [quoted(failed), quoted(worked)];
}

function quoted({ entry_id, quote }: ShellRun): Evidence {
  return { entry_id, quote };
}

function keyOf({ project, folder, env, core }: ShellRun): string {
  return [project, folder, env.join(" "), core].join("\n");
}

/** Whether a failure says something about the command: it has an error's line, and no other command can have failed. */
function isTelling(run: ShellRun, needsError = true): boolean {
  const name = commandName(run);
  if (LOOKING.has(name) || MOMENTARY.test(name)) return false;
  return !needsError || (run.error !== "" && run.missing === "" && !run.is_last_of_several);
}

/** In what the command that worked differs; undefined where it is another command. */
function formOf(failed: ShellRun, worked: ShellRun): Form | undefined {
  if (LOOKING.has(commandName(worked))) return undefined;
  if (failed.core === worked.core) {
    const isSameEnv = failed.env.join(" ") === worked.env.join(" ");
    if (!isSameEnv) {
      return failed.folder === worked.folder && worked.env.some((one) => !failed.env.includes(one)) ? "env" : undefined;
    }
    return failed.is_finding ? undefined : "folder";
  }
  if (failed.folder !== worked.folder || failed.env.join(" ") !== worked.env.join(" ")) return undefined;
  const [program = "", ...args] = failed.words;
  const [other = "", ...others] = worked.words;
  if (program !== other) {
    if (args.length === 0 || args.join(" ") !== others.join(" ")) return undefined;
    return runsOneFile(failed) && !(SAME_PROGRAM.test(program) && SAME_PROGRAM.test(other)) ? undefined : "program";
  }
  if (runsOneFile(failed)) return undefined;
  if (/missing script/i.test(failed.error)) return "script";
  return !failed.is_finding && differsInFlags(args, others) ? "flag" : undefined;
}

function runsOneFile({ words: [program = "", ...args] }: ShellRun): boolean {
  return RUNS_FILES.test(program.split("/").at(-1) ?? "") && args.some((word) => SOURCE_FILE.test(word));
}

/** The same words in the same order, and one to four flags put in, left out or replaced. */
function differsInFlags(left: readonly string[], right: readonly string[]): boolean {
  const isFlag = (word: string): boolean => word.startsWith("-");
  const others = (words: readonly string[]): string => words.filter((word) => !isFlag(word)).join(" ");
  if (others(left) !== others(right)) return false;
  const changed = [...left.filter((word) => !right.includes(word)), ...right.filter((word) => !left.includes(word))];
  return changed.length >= 1 && changed.length <= WORDS_CHANGED_MAX && changed.every(isFlag);
}
