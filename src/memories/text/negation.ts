// Which words deny, and whether a clause is denied: "do not use port 4747" does not say "use port 4747".

/** Words that deny what follows, besides all that end in n't. */
const DENIES_NEXT: ReadonlySet<string> = new Set(
  (
    "not no never cannot dont doesnt didnt cant couldnt wont wouldnt isnt arent wasnt werent hasnt havent hadnt shouldnt " +
    "mustnt neednt nobody nothing none neither nor nowhere without avoid avoids avoiding avoided stop stops stopped refuse " +
    "refuses refused refusing forbid forbids forbidden prohibit prohibits prohibited disallow disallows disallowed " +
    "nicht kein keine keinen keinem keiner nie niemals niemand nichts weder ohne verboten pas jamais aucun personne sans ne " +
    "sin nunca nadie jamás non mai nessuno senza não ninguém nem niet geen nooit inte aldrig ingen не никогда никто без нельзя " +
    "不 不要 不用 别 別 没 没有 沒有 勿 请勿 請勿 切勿 禁止 无 無"
  ).split(" "),
);
/** In Japanese the denied word comes before. */
export const DENIES_PREVIOUS: ReadonlySet<string> = new Set("ない なかっ ません ず せん ぬ ないで".split(" "));

/** The same in Chinese and Japanese, where word boundaries are a guess; "not only" and the like deny nothing. */
const DENIES_UNSPACED =
  /不(?![仅僅但只过過同断斷管论論])|勿|别(?![人的处名])|別(?![人的處名に])|禁止|严禁|嚴禁|避免|拒绝|拒絕|[没沒]|無需|无需|ません|な(?:い|かった|ければ)|ず(?:に|$)|避け|やめ|[うくぐすつぬぶむる]な(?:よ|$)/u;

export function deniesNext(word: string): boolean {
  return DENIES_NEXT.has(word) || word.endsWith("n't");
}

/** What follows these is not done; what comes before them is. */
const IN_PLACE_OF =
  "(?<![\\p{L}])(?:instead of|rather than|anstatt|anstelle|statt|au lieu d|plutôt qu|en lugar de|en vez de)|而不是|而非";
const BEGINS_IN_PLACE_OF = new RegExp(`^\\s*(?:${IN_PLACE_OF})`, "iu");
const BETWEEN_CLAUSES = new RegExp(`[,;:()，；：、（）–—]|\\s-\\s|(?=${IN_PLACE_OF})`, "iu");
/** "No, use tabs" denies what was said before, not what follows. */
const ANSWERS: ReadonlySet<string> = new Set("no nope nein non não nej нет 不 不是 否 いいえ".split(" "));

export interface Clause {
  readonly words: readonly string[];
  readonly isDenied: boolean;
}

/**
 * The clauses of a sentence. A clause that ends with a negation denies the rest of the sentence: "do not, whatever happens, use
 * port 4747".
 */
export function clausesOf(sentence: string, wordsOf: (text: string) => readonly string[]): readonly Clause[] {
  let isCarried = false;
  return sentence.split(BETWEEN_CLAUSES).map((part) => {
    const words = wordsOf(part.replaceAll("’", "'"));
    const isDenied =
      isCarried ||
      words.some((word) => deniesNext(word) || DENIES_PREVIOUS.has(word)) ||
      BEGINS_IN_PLACE_OF.test(part) ||
      deniesUnspaced(part);
    const last = words.at(-1) ?? "";
    isCarried ||= deniesNext(last) && !ANSWERS.has(last);
    return { words, isDenied };
  });
}

/** Whether a clause in Chinese or Japanese is denied; its last mark does not count. */
export function deniesUnspaced(clause: string): boolean {
  return DENIES_UNSPACED.test(clause.replace(/[\s\p{P}]+$/u, ""));
}

/** The clause around a range of a sentence. */
export function clauseAround(sentence: string, start: number, end: number): string {
  const before = sentence.slice(0, start).split(BETWEEN_CLAUSES).at(-1) ?? "";
  return before + sentence.slice(start, end) + clauseBeginning(sentence.slice(end));
}

/** The rest of a clause: the beginning of the text after a part of it. */
export function clauseBeginning(after: string): string {
  return BEGINS_IN_PLACE_OF.test(after) ? "" : (after.split(BETWEEN_CLAUSES)[0] ?? "");
}

/** Whether a sentence answers the question before it with no. */
export function answersNo(sentence: string, wordsOf: (text: string) => readonly string[]): boolean {
  const first = wordsOf(sentence.slice(0, ANSWER_CHARS))[0];
  return first !== undefined && ANSWERS.has(first);
}

const ANSWER_CHARS = 20;
