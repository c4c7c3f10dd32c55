// Sentences by which an assistant says what holds from now on: a preference, a decision, a requirement.
import type { MemoryType } from "../../model/memory.js";
import { isQuestion } from "../hedges.js";
import { sentencesOf } from "../sentences.js";
import type { Finding } from "./finding.js";
import { plain } from "./plain.js";

const phrases: readonly { readonly type: MemoryType; readonly pattern: RegExp }[] = [
  { type: "preference", pattern: /(?<![\p{L}\p{N}_])(?:I prefer|the user prefers)(?![\p{L}\p{N}_])/iu },
  { type: "adaptation", pattern: /(?<![\p{L}\p{N}_])decided to(?![\p{L}\p{N}_])/iu },
  { type: "project", pattern: /(?<![\p{L}\p{N}_])the requirement is(?![\p{L}\p{N}_])/iu },
];

/** Most texts have none of the phrases, and need not be cut into sentences. */
const HAS_PHRASE = /prefer|decided to|requirement is/i;

/** What before a phrase makes something else of it: a condition, a denial, something that never was. */
const CONDITION =
  /(?:^|[\s,;(])(?:if|whether|unless|in case|suppose|supposing|imagine|until|as though|as if)\b[^,;.]*$/i;
const DENIAL =
  /(?:\bnot|n't|\bnever|\byet|\bnobody|\bno one)(?:\s+(?:yet|ever|really|actually|formally|even|necessarily|say|said|mean))*\s*$/i;
const UNREAL = /\b(?:could|would|should|might|may|must|can|will|to|had)(?:'ve| have| be)?\s*$/i;

/** @param prose A text of an assistant without its code. */
export function findInAssistants(prose: string): readonly Finding[] {
  if (!HAS_PHRASE.test(prose)) return [];
  const findings: Finding[] = [];
  for (const sentence of sentencesOf(prose)) {
    if (!HAS_PHRASE.test(sentence.text) || isQuestion(sentence.text)) continue;
    const found = phrases.find(({ pattern }) => isSaid(sentence.text, pattern));
    if (found === undefined) continue;
    findings.push({ type: found.type, content: plain(sentence.text), start: sentence.start, end: sentence.end });
  }
  return findings;
}

function isSaid(sentence: string, pattern: RegExp): boolean {
  const match = pattern.exec(sentence);
  if (match === null) return false;
  const before = sentence.slice(0, match.index);
  if (CONDITION.test(before) || DENIAL.test(before) || UNREAL.test(before)) return false;
  return !isQuoted(before, sentence.slice(match.index));
}

/** Whether a place lies between quotation marks or in a code span: then somebody else says it. */
function isQuoted(before: string, after: string): boolean {
  const odd = (mark: string) => before.split(mark).length % 2 === 0;
  if ((odd('"') && after.includes('"')) || (odd("`") && after.includes("`"))) return true;
  return [
    ["“", "”"],
    ["«", "»"],
    ["„", "“"],
    ["「", "」"],
    ["‘", "’"],
  ].some(([open = "", close = ""]) => before.lastIndexOf(open) > before.lastIndexOf(close) && after.includes(close));
}
