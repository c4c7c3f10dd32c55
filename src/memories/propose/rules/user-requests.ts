// What users ask to be remembered: sentences that say so, in six languages, and standing instructions.
//
// Standing instructions begin with "always" or "never" and a verb, or with "I prefer". A rule cannot see whether a sentence
// outlives the task, so only the strictest form is proposed; the rest is passed over with a reason.

import type { TextRange } from "../../../model/normalise.js";
import { isQuestion } from "../../judge/hedges.js";
import { sentencesOf } from "../../text/sentences.js";
import { namesProgram, namesTool } from "./named-programs.js";
import type { Finding } from "./prose.js";
import { plain } from "./prose.js";

/** How a sentence begins; the statement follows. */
const BEGINNINGS = {
  english: [
    "(?:please,? )?(?:always )?remember that",
    "(?:please,? )?remember ?[:,–—-]",
    "please,? (?:always )?remember(?: to)?",
    "from now on",
    "for (?:your )?future reference",
  ],
  german: [
    "(?:bitte )?merke? dir(?: bitte)?,? dass",
    "(?:bitte )?merke? dir(?: bitte)? ?[:,–—-]",
    "bitte merke? dir",
    "(?:bitte )?denke? (?:bitte )?(?:immer )?daran,? dass",
    "(?:bitte )?denke? (?:bitte )?daran ?[:,–—-]",
    "(?:bitte )?vergiss (?:bitte )?nicht,? dass",
    "(?:ab jetzt|ab sofort|von jetzt an|von nun an|in zukunft|zukünftig|künftig|für die zukunft|fürs nächste mal)",
  ],
  french: [
    "(?:s'il te plaît,? |stp,? )?(?:souviens-toi|rappelle-toi|retiens|souvenez-vous|rappelez-vous|retenez)(?: bien)? (?:que|qu'|de)",
    "(?:s'il te plaît,? |stp,? )?(?:souviens-toi|rappelle-toi|retiens|souvenez-vous|rappelez-vous|retenez)(?: bien)? ?[:,–—-]",
    "(?:s'il te plaît,? |stp,? )?n'oublie pas (?:que|qu')",
    "(?:à|a) partir de maintenant",
    "(?:désormais|dorénavant|(?:à|a) l'avenir|pour la prochaine fois|pour référence(?: future)?|pour la suite)",
  ],
  spanish: [
    "(?:por favor,? )?(?:recuerda|recuerde|acuérdate de|ten en cuenta|ten presente|no olvides) que",
    "(?:por favor,? )?(?:recuerda|recuerde) ?[:,–—-]",
    "por favor,? (?:recuerda|recuerde)",
    "(?:a partir de ahora|de ahora en adelante|desde ahora|en adelante|en el futuro|para (?:futura referencia|futuras referencias|referencia futura|la próxima vez|la próxima))",
  ],
} as const satisfies { readonly [language: string]: readonly string[] };

const BEGINS_SPACED = new RegExp(
  `^(?:(?:and|also|oh|ok|okay|so|btw|by the way|und|et|y|ah)[,!]? ){0,2}(?:${Object.values(BEGINNINGS).flat().join("|")})(?![\\p{L}\\p{N}_])`,
  "iu",
);
const BEGINS_UNSPACED =
  /^(?:(?:今後|これから|今から|以後|以降|次回から|これより)(?:は|も|、)|(?:请|請|麻烦|麻煩)?你?(?:一定)?要?(?:记住|記住|牢记|牢記|记得|記得)|(?:从|從)(?:现在|現在|今)(?:起|开始|開始|以后|以後)?|(?:以后|以後|今后|今後|往后|日后)(?!再|有空|有机会)|供(?:以后|将来|日后)参考|覚えておいて(?:ください|下さい|ね|ほしい)?[、:：,。 ]|忘れないで(?:ください|ね)?[、:：,])/u;
/** In Japanese the request comes last: …を覚えておいてください. */
const ENDS_UNSPACED =
  /(?:という?こと|こと|の|と|って)?(?:を|は|も)?(?:覚えて(?:おいて)?(?:ください|下さい|ね|くれ|ほしい)?|記憶して(?:おいて)?(?:ください|下さい|ね)?|忘れないで(?:ください|下さい|ね)?)[。！!]*$/u;

