// The classes of what rules propose: the source that each belongs to, what it is in words, and how sure it is at first. Judged
// proposals of a class change its confidence in a store.

import type { MemorySource } from "../../model/memory.js";

interface RuleClassFacts {
  readonly source: MemorySource;
  /** What it finds, for people. */
  readonly finds: string;
  /** The share that was accepted before anybody judged it in this store. */
  readonly confidence: number;
  /** In how many sessions it must have been said; a rule on commands has its own condition. */
  readonly sessions: 1 | 2;
}

const commands = (finds: string, confidence: number): RuleClassFacts => ({
  source: "rule:commands",
  finds,
  confidence,
  sessions: 1,
});
const words = (finds: string, confidence: number, sessions: 1 | 2): RuleClassFacts => ({
  source: "rule:words",
  finds,
  confidence,
  sessions,
});

export const ruleClasses = {
  not_installed: commands("a program that is not installed, and its substitute", 0.8),
  other_form: commands("a command that fails, and the form that works", 0.6),
  fix: commands("a command that helps when another one fails", 0.6),
  quoting: commands("paths that must be quoted", 0.6),
  moved_files: commands("files that are one folder further down", 0.6),
  read_limit: commands("a file that cannot be read whole", 0.6),
  project_command: commands("the commands that test, check and build a project", 0.8),
  always: words("always or never, and a verb", 0.6, 1),
  use_not: words("use one thing, not another", 0.6, 1),
  prefer: words("a preference about work", 0.4, 1),
  remember: words("a request to remember, or from now on", 0.4, 1),
  must: words("a subject that must, must never or must only", 0.4, 2),
  do_not: words("a prohibition with a reason or an alternative", 0.4, 2),
  whenever: words("what to do whenever something happens", 0.4, 2),
  we_use: words("what is used or must be done", 0.4, 2),
  heading: words("a heading Decision, Constraint, Requirement or Fact in an answer", 0.4, 1),
  stated: words("a decision, a preference or a requirement that an assistant states", 0.4, 2),
} as const satisfies { readonly [name: string]: RuleClassFacts };

export type RuleClass = keyof typeof ruleClasses;

export function isRuleClass(name: string): name is RuleClass {
  return Object.hasOwn(ruleClasses, name);
}
