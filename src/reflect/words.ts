// Words of a text: runs of letters where spaces separate them, and what Intl.Segmenter finds where they do not.

/** Scripts that are written without spaces between words, and the mark that lengthens a Japanese vowel. */
const UNSPACED =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー]";
const SPACED = `[[\\p{L}\\p{M}\\p{N}_]--${UNSPACED}]`;
/** The first group is a run without spaces; anything else is a word, apostrophes inside it included. */
const RUNS = new RegExp(`(${UNSPACED}[${UNSPACED}\\p{M}]*)|${SPACED}+(?:'${SPACED}+)*`, "gv");
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant.
const ASCII = /^[\u0000-\u007f]*$/;

/** Texts are read in chunks, so memory stays bounded. */
const CHUNK_CHARS = 64 * 1024;
const CUT_CHARS = 256;
/** Longer than any sentence: segmenting an endless run would take too long. */
const RUN_CHARS = 500;
/** Longer ones are keys, hashes and encoded files. */
const WORD_CHARS_MAX = 64;

const APOSTROPHE = 0x27;
/** ASCII letters, digits and the underscore; chunks are in lower case. */
const isWordUnit = Uint8Array.from({ length: 128 }, (_, unit) => Number(/[a-z0-9_]/.test(String.fromCharCode(unit))));

const segmenter = new Intl.Segmenter("und", { granularity: "word" });

/** How much may still be segmented, which takes some 2 µs a character, 30 times as long as everything else. */
export interface SegmentingBudget {
  chars: number;
}

/** The text in chunks, in the form in which words are compared: NFC, lower case, one kind of apostrophe. */
export function* chunksOf(text: string, charsMax: number): Generator<string> {
  const end = Math.min(text.length, charsMax);
  let start = 0;
  while (start < end) {
    const next = end - start <= CHUNK_CHARS ? end : cutBefore(text, start + CHUNK_CHARS);
    const chunk = text.slice(start, next);
    yield ASCII.test(chunk) ? chunk.toLowerCase() : chunk.normalize("NFC").toLowerCase().replaceAll("’", "'");
    start = next;
  }
}

/** The last white space shortly before this index, so no word is split; without one, this index. */
function cutBefore(text: string, place: number): number {
  for (let at = place; at > place - CUT_CHARS; at -= 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x20 || unit === 0x0a || unit === 0x3002) return at;
  }
  return place;
}

/** Calls the visitor with each word of a chunk. */
export function eachWord(
  chunk: string,
  budget: SegmentingBudget,
  visit: (text: string, start: number, end: number) => void,
): void {
  if (ASCII.test(chunk)) {
    eachAsciiWord(chunk, visit);
    return;
  }
  for (const { 0: run, 1: unspaced, index } of chunk.matchAll(RUNS)) {
    if (unspaced !== undefined) for (const word of segment(unspaced, budget)) visit(word, 0, word.length);
    else if (run.length <= WORD_CHARS_MAX) visit(chunk, index, index + run.length);
  }
}

/** The same for ASCII, in a tenth of the time. */
function eachAsciiWord(chunk: string, visit: (text: string, start: number, end: number) => void): void {
  let start = -1;
  for (let at = 0; at < chunk.length; at += 1) {
    if (isWordUnit[chunk.charCodeAt(at)] === 1) {
      if (start === -1) start = at;
      continue;
    }
    if (start === -1) continue;
    const isInside = chunk.charCodeAt(at) === APOSTROPHE && isWordUnit[chunk.charCodeAt(at + 1)] === 1;
    if (isInside) continue;
    if (at - start <= WORD_CHARS_MAX) visit(chunk, start, at);
    start = -1;
  }
  if (start !== -1 && chunk.length - start <= WORD_CHARS_MAX) visit(chunk, start, chunk.length);
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
