// Which words deny, and whether a clause is denied: "do not use port 4747" does not say "use port 4747".

/** Words that deny what comes after them. */
export const DENIES_NEXT: ReadonlySet<string> = new Set(
  (
    "not no never don't doesn't didn't won't can't cannot isn't aren't wasn't shouldn't mustn't dont doesnt cant wont " +
    "without avoid stop nicht kein keine keinen keinem keiner nie niemals ohne pas jamais sans ne sin nunca " +
    "jamás non mai senza não nem niet geen nooit inte aldrig не никогда без 不 不要 不用 别 別 没 没有 沒有 勿 禁止 无 無"
  ).split(" "),
);
/** In Japanese the word that is denied stands before. */
export const DENIES_PREVIOUS: ReadonlySet<string> = new Set("ない なかっ ません ず せん ぬ ないで".split(" "));

const BETWEEN_CLAUSES = /[,;:()，；：、（）–—]|\s-\s/u;
/** "No, use tabs" denies what somebody else said. */
const ANSWERS: ReadonlySet<string> = new Set("no non não 不".split(" "));

export interface Clause {
  readonly words: readonly string[];
  readonly isDenied: boolean;
}

/**
 * The clauses of a sentence. One that ends with its negation has the rest of the sentence denied: "do not, whatever
 * happens, use port 4747".
 */
export function clausesOf(sentence: string, wordsOf: (text: string) => readonly string[]): readonly Clause[] {
  let isCarried = false;
  return sentence.split(BETWEEN_CLAUSES).map((part) => {
    const words = wordsOf(part.replaceAll("’", "'"));
    const isDenied = isCarried || words.some((word) => DENIES_NEXT.has(word) || DENIES_PREVIOUS.has(word));
    const last = words.at(-1) ?? "";
    isCarried ||= DENIES_NEXT.has(last) && !ANSWERS.has(last);
    return { words, isDenied };
  });
}
