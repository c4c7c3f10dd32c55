// What rules propose from an entry, without a model: recorded decisions, headings such as `## Decision: use SQLite`, sentences in
// which an assistant states a preference, a decision or a requirement, and what users ask for. The same entry always gives the
// same proposals.

import { contentTexts } from "../../../model/content.js";
import type { Entry, EntryOf } from "../../../model/entry.js";
import type { Evidence, MemoryType, Proposal } from "../../../model/memory.js";
import { codePoints } from "../../../model/normalise.js";
import { proseOf } from "../../../model/prose.js";
import { isInjected, readRole } from "../../../model/roles.js";
import { isQuestion } from "../../judge/hedges.js";
import { STATEMENT_CHARS_MAX } from "../../judge/statement.js";
import type { PassedOverWords } from "../../review/memory-answers.js";
import { sentencesOf } from "../../text/sentences.js";
import { type FoundSentences, findInMessage } from "../words/sentences.js";
import { type Finding, plain, quoteOf } from "./prose.js";

/** Only the beginning of a longer text is read. */
const TEXT_CHARS_MAX = 1_000_000;
/** How much of passed over words is shown. */
const SHOWN_CHARS_MAX = 280;
/** What a rule on words found, and in which words. */
export interface WordsFinding extends Pick<Finding, "class" | "type" | "content"> {
  readonly by: "user" | "assistant";
  readonly evidence: Evidence;
}

interface RulesReading {
  /** What a decision with a rationale proposes. */
  readonly decision?: Proposal;
  readonly findings: readonly WordsFinding[];
  /** What looked like an instruction or a decision, but was not used. */
  readonly passed_over: readonly PassedOverWords[];
}

export function readByRules(entry: Entry): RulesReading {
  const ofDecision = entry.kind === "decision" ? proposalOfDecision(entry) : undefined;
  if (ofDecision !== undefined) return { decision: ofDecision, findings: [], passed_over: [] };
  const findings = new Map<string, WordsFinding>();
  const passed_over: PassedOverWords[] = [];
  for (const { by, text } of readTexts(entry)) {
    const read = text.slice(0, TEXT_CHARS_MAX);
    const found = by === "user" ? findInMessage(read) : inAssistants(proseOf(read));
    for (const finding of found.findings) {
      const { class: name, type, content } = finding;
      if (findings.has(content)) continue;
      const evidence = { entry_id: entry.id, quote: quoteOf(read, finding) };
      findings.set(content, { class: name, type, content, by, evidence });
    }
    for (const { start, end, reason, class: name } of found.passed_over) {
      const content = read.slice(start, Math.min(end, start + SHOWN_CHARS_MAX));
      passed_over.push({ entry_id: entry.id, content, reason, class: name });
    }
  }
  if (entry.kind === "decision" && findings.size === 0) {
    const content = entry.decision.slice(0, SHOWN_CHARS_MAX);
    passed_over.push({ entry_id: entry.id, content, reason: "The decision has no rationale." });
  }
  return { findings: [...findings.values()], passed_over };
}

function inAssistants(prose: string): FoundSentences {
  return { findings: [...findHeadings(prose), ...findInAssistants(prose)], passed_over: [] };
}

interface SpokenText {
  readonly by: "user" | "assistant";
  readonly text: string;
}

/** The texts that rules read: what users and assistants said, not the arguments of tools. */
function readTexts(entry: Entry): readonly SpokenText[] {
  const said = (by: "user" | "assistant", texts: readonly string[]) => texts.map((text) => ({ by, text }));
  switch (entry.kind) {
    case "interaction":
      return [...said("user", [entry.prompt]), ...said("assistant", [entry.response, entry.response_summary])];
    case "response":
      return said("assistant", [entry.response, entry.response_summary]);
    case "decision":
      return said("assistant", [entry.decision, entry.rationale]);
    case "message": {
      if (isInjected(entry)) return [];
      const role = readRole(entry.role);
      return role === "user" || role === "assistant" ? said(role, contentTexts(entry.content)) : [];
    }
    default:
      return [];
  }
}

