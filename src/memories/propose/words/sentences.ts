// What the rules on users' words find in a message: its prose is cleaned, its sentences are held against the patterns, and what may hold
// for one task only is passed over with a reason.

import type { TextRange } from "../../../model/normalise.js";
import { codePoints } from "../../../model/normalise.js";
import { hedgeIn, isQuestion } from "../../judge/hedges.js";
import { sentencesOf } from "../../text/sentences.js";
import { namesProgram, namesTool } from "../rules/named-programs.js";
import { type Finding, plain, typedProseOf } from "../rules/prose.js";
import { type WordPattern, wordPatterns } from "./patterns.js";

/** A sentence that a rule looked at and did not take. */
interface PassedOver extends TextRange {
  readonly class: Finding["class"];
  readonly reason: string;
}

export interface FoundSentences {
  readonly findings: readonly Finding[];
  readonly passed_over: readonly PassedOver[];
}

/** Longer messages are pasted, or written for a program: of them only sentences count that name a tool, or that somebody shouts. */
const MESSAGE_CHARS_MAX = 1_200;
const MESSAGE_SENTENCES_MAX = 10;
const SENTENCE_CHARS_MAX = 200;
const SENTENCE_CHARS_MIN = 14;
/** In scripts without spaces few characters are a sentence. */
const UNSPACED_CHARS_MIN = 6;
/** A message with more sentences is not read to its end. */
const SENTENCES_READ_MAX = 300;

