// Sentences by which users say that something is to be remembered, in six languages.
import { isQuestion } from "../../judge/hedges.js";
import { sentencesOf } from "../../text/sentences.js";
import type { Finding } from "./finding.js";
import { plain } from "./plain.js";
import { namesTool } from "./tools.js";

/** What a sentence begins with. Behind it comes the statement. */
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

/** Words that only point at something said elsewhere: without that they are no statement. */
const POINTS_ELSEWHERE =
  /^(?:this|that|it|these|those|them|das|dies|es|diese|ça|cela|ceci|esto|eso|这个?|那个?|這個?|那個?|これ|それ|あれ)(?:$|[\s.,!]*$|(?:'s| is| was| one| ist| war| est| es)(?![\p{L}]))/iu;
/** "Remember that time when" looks back and not ahead. */
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

/** What a sentence says without asking that it be remembered. */
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
  // Seven characters are a whole sentence there, and no statement to the first gate.
  if (SHORT_UNSPACED.test(statement)) return sentence;
  if (statement === "" || POINTS_ELSEWHERE.test(statement) || LOOKS_BACK.test(statement)) return undefined;
  return statement;
}
