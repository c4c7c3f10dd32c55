// What a model reads of a session: what its user typed, with the words before it, commands that failed with those that then worked, and
// what the rules found and could not decide. A tenth of the text, and what can be learned from.

import type { Entry } from "../../../model/entry.js";
import { noMask } from "../../../model/mask.js";
import { isFromUser, isInjected, textsOfUser } from "../../../model/roles.js";
import type { QuotedEntry, Speaker } from "../../text/quoted-entry.js";
import { spokenIn } from "../../text/quoted-entry.js";
import { type ShellRun, stepsIn } from "../commands/runs.js";
import { ruleClasses } from "../rule-classes.js";
import { readByRules } from "../rules/rules.js";

/** Change it when digests are made differently: that makes another generation. */
export const DIGEST = "2";

const USER_CHARS_MAX = 1_200;
const BEFORE_CHARS = 200;
/** A fix is looked for in so many calls. */
const WITHIN_CALLS = 12;
const FAILURES_MAX = 50;

interface Failure {
  readonly run: ShellRun;
  readonly call: number;
}

/** @param entries Of one session in the order of the log, masked. */
export function digestOf(entries: readonly Entry[]): readonly QuotedEntry[] {
  const lines: QuotedEntry[] = [];
  let before: Entry | undefined;
  let failures: Failure[] = [];
  let calls = 0;
  for (const entry of entries) {
    if (isFromUser(entry) && !isInjected(entry)) {
      lines.push(...wordsBefore(before), ...typedWords(entry));
      before = undefined;
    }
    if (saysAnswer(entry)) before = entry;
    if (entry.kind === "decision") lines.push(...quotedOf(entry, spokenIn(entry)));
    if (entry.kind !== "tool_call") continue;
    calls += 1;
    for (const step of stepsIn(entry, noMask)) {
      if (step.is !== "run") continue;
      failures = failures.filter(({ call }) => calls - call <= WITHIN_CALLS);
      if (step.outcome === "failed" && step.error !== "") failures.push({ run: step, call: calls });
      if (step.outcome !== "worked") continue;
      const repaired = failures.filter(({ run }) => run.words[0] === step.words[0] || run.missing !== "");
      for (const { run } of repaired) lines.push(...ranLines(run, entry), ...ranLines(step, entry));
      failures = failures.filter((one) => !repaired.includes(one)).slice(-FAILURES_MAX);
    }
  }
  return lines;
}

function saysAnswer(entry: Entry): boolean {
  return spokenIn(entry).some(({ by, text }) => by === "assistant" && text.trim() !== "") && entry.kind !== "tool_call";
}

/** The end of what an assistant said: a user may answer it. */
function wordsBefore(entry: Entry | undefined): readonly QuotedEntry[] {
  if (entry === undefined) return [];
  const last = spokenIn(entry).findLast(({ by, text }) => by === "assistant" && text.trim() !== "");
  return last === undefined ? [] : quotedOf(entry, [{ by: "assistant", text: last.text.slice(-BEFORE_CHARS) }]);
}

function typedWords(entry: Entry): readonly QuotedEntry[] {
  const said = textsOfUser(entry).map((text) => ({ by: "user" as const, text: text.slice(0, USER_CHARS_MAX) }));
  const hints = readByRules(entry)
    .findings.filter(({ by }) => by === "user")
    .map(({ class: name, content }) => ({
      by: "system" as const,
      text: `a rule found ${ruleClasses[name].finds}: “${content}”`,
    }));
  return quotedOf(entry, [...said, ...hints]);
}

function ranLines(
  { entry_id, quote, error, outcome }: ShellRun,
  { session_id, project }: Entry,
): readonly QuotedEntry[] {
  const said = [
    { by: "assistant" as const, text: quote },
    { by: "tool" as const, text: outcome === "failed" ? error : "it worked" },
  ];
  return [{ entry_id, session_id, project, said: outcome === "failed" ? said : said.slice(0, 1) }];
}

function quotedOf(
  { id: entry_id, session_id, project }: Entry,
  said: readonly { readonly by: Speaker; readonly text: string }[],
): readonly QuotedEntry[] {
  const some = said.filter(({ text }) => text.trim() !== "");
  return some.length === 0 ? [] : [{ entry_id, session_id, project, said: some }];
}
