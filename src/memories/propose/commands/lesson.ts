// What a rule on commands learns, and how its statement is made.
import type { Evidence, MemoryType } from "../../../model/memory.js";
import type { RuleClass } from "../rule-classes.js";
import type { CommandStep } from "./runs.js";

/** Something learned from commands, ready to be proposed or not yet. */
export interface Lesson {
  readonly class: RuleClass;
  /** The same lesson has the same key. */
  readonly key: string;
  readonly type: MemoryType;
  readonly project: string;
  readonly content: string;
  readonly evidence: readonly Evidence[];
  /** Grows when there is more evidence. */
  readonly weight: number;
  /** Why it is not proposed yet; undefined where it is. */
  readonly waits?: string;
}

/** What each class is: it sees every call with the calls before it in the session, the newest first. */
export interface LessonClass {
  add(step: CommandStep, recent: readonly CommandStep[]): void;
  lessons(): Iterable<Lesson>;
}

const STATEMENT_CHARS = 270;

/** A statement with an error's line in it, which is shortened where the whole is too long. */
export function withError(before: string, error: string, after: string): string {
  // Marks of code in the error would end those around the commands.
  const said = error.replaceAll("`", "'").replace(/[\s.:,;]+$/, "");
  const room = STATEMENT_CHARS - before.length - after.length;
  if (room < 20) return `${before}${after}`;
  return `${before} (${said.length <= room ? said : `${said.slice(0, room - 1).replace(/\s+\S*$/, "")}…`})${after}`;
}
