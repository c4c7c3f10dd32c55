// Hedges: words by which people and models say that they are guessing.

/** For languages with spaces; matched at word boundaries, ignoring case. */
const SPOKEN = {
  english: [
    "might",
    "maybe",
    "perhaps",
    "probably",
    "possibly",
    "presumably",
    "supposedly",
    "apparently",
    "hopefully",
    "i think",
    "i guess",
    "i believe",
    "i suppose",
    "i suspect",
    "i assume",
    "i wonder",
    "i feel like",
    "my guess",
    "we think",
    "we could try",
    "likely",
    "unlikely",
    "not (?:quite |entirely |really |totally |100% )?(?:sure|certain)",
    "unsure",
    "unclear",
    "seems",
    "seem to",
    "looks like",
    "appears? (?:to|that)",
    "seemingly",
    "may or may not",
    "should (?:work|fix|help|be fine|be ok|be okay|do it)",
    "could (?:be|have been|it be|potentially|theoretically)",
    "let me (?:try|check|see|think|look|guess|first|just)",
    "let's (?:try|see|check|assume|say|suppose|pretend)",
    "lets (?:try|see|check)",
    "i'?ll try",
    "i will try",
    "(?:i'm|we're|i am|we are) trying",
    "what if",
    "suppose (?:that|we|you|i|the)",
    "(?<!(?:instead of|without|rather than|stop|avoid|not|never|than) )assuming",
    "hypothetically",
    "in theory",
    "theoretically",
    "as far as i (?:know|can tell)",
    "afaik",
    "iirc",
    "if i (?:remember|recall)(?: correctly)?",
  ],
  german: [
    "vielleicht",
    "wahrscheinlich",
    "vermutlich",
    "möglicherweise",
    "eventuell",
    "womöglich",
    "ich (?:glaube|denke|vermute|schätze|nehme an)",
    "glaube ich",
    "denke ich",
    "könnte(?:n|st)?",
    "anscheinend",
    "scheinbar",
    "wohl eher",
    "scheint",
    "hoffentlich",
    "angenommen",
    "nicht (?:ganz |so )?sicher",
    "mal (?:sehen|schauen|probieren)",
    "lass (?:mich|uns) (?:mal )?(?:\\p{L}+ )?(?:versuchen|probieren|schauen|sehen|prüfen)",
  ],
  french: [
    "peut-être",
    "peut être que",
    "probablement",
    "sans doute",
    "éventuellement",
    "apparemment",
    "vraisemblablement",
    "je (?:pense|crois|suppose|présume)",
    "il se peut",
    "il se pourrait",
    "pourrait",
    "pourraient",
    "semble",
    "semblent",
    "on dirait",
    "pas (?:sûr|sûre|certain|certaine)",
    "supposons",
    "laisse-moi (?:essayer|vérifier|voir)",
    "essayons",
    "j'espère",
  ],
  spanish: [
    "quizás?",
    "tal vez",
    "probablemente",
    "posiblemente",
    "a lo mejor",
    "puede que",
    "(?:yo )?creo que",
    "pienso que",
    "supongo",
    "me parece",
    "parece que",
    "podría",
    "podrían",
    "aparentemente",
    "no estoy segur[oa]",
    "déjame (?:probar|intentar|ver|comprobar)",
    "supongamos",
    "ojalá",
  ],
} as const satisfies { readonly [language: string]: readonly string[] };

const UNSPACED =
  /也许|(?<!不)可能|大概|或许|应该是|恐怕|我觉得|我认为|我想可能|估计|似乎|好像|说不定|不确定|假设|試試|试试|让我试|也許|應該是|我覺得|我認為|かもしれ|たぶん|多分|おそらく|恐らく|と思い|と思う|と思われ|でしょうか|だろう|らしい|ようです|みたい(?:です|だ)|かな[。？?]?$|はず(?:です|だ)|試してみ|仮に|もしかし/u;

