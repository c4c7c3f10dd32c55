// Words of a text: runs of letters where spaces separate them, and what Intl.Segmenter finds where they do not.

/** Scripts that are written without spaces between words, and the mark that lengthens a Japanese vowel. */
const UNSPACED =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー]";
const SPACED = `[[\\p{L}\\p{M}\\p{N}_]--${UNSPACED}]`;
/** The first group is a run without spaces; anything else is a word, apostrophes inside it included. */
const RUNS = new RegExp(`(${UNSPACED}[${UNSPACED}\\p{M}]*)|${SPACED}+(?:'${SPACED}+)*`, "gv");
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant.
const ASCII = /^[\u0000-\u007f]*$/;

/** A text is looked at piece by piece, so that no text, however long, takes more memory than this. */
const PIECE_CHARS = 64 * 1024;
const CUT_CHARS = 256;
/** Sentences are shorter; a run that never ends would take time out of all proportion to its length. */
const RUN_CHARS = 500;
/** Longer ones are keys, hashes and encoded files. */
const WORD_CHARS_MAX = 64;

const APOSTROPHE = 0x27;
/** ASCII letters, digits and the underscore; pieces are in lower case. */
const isWordUnit = Uint8Array.from({ length: 128 }, (_, unit) => Number(/[a-z0-9_]/.test(String.fromCharCode(unit))));

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
    const piece = text.slice(start, next);
    yield ASCII.test(piece) ? piece.toLowerCase() : piece.normalize("NFC").toLowerCase().replaceAll("’", "'");
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

/** Tells where each word of a piece stands. */
export function eachWord(
  piece: string,
  budget: SegmentingBudget,
  hear: (text: string, start: number, end: number) => void,
): void {
  if (ASCII.test(piece)) {
    eachAsciiWord(piece, hear);
    return;
  }
  for (const { 0: run, 1: unspaced, index } of piece.matchAll(RUNS)) {
    if (unspaced !== undefined) for (const word of segment(unspaced, budget)) hear(word, 0, word.length);
    else if (run.length <= WORD_CHARS_MAX) hear(piece, index, index + run.length);
  }
}

/** The same for plain ASCII, which needs no tables of characters and takes a tenth of the time. */
function eachAsciiWord(piece: string, hear: (text: string, start: number, end: number) => void): void {
  let start = -1;
  for (let at = 0; at < piece.length; at += 1) {
    if (isWordUnit[piece.charCodeAt(at)] === 1) {
      if (start === -1) start = at;
      continue;
    }
    if (start === -1) continue;
    const isInside = piece.charCodeAt(at) === APOSTROPHE && isWordUnit[piece.charCodeAt(at + 1)] === 1;
    if (isInside) continue;
    if (at - start <= WORD_CHARS_MAX) hear(piece, start, at);
    start = -1;
  }
  if (start !== -1 && piece.length - start <= WORD_CHARS_MAX) hear(piece, start, piece.length);
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
