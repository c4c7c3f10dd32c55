// Sentences by which an assistant says what holds from now on: a preference, a decision, a requirement.
import type { MemoryType } from "../../../model/memory.js";
import { isQuestion } from "../../judge/hedges.js";
import { sentencesOf } from "../../text/sentences.js";
import type { Finding } from "./finding.js";
import { plain } from "./plain.js";

/** A choice between what lies on the table holds for this table. */
const PREFERENCE =
  /(?<![\p{L}\p{N}_])(?:the user prefers|I prefer(?! (?:this|that|it|these|those|your|(?:the )?(?:first|second|third|last|latter|former|other|next|option|version|one|two))(?![\p{L}\p{N}_])))(?![\p{L}\p{N}_])/iu;

/** Decisions of programs, and of people in a story, bind nobody here. */
const OTHERS =
  /\b(?:he|she|they|who|which|it|someone|somebody|compiler|linker|scheduler|optimi[sz]er|planner|kernel|runtime|server|daemon|parser|linter|formatter|bundler|browser|database|engine|collector|cluster|system|model|llm|algorithm|router|proxy|balancer|orchestrator|autoscaler|shell|script|program|process|job|framework|library|tool|driver|client library)(?:'d|'s| has| have| had| then| apparently| just| simply| again)*\s*$/i;

const phrases: readonly { readonly type: MemoryType; readonly pattern: RegExp; readonly notBy?: RegExp }[] = [
  { type: "preference", pattern: PREFERENCE },
  { type: "adaptation", pattern: /(?<![\p{L}\p{N}_])decided to(?![\p{L}\p{N}_])/iu, notBy: OTHERS },
  {
    type: "project",
    pattern:
      /(?<![\p{L}\p{N}_])the requirement is(?![\p{L}\p{N}_])(?! (?:(?:not|now|still|already|also|fully) )*(?:met|satisfied|fulfilled|covered|clear|unclear|vague|wrong|outdated|obsolete|gone|done|missing|unchanged|documented|known|unknown)(?![\p{L}\p{N}_]))/iu,
  },
];

/** Most texts have none of the phrases, and need not be cut into sentences. */
const HAS_PHRASE = /prefer|decided to|requirement is/i;

/** What before a phrase makes something else of it: a condition, a denial, something that never was. */
const CONDITION =
  /(?:^|[\s,;(])(?:if|whether|unless|in case|suppose|supposing|imagine|until|as though|as if)\b[^,;.]*$/i;
const DENIAL =
  /(?:\bnot|n't|\bnever)\b[^,;.]{0,40}\bthat\b[^,;.]{0,40}$|(?:\bnot|n't|\bnever|\byet|\bnobody|\bno one|\bnone of us)(?:\s+\p{L}+){0,2}\s*$/iu;
const UNREAL = /^\W*had\s+\p{L}+\s*$|\b(?:could|would|should|might|may|must|can|will|to|had)(?:'ve| have| be)?\s*$/iu;

/** @param prose A text of an assistant without its code. */
export function findInAssistants(prose: string): readonly Finding[] {
  if (!HAS_PHRASE.test(prose)) return [];
  const findings: Finding[] = [];
  for (const sentence of sentencesOf(prose)) {
    if (!HAS_PHRASE.test(sentence.text) || isQuestion(sentence.text)) continue;
    const found = phrases.find(({ pattern, notBy }) => isSaid(sentence.text, pattern, notBy));
    if (found === undefined) continue;
    findings.push({ type: found.type, content: plain(sentence.text), start: sentence.start, end: sentence.end });
  }
  return findings;
}

function isSaid(sentence: string, pattern: RegExp, notBy: RegExp | undefined): boolean {
  const match = pattern.exec(sentence);
  if (match === null) return false;
  const before = sentence.slice(0, match.index);
  if (CONDITION.test(before) || DENIAL.test(before) || UNREAL.test(before)) return false;
  if (notBy?.test(before) === true) return false;
  return !isQuoted(before, sentence.slice(match.index));
}

/** Whether a place lies between quotation marks or in a code span: then somebody else says it. */
function isQuoted(before: string, after: string): boolean {
  const odd = (mark: string) => before.split(mark).length % 2 === 0;
  if ((odd('"') && after.includes('"')) || (odd("`") && after.includes("`"))) return true;
  if (/(?:^|[\s=(:,])'[^']*$/.test(before) && /'(?!\p{L})/u.test(after)) return true;
  return [
    ["“", "”"],
    ["«", "»"],
    ["„", "“"],
    ["「", "」"],
    ["‘", "’"],
  ].some(([open = "", close = ""]) => before.lastIndexOf(open) > before.lastIndexOf(close) && after.includes(close));
}