const SPACED = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${Object.values(SPOKEN).flat().join("|")})(?![\\p{L}\\p{N}_])`, "iu");

const QUESTION = /[?？]["'”’»)\]*_」』）\s.!！]*$/u;
const ASKED_UNSPACED = /(?:吗|嗎|呢|ですか|ますか|でしょうか)[。.？?\s]*$/u;

/** Longer texts are no statements: only the beginning is searched. */
const CHARS_MAX = 4_000;

/** The first hedge in a text, as it stands there. */
export function hedgeIn(text: string): string | undefined {
  const looked = text.slice(0, CHARS_MAX).normalize("NFKC").replaceAll("’", "'").replace(/\s+/g, " ");
  return SPACED.exec(looked)?.[0] ?? UNSPACED.exec(looked)?.[0];
}

/** Where one clause ends and the next begins: a guess in one says nothing about the other. */
const BETWEEN_CLAUSES =
  /[,;:()，；：、（）–—]|\s-\s|\s(?=(?:but|because|since|although|though|while|whereas|aber|weil|obwohl|mais|parce que|pero|porque|aunque)\s)/iu;

interface QuotedRange {
  /** Where the quote stands in the sentence. */
  readonly range: { readonly start: number; readonly end: number };
  /** How much of the statement a clause says. */
  readonly about: (clause: string) => number;
}

/**
 * The hedge of the clause that says most of a statement, among those that a quote touches. "I think, we use tabs" is one guess: a clause
 * that says nothing itself belongs to its neighbours.
 */
export function hedgeAround(sentence: string, { range, about }: QuotedRange): string | undefined {
  const clauses: { readonly text: string; readonly isQuoted: boolean }[] = [];
  let at = 0;
  for (const text of sentence.split(BETWEEN_CLAUSES)) {
    clauses.push({ text, isQuoted: at < range.end && at + text.length > range.start });
    at += text.length + 1;
  }
  const quoted = clauses.filter(({ isQuoted }) => isQuoted);
  const most = Math.max(...quoted.map(({ text }) => about(text)));
  const main = quoted.filter(({ text }) => about(text) === most);
  const bare = clauses.find(({ text }) => {
    const hedged = hedgeIn(text);
    return hedged !== undefined && text.trim().length - hedged.length <= BARE_CHARS_MAX;
  });
  return [...main, ...(bare === undefined ? [] : [bare])]
    .map(({ text }) => hedgeIn(text))
    .find((one) => one !== undefined);
}

/** A clause with a hedge and hardly anything else: "I think", "well, maybe". */
const BARE_CHARS_MAX = 12;

/** Words that make a decision a trial, at its beginning or anywhere. */
const TRIAL =
  /^(?:let's |we |i )?(?:will |'ll )?(?:try(?: out)?|trial|test drive|experiment with|consider|evaluate|explore|ausprobieren|probieren wir)(?= )|\b(?:as|just|only|for) an? (?:trial|test|experiment)\b|\b(?:undecided|tentative(?:ly)?|provisional(?:ly)?|still open|to be decided|tbd|nur ein versuch|zum ausprobieren)\b|\bprobeweise\b|^open$/iu;

/** The first of them in a text. */
export function trialIn(text: string): string | undefined {
  return TRIAL.exec(text.slice(0, CHARS_MAX).normalize("NFKC").replaceAll("’", "'").trim())?.[0];
}

/** A request in the form of a question: "can we always use tabs?" asks for it. */
const REQUEST =
  /^(?:(?:and|also|so|ok|okay|please|bitte)[,!]? )*(?:(?:can|could|would|will) (?:we|you) (?!\w+ (?:if|whether|what|how|why)\b)(?:please )?(?:always |never |not )?(?:use|run|add|keep|write|put|make|avoid|stop|ask|answer|commit|name|call|format|test|check|always|never)\b|why (?:not|don't we)\b|(?:kannst|könntest|könnten|können|kann) (?:du|wir|man) (?:bitte )?(?:immer|nie|niemals|ab jetzt)\b|(?:peux-tu|pouvons-nous|peut-on) (?:toujours|ne (?:jamais|plus))|(?:puedes|podemos|podrías) (?:siempre|no)\b)/i;

export function isQuestion(text: string): boolean {
  if (REQUEST.test(text.slice(0, 200).trim())) return false;
  const end = text.slice(-200);
  return QUESTION.test(end) || ASKED_UNSPACED.test(end);
}