/** Words that refer to other text are no statement by themselves. */
const POINTS_ELSEWHERE =
  /^(?:this|that|it|these|those|them|das|dies|es|diese|ça|cela|ceci|esto|eso|这个?|那个?|這個?|那個?|これ|それ|あれ)(?:$|[\s.,!]*$|(?:'s| is| was| one| ist| war| est| es)(?![\p{L}]))/iu;
/** "Remember that time when" is about the past. */
const LOOKS_BACK =
  /^(?:time|day|night|evening|morning|moment|guy|girl|meeting|thing|bug|issue|one|conversation|discussion|incident|movie|song|when|where|what|who|why|which|how|us|me|him|her)(?![\p{L}])/iu;

const SHORT_UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{4,7}[。！]?$/u;

export function findInUsers(prose: string): readonly Finding[] {
  const findings: Finding[] = [];
  for (const { text, start, end } of sentencesOf(prose)) {
    if (isQuestion(text)) continue;
    const statement = statementIn(plain(text.replaceAll("’", "'")));
    if (statement === undefined) continue;
    findings.push({ type: namesTool(statement) ? "project" : "preference", content: statement, start, end });
  }
  return findings;
}

/** The statement of a sentence without the request to remember it. */
export function saidIn(sentence: string): string {
  const said = plain(sentence.replaceAll("’", "'"));
  return statementIn(said) ?? said;
}

function statementIn(sentence: string): string | undefined {
  const begins = BEGINS_SPACED.exec(sentence) ?? BEGINS_UNSPACED.exec(sentence);
  const ends = begins === null ? ENDS_UNSPACED.exec(sentence) : null;
  if (begins === null && ends === null) return undefined;
  const rest = begins !== null ? sentence.slice(begins[0].length) : sentence.slice(0, ends?.index);
  const statement = rest.replace(/^[\s,:;–—、，：。-]+/u, "").replace(/^(?:that|to|dass|que|qu') ?(?=\S)/i, "");
  // In these scripts seven characters are a whole sentence, but too short for the first gate.
  if (SHORT_UNSPACED.test(statement)) return sentence;
  if (statement === "" || POINTS_ELSEWHERE.test(statement) || LOOKS_BACK.test(statement)) return undefined;
  return statement;
}

/** A sentence that a rule considered and did not propose. */
interface PassedOver extends TextRange {
  readonly reason: string;
}

/** Longer messages are pasted, or written for a program. */
const MESSAGE_CHARS_MAX = 1_200;
const MESSAGE_SENTENCES_MAX = 10;
const SENTENCE_CHARS_MAX = 200;
/** A text with more lines of lists or headings is a document; only the prose before them is read. */
const MARKED_LINES_MAX = 2;

const MARKED_LINE = /^[ \t]{0,8}(?:#{1,6} |[-*+•] |\d{1,3}[.)] |\||\*\*)/gmu;
const WRITTEN_FOR_MODEL =
  /^\W{0,10}(?:you are|you're|you will be|act as|imagine|pretend|your (?:task|job|role|name) is|system:|human:|user:)/i;

const OPENING = /^(?:(?:and|also|so|ok|okay|btw|by the way)[,!]? ){0,2}(?:please[,!]? )?/i;
const INSTRUCTION = /^(?:always|never) (\p{L}+)/iu;
const PREFERENCE = /^I (?:(?:always|generally|usually|really|strongly|much) ){0,2}prefer (.+)$/iu;

/** What an agent can be told to do, unlike "never mind", "always happy" and "never seen". */
const VERBS = new Set(
  (
    "access add address alter annotate answer append apply approve ask assert assume avoid backup base batch begin block " +
    "break build bump cache call cancel capitalize cast catch change check cherry-pick choose cite clean clear clone close " +
    "comment commit compile compress configure confirm connect convert copy create declare decrypt default define delete " +
    "deploy describe disable discard display document download drop edit email emit enable encode encrypt end ensure " +
    "escape exclude execute explain export expose extend fetch filter finish fix force fork format generate group guess " +
    "handle hardcode hash hide highlight ignore import include increase indent index inherit initialize inline insert " +
    "inspect install invent join keep kill leave lint list load lock log mark mask match measure mention merge migrate mix " +
    "mock modify move mutate name nest offer omit open optimize order output overwrite parse paste pin place prefer prefix " +
    "print propose publish pull push put query quote raise read rebase recommend record refactor reference reformat " +
    "regenerate release remove rename repeat replace reply report request reset resolve respond restart retry return reuse " +
    "revert review rewrite round run sanitize save search select send separate serve set ship show sign skip sort speak " +
    "specify split squash stage start stop store stub style suggest summarize suppress swallow switch sync tag test throw " +
    "touch track translate treat trim truncate trust type uninstall update upgrade upload use validate verify version wait " +
    "warn wrap write"
  ).split(" "),
);

/** It is about one task, or refers to other text. */
const ONE_OFF =
  /(?<![\p{L}\p{N}_])(?:this(?! (?:repo|repository|project|codebase|workspace)(?![\p{L}\p{N}_]))|these|those|here|now|currently|today|tonight|tomorrow|this time|once|above|below|following|until|next (?:step|time|turn)|(?:the|my|your) (?:question|task|prompt|story|essay|poem|letter|game|puzzle|problem|conversation|response|output|same))(?![\p{L}\p{N}_])/iu;
const TAKES_PRONOUN = /^(?:always|never) \p{L}+ (?:it|that|them|so|one|there|such)(?![\p{L}\p{N}_])/iu;
const OPTION =
  /^(?:it|that|them|one|you|him|her|not|if|when|(?:option|version|variant|approach|plan|choice) \w+|\w|(?:the )?(?:first|second|third|last|latter|former|other|next|old|new|original|previous|current)(?: \w+)?)(?![\p{L}\p{N}_])/iu;
/** What work is about: other preferences are about purchases or trips. */
const OF_WORK =
  /(?<![\p{L}\p{N}_])(?:answers?|answering|replies|responses?|explanations?|summaries|examples|bullet points|tables|prose|markdown|emojis?|english|german|french|spanish|italian|portuguese|dutch|chinese|japanese|british|american|spelling|units|code|coding|commits?|commit messages|branches|pull requests?|prs?|diffs?|patches|changes|refactorings?|rebas(?:e|ing)|merg(?:e|ing)|tests?|testing|mocks?|fixtures|files?|folders|modules?|functions?|methods|class(?:es)?|interfaces?|types?|typing|generics|variables?|constants|names?|naming|identifiers|imports?|exports?|dependencies|packages?|librar(?:y|ies)|frameworks?|comments?|docstrings?|documentation|docs|tabs|spaces|indentation|quotes|semicolons|braces|line length|lint(?:er|ing)?|format(?:ter|ting)?|composition|inheritance|immutability|async|await|promises|callbacks|exceptions|errors?|logs?|logging|scripts?|shell|commands?|queries|sql|migrations|apis?|endpoints|json|yaml|toml|csv|typescript|javascript|asked before)(?![\p{L}\p{N}_])/iu;
const QUALIFIED = /(?<![\p{L}\p{N}_])(?:but|though|although|however|unless you|except)(?![\p{L}\p{N}_])/iu;
const CODE = /[{}<>|\\]|=>|\*\*|\(\)|;$/u;

/** @param prose What a user wrote, without code, quotations and logs. */
export function findStanding(prose: string): {
  readonly findings: readonly Finding[];
  readonly passed_over: readonly PassedOver[];
} {
  const findings: Finding[] = [];
  const passed_over: PassedOver[] = [];
  if (!/always|never|prefer/i.test(prose)) return { findings, passed_over };
  const sentences = [...sentencesOf(prose)];
  const flaw = flawOfMessage(prose, sentences.length);
  const end = endOfProse(prose);
  for (const sentence of sentences) {
    const said = plain(sentence.text.replaceAll("’", "'").replaceAll(/\s+/g, " ")).replace(OPENING, "");
    if (!INSTRUCTION.test(said) && !PREFERENCE.test(said)) continue;
    const range = { start: sentence.start, end: sentence.end };
    const inDocument = sentence.start >= end ? "It is in a list or a document." : undefined;
    const reason = flaw ?? inDocument ?? flawOfSentence(said);
    if (reason !== undefined) passed_over.push({ ...range, reason });
    else findings.push({ type: namesTool(said) ? "project" : "preference", content: said, ...range });
  }
  return { findings, passed_over };
}

function flawOfMessage(prose: string, sentences: number): string | undefined {
  if (WRITTEN_FOR_MODEL.test(prose)) return "The message is written for a model.";
  if (prose.length > MESSAGE_CHARS_MAX || sentences > MESSAGE_SENTENCES_MAX)
    return "The message is long, and may be pasted.";
  return undefined;
}

/** Where a list or a document begins; the length of the text where there is none. */
function endOfProse(prose: string): number {
  const marks = [...prose.matchAll(MARKED_LINE)];
  return marks.length > MARKED_LINES_MAX ? (marks[0]?.index ?? 0) : prose.length;
}

function flawOfSentence(said: string): string | undefined {
  if (isQuestion(said)) return "It is a question.";
  const verb = INSTRUCTION.exec(said)?.[1]?.toLowerCase();
  if (verb !== undefined && !VERBS.has(verb)) return `"${verb}" is not a known instruction.`;
  if (said.length > SENTENCE_CHARS_MAX) return `It has more than ${SENTENCE_CHARS_MAX} characters.`;
  if (CODE.test(said)) return "It contains code.";
  if (said.endsWith(":")) return "It announces what comes next.";
  if (ONE_OFF.test(said) || TAKES_PRONOUN.test(said)) return "It may hold for one task only, or refers to other text.";
  if (verb !== undefined) return undefined;
  const preferred = PREFERENCE.exec(said)?.[1] ?? "";
  if (OPTION.test(preferred) || QUALIFIED.test(preferred)) return "It is a choice of the moment.";
  if (!OF_WORK.test(preferred) && !namesProgram(preferred)) return "The preference is not about work.";
  return undefined;
}
