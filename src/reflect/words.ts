// Words of a text: runs of letters where spaces separate them, and what Intl.Segmenter finds where they do not.

/** Scripts that are written without spaces between words, and the mark that lengthens a Japanese vowel. */
const UNSPACED =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー]";
const SPACED = `[[\\p{L}\\p{M}\\p{N}_]--${UNSPACED}]`;
/** The first group is a run without spaces; anything else is a word, apostrophes inside it included. */
const RUNS = new RegExp(`(${UNSPACED}[${UNSPACED}\\p{M}]*)|${SPACED}+(?:'${SPACED}+)*`, "gv");
/** The same for plain ASCII, which needs no tables of characters and takes a third of the time. */
const ASCII_WORDS = /[a-z0-9_]+(?:'[a-z0-9_]+)*/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant.
const ASCII = /^[\u0000-\u007f]*$/;

/** A text is looked at piece by piece, so that no text, however long, takes more memory than this. */
const PIECE_CHARS = 64 * 1024;
const CUT_CHARS = 256;
/** Sentences are shorter; a run that never ends would take time out of all proportion to its length. */
const RUN_CHARS = 500;
/** Longer ones are keys, hashes and encoded files. */
const WORD_CHARS_MAX = 64;

const segmenter = new Intl.Segmenter("und", { granularity: "word" });

/** How much may still be segmented, which takes some 2 µs a character: 30 times what anything else does. */
export interface SegmentingBudget {
  chars: number;
}

/** The pieces of a text in the form that words are compared in: NFC, lower case, one kind of apostrophe. */
export function* piecesOf(text: string, charsMax: number): Generator<string> {
  const end = Math.min(text.length, charsMax);
  let start = 0;
  while (start < end) {
    const next = end - start <= PIECE_CHARS ? end : cutBefore(text, start + PIECE_CHARS);
    yield text.slice(start, next).normalize("NFC").toLowerCase().replaceAll("’", "'");
    start = next;
  }
}

/** The last white space not far before this place, so that no word is cut in two; without one, this place. */
function cutBefore(text: string, place: number): number {
  for (let at = place; at > place - CUT_CHARS; at -= 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x20 || unit === 0x0a || unit === 0x3002) return at;
  }
  return place;
}

export function eachWord(piece: string, budget: SegmentingBudget, hear: (word: string) => void): void {
  if (ASCII.test(piece)) {
    for (const word of piece.match(ASCII_WORDS) ?? []) if (word.length <= WORD_CHARS_MAX) hear(word);
    return;
  }
  for (const [run, unspaced] of piece.matchAll(RUNS)) {
    if (unspaced !== undefined) for (const word of segment(unspaced, budget)) hear(word);
    else if (run.length <= WORD_CHARS_MAX) hear(run);
  }
}

function* segment(run: string, budget: SegmentingBudget): Generator<string> {
  for (let start = 0; start < run.length && budget.chars > 0; start += RUN_CHARS) {
    const part = run.slice(start, start + RUN_CHARS);
    budget.chars -= part.length;
    for (const { segment: word, isWordLike } of segmenter.segment(part)) {
      if (isWordLike === true) yield word;
    }
  }
}

const BEGINS_UNSPACED = new RegExp(`^${UNSPACED}`, "v");
const HAS_LETTER = /\p{L}/u;

/** Longer than 3 characters, or 2 in scripts without spaces, and not a mere number. */
export function isTopicLength(word: string): boolean {
  const { length } = word;
  if (length < 2) return false;
  const first = word.charCodeAt(0);
  if (first < 0x80 && length <= 3) return false;
  const chars = [...word].length;
  if (chars > 3) return HAS_LETTER.test(word);
  return chars > 1 && BEGINS_UNSPACED.test(word);
}