const TRAILING = /[\s.,;:]+$/u;

/** A decision with its rationale; undefined without one. Where both are too long for a statement, the decision alone. */
function proposalOfDecision(entry: EntryOf<"decision">): Proposal | undefined {
  const decision = entry.decision.trim().replace(TRAILING, "");
  const rationale = entry.rationale.trim().replace(TRAILING, "");
  if (decision === "" || rationale === "") return undefined;
  const whole = `${decision} (${rationale})`.replaceAll(/\s+/g, " ");
  const fits = whole.length <= 2 * STATEMENT_CHARS_MAX && codePoints(whole) <= STATEMENT_CHARS_MAX;
  return {
    type: "adaptation",
    content: fits ? whole : decision,
    source: "decision",
    evidence: [entry.decision, ...(fits ? [entry.rationale] : [])].map((quote) => ({ entry_id: entry.id, quote })),
    project: entry.project,
    tags: [],
    generation: "",
  };
}

const typeByName: { readonly [name: string]: MemoryType } = {
  decision: "adaptation",
  constraint: "project",
  requirement: "project",
  fact: "knowledge",
};

const HEADING =
  /^[ \t]{0,3}#{1,6}[ \t]*(?:\*\*|__)?(decision|constraint|requirement|fact)(?:\*\*|__)?[ \t]*[:\-–—](?:\*\*|__)?[ \t]*(\S[^\n]{0,2000})$/gim;
const CLOSING = /[ \t]#+[ \t]*$/;

/** @param prose A text of an assistant without its code. */
function findHeadings(prose: string): readonly Finding[] {
  return [...prose.matchAll(HEADING)].map((match) => {
    const [line, name = "", value = ""] = match;
    const content = plain(value.trimEnd().replace(CLOSING, ""));
    const start = match.index + line.length - line.trimStart().length;
    return {
      class: "heading",
      type: typeByName[name.toLowerCase()] as MemoryType,
      content,
      start,
      end: start + line.trim().length,
    };
  });
}

/** A preference among the options of the moment is no standing preference. */
const PREFERENCE =
  /(?<![\p{L}\p{N}_])(?:the user prefers|I prefer(?! (?:this|that|it|these|those|your|(?:the )?(?:first|second|third|last|latter|former|other|next|option|version|one|two))(?![\p{L}\p{N}_])))(?![\p{L}\p{N}_])/iu;

/** Decisions of programs and of third persons are not the assistant's. */
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

/** Texts without any of the phrases are not split into sentences. */
const HAS_PHRASE = /prefer|decided to|requirement is/i;

/** Words before a phrase that change its meaning: a condition, a denial, something unreal. */
const CONDITION =
  /(?:^|[\s,;(])(?:if|whether|unless|in case|suppose|supposing|imagine|until|as though|as if)\b[^,;.]*$/i;
const DENIAL =
  /(?:\bnot|n't|\bnever)\b[^,;.]{0,40}\bthat\b[^,;.]{0,40}$|(?:\bnot|n't|\bnever|\byet|\bnobody|\bno one|\bnone of us)(?:\s+\p{L}+){0,2}\s*$/iu;
const UNREAL = /^\W*had\s+\p{L}+\s*$|\b(?:could|would|should|might|may|must|can|will|to|had)(?:'ve| have| be)?\s*$/iu;

/** @param prose A text of an assistant without its code. */
function findInAssistants(prose: string): readonly Finding[] {
  if (!HAS_PHRASE.test(prose)) return [];
  const findings: Finding[] = [];
  for (const sentence of sentencesOf(prose)) {
    if (!HAS_PHRASE.test(sentence.text) || isQuestion(sentence.text)) continue;
    const found = phrases.find(({ pattern, notBy }) => isSaid(sentence.text, pattern, notBy));
    if (found === undefined) continue;
    const { start, end } = sentence;
    findings.push({ class: "stated", type: found.type, content: plain(sentence.text), start, end });
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

/** Whether the phrase is inside of quotation marks or a code span: then somebody else says it. */
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