const WRITTEN_FOR_MODEL =
  /^\W{0,10}(?:you are|you're|you will be|act as|imagine|pretend|your (?:task|job|role|name) is|system:|human:|user:|du bist|stell dir vor|tu es|eres|你是|假设你|あなたは)/i;

/** Fillers and swearing at the beginning of a sentence. */
const OPENING =
  /^(?:(?:and|also|so|ok|okay|btw|by the way|oh|hey|well|look|listen|again|seriously|dude|man|bro|ffs|for (?:fuck|god|christ)'?s sake|damn(?: it)?|goddamn|jesus(?: christ)?|i (?:said|told you)|und|et|y|ah)[,:!]? ){0,4}/i;
const POLITE = /^(?:please|bitte|pls|plz|por favor|s'il te plaît)[,:!]? /i;
const SWEARING = / (?:fucking|goddamn|damn|bloody|freaking) /gi;

/** It is about one task, or refers to other text. */
const ONE_OFF =
  /(?<![\p{L}\p{N}_])(?:this(?! (?:repo|repository|project|codebase|workspace)(?![\p{L}\p{N}_]))|these|those|here|now|currently|today|tonight|tomorrow|this time|once|above(?! \d)|below(?! \d)|following|until|next (?:step|time|turn)|(?:task|step|phase|option|issue|part|question) #?\d+|(?:the|my|your) (?:question|task|prompt|story|essay|poem|letter|game|puzzle|problem|conversation|response|output|same)|jetzt|heute|diesmal|dieser|diese|dieses|maintenant|aujourd'hui|cette fois|ahora|hoy|esta vez)(?![\p{L}\p{N}_])|这次|這次|现在(?!起|开始)|現在(?!起|開始)|今天|今回|今日|この(?!プロジェクト|リポジトリ)/iu;
const TAKES_PRONOUN = /^(?:always|never) \p{L}+ (?:it|that|them|so|one|there|such)(?![\p{L}\p{N}_])/iu;
const POINTS_BACK = /^(?:it|this|that|they|these|those|he|she|there)(?:'s|'re)?(?![\p{L}\p{N}_])/iu;
const OPTION =
  /^(?:it|that|them|one|you|him|her|not|if|when|(?:option|version|variant|approach|plan|choice) \w+|\w|(?:the )?(?:first|second|third|last|latter|former|other|next|old|new|original|previous|current)(?: \w+)?)(?![\p{L}\p{N}_])/iu;
/** What work is about: other preferences are about purchases or trips. */
const OF_WORK =
  /(?<![\p{L}\p{N}_])(?:answers?|answering|replies|responses?|explanations?|summaries|examples|bullet points|tables|prose|markdown|emojis?|english|german|french|spanish|italian|portuguese|dutch|chinese|japanese|british|american|spelling|units|code|coding|commits?|commit messages|branches|pull requests?|prs?|diffs?|patches|changes|refactorings?|rebas(?:e|ing)|merg(?:e|ing)|tests?|testing|mocks?|fixtures|files?|folders|modules?|functions?|methods|class(?:es)?|interfaces?|types?|typing|generics|variables?|constants|names?|naming|identifiers|imports?|exports?|dependencies|packages?|librar(?:y|ies)|frameworks?|comments?|docstrings?|documentation|docs|tabs|spaces|indentation|quotes|semicolons|braces|line length|lint(?:er|ing)?|format(?:ter|ting)?|composition|inheritance|immutability|async|await|promises|callbacks|exceptions|errors?|logs?|logging|scripts?|shell|commands?|queries|sql|migrations|apis?|endpoints|json|yaml|toml|csv|typescript|javascript|asked before|antworten?|erklärungen|kommentare|variablen|funktionen|dateien|leerzeichen|deutsch|englisch|réponses?|explications|commentaires?|fichiers|fonctions|français|anglais|respuestas?|explicaciones|comentarios?|código|pruebas|archivos|funciones|español|inglés)(?![\p{L}\p{N}_])|回答|回复|回覆|代码|代碼|注释|註釋|测试|測試|提交|中文|英文|函数|函數|返信|コード|コメント|テスト|コミット|日本語|英語|関数/iu;
const QUALIFIED =
  /(?<![\p{L}\p{N}_])(?:but|though|although|however|unless you|except|aber|mais|pero)(?![\p{L}\p{N}_])|但是|不过|だけど/iu;
const CODE = /[{}<>|\\]|=>|\*\*(?!\/)|\(\)|;$/u;
const IS_UNSPACED = /^[^\p{Script=Latin}]*[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const EMPHATIC = /!{1,}\s*$|(?<![\p{L}])(?:ALWAYS|NEVER|MUST|NOT|DON'T|DO NOT|IMPORTANT)(?![\p{L}])/u;

/** Words that refer to other text are no statement by themselves. */
const POINTS_ELSEWHERE =
  /^(?:this|that|it|these|those|them|das|dies|es|diese|ça|cela|ceci|esto|eso|这个?|那个?|這個?|那個?|これ|それ|あれ)(?:$|[\s.,!]*$|(?:'s| is| was| one| ist| war| est| es)(?![\p{L}]))/iu;
/** "Remember that time when" is about the past. */
const LOOKS_BACK =
  /^(?:time|day|night|evening|morning|moment|guy|girl|meeting|thing|bug|issue|one|conversation|discussion|incident|movie|song|when|where|what|who|why|which|how|us|me|him|her)(?![\p{L}])/iu;
const SHORT_UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{4,7}[。！]?$/u;

/** Texts without any of these words are not split into sentences. */
const HAS_PATTERN =
  /always|never|prefer|remember|from now on|future reference|must|should|don't|do not|avoid|stop|use|no |when|if you|before|after|every|we |make sure|you |immer|nie|nutz|verwend|nimm|nehmt|lieber|bevorzug|ziehe|merk|denk|vergiss|jetzt|sofort|nun|zukunft|künftig|nächste|toujours|jamais|utilis|prend|prenez|préf|souv|rapp|retien|reten|oubli|partir|désormais|dorénavant|avenir|prochaine|suite|référence|siempre|nunca|usa|utiliza|emplea|prefiero|recuer|acuér|ten |olvid|ahora|adelante|futuro|próxima|referencia|\p{Script=Han}|\p{Script=Hiragana}/iu;

/** @param text What a user wrote. */
export function findInMessage(text: string): FoundSentences {
  if (!HAS_PATTERN.test(text)) return { findings: [], passed_over: [] };
  const { prose, end: typedEnd } = typedProseOf(text);
  const findings: Finding[] = [];
  const passed_over: PassedOver[] = [];
  const sentences: { readonly text: string; readonly start: number; readonly end: number }[] = [];
  for (const sentence of sentencesOf(prose)) {
    if (sentences.length === SENTENCES_READ_MAX) break;
    sentences.push(sentence);
  }
  const isForModel = WRITTEN_FOR_MODEL.test(prose);
  const isLong = prose.trim().length > MESSAGE_CHARS_MAX || sentences.length > MESSAGE_SENTENCES_MAX;
  for (const { text: sentence, start, end } of sentences) {
    const found = readSentence(sentence);
    if (found === undefined) continue;
    const { pattern, said, statement } = found;
    const isDocument = start >= typedEnd;
    const reason = flawOfMessage({ isForModel, isDocument, isLong: isLong && !isMarked(said) }) ?? flawOf(found);
    if (reason !== undefined) passed_over.push({ start, end, reason, class: pattern.class });
    else
      findings.push({
        class: pattern.class,
        type: namesTool(statement) ? "project" : "preference",
        content: statement,
        start,
        end,
      });
  }
  return { findings, passed_over };
}

interface MessageFlaws {
  readonly isForModel: boolean;
  readonly isDocument: boolean;
  readonly isLong: boolean;
}

function flawOfMessage({ isForModel, isDocument, isLong }: MessageFlaws): string | undefined {
  if (isForModel) return "The message is written for a model.";
  if (isLong) return "The message is long, and may be pasted.";
  return isDocument ? "It is in a list, a document or a log." : undefined;
}

/** The statement of a sentence without the request to remember it. */
export function saidIn(sentence: string): string {
  const said = withoutOpening(sentence);
  const row = wordPatterns.find(({ statement, pattern }) => statement !== undefined && pattern.test(said));
  return (row === undefined ? undefined : statementIn(said, row)) ?? plain(sentence.replaceAll("’", "'"));
}

interface ReadSentence {
  readonly pattern: WordPattern;
  /** The sentence as it is matched. */
  readonly said: string;
  readonly statement: string;
}

function readSentence(sentence: string): ReadSentence | undefined {
  if (sentence.length > 2 * SENTENCE_CHARS_MAX + 100) return undefined;
  const said = withoutOpening(sentence);
  const bare = said.replace(POLITE, "");
  for (const pattern of wordPatterns) {
    // "Please remember" asks for it, "remember" alone may look back.
    const words = pattern.statement === undefined ? bare : said;
    if (!pattern.pattern.test(words)) continue;
    const statement = statementIn(words, pattern);
    if (statement !== undefined) return { pattern, said: words, statement };
  }
  return undefined;
}

function withoutOpening(sentence: string): string {
  const said = plain(sentence.replaceAll("’", "'").replaceAll(/\s+/g, " "));
  return said.replace(OPENING, "").replaceAll(SWEARING, " ");
}

function statementIn(said: string, { pattern, statement: where }: WordPattern): string | undefined {
  if (where === undefined) return said;
  const match = pattern.exec(said);
  if (match === null) return undefined;
  const rest = where === "after" ? said.slice(match.index + match[0].length) : said.slice(0, match.index);
  const statement = rest.replace(/^[\s,:;–—、，：。-]+/u, "").replace(/^(?:that|to|dass|que|qu') ?(?=\S)/i, "");
  // In these scripts seven characters are a whole sentence, but too short for the first gate.
  if (SHORT_UNSPACED.test(statement)) return said;
  if (statement === "" || POINTS_ELSEWHERE.test(statement) || LOOKS_BACK.test(statement)) return undefined;
  return statement;
}

/** Whether a sentence of a long message stands out: it names a tool, or is emphatic. */
function isMarked(said: string): boolean {
  return EMPHATIC.test(said) || namesTool(said);
}

function flawOf({ pattern, said, statement }: ReadSentence): string | undefined {
  const { class: name, language } = pattern;
  if (isQuestion(said)) return "It is a question.";
  const chars = codePoints(said);
  if (chars > SENTENCE_CHARS_MAX) return `It has more than ${SENTENCE_CHARS_MAX} characters.`;
  if (CODE.test(said)) return "It contains code.";
  if (/[:：]$/.test(said)) return "It announces what comes next.";
  const isPointing = POINTS_BACK.test(statement) || (name === "always" && TAKES_PRONOUN.test(said));
  if (isPointing || ONE_OFF.test(statement)) return "It may hold for one task only, or refers to other text.";
  if (chars < (IS_UNSPACED.test(said) ? UNSPACED_CHARS_MIN : SENTENCE_CHARS_MIN)) return "It is too short.";
  if (hedgeIn(said) !== undefined) return "It is a guess.";
  if (name === "prefer") return flawOfPreference(said, language);
  if (pattern.names_tool === true && !namesTool(statement)) return "It names no program, path or identifier.";
  return undefined;
}

function flawOfPreference(said: string, language: WordPattern["language"]): string | undefined {
  const preferred = language === "english" ? said.replace(/^.*?\bprefer /iu, "") : said;
  if (OPTION.test(preferred) || QUALIFIED.test(said)) return "It is a choice of the moment.";
  if (!OF_WORK.test(preferred) && !namesProgram(preferred)) return "The preference is not about work.";
  return undefined;
}
