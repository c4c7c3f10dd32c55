// Splits a text into sentences: they end with a mark, at a line break that is no wrapping, or with the text.

export interface Sentence {
  readonly text: string;
  /** Where it stands in the whole text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Longer runs are cut, so sentences are bounded. */
const SENTENCE_CHARS_MAX = 2_000;
/** A shorter line was ended by its writer, not wrapped. */
const WRAPPED_CHARS_MIN = 60;

/** Repetitions are bounded: a mark repeated a million times would take quadratic time. */
const END = /[.!?…]{1,8}["'”’»)\]*_`]{0,8}(?=\s|$)|[。！？｡]{1,8}["'”’»）」』]{0,8}|\n/g;
const ABBREVIATION =
  /(?:^|[\s("'“«])(?:e\.?g|i\.?e|etc|vs|cf|approx|no|nr|z\.?\s?b|d\.?\s?h|u\.?\s?a|bzw|ca|usw|p\.?\s?ex|sr|sra|dr|mr|mrs|ms|st|[A-Z])\.$/i;
const GOES_ON = /^[^\S\n]*\p{Ll}/u;
const BEGINS_BLOCK = /^[^\S\n]*(?:[-*+•>#|]|\d{1,3}[.)]|```|~~~|\n|$)/;
const LIST_NUMBER = /^[\s>]*\d{1,3}\.$/;

/** The sentences of a text with something in them, in order. */
export function* sentencesOf(text: string): Generator<Sentence> {
  let start = 0;
  for (const { 0: mark, index } of text.matchAll(END)) {
    const end = mark === "\n" ? index : index + mark.length;
    if (end <= start || !endsSentence(text, start, end, mark)) continue;
    yield* cut(text, start, end);
    start = end;
  }
  yield* cut(text, start, text.length);
}

function endsSentence(text: string, start: number, end: number, mark: string): boolean {
  const after = text.slice(end + Number(mark === "\n"), end + 40);
  if (mark === "\n") {
    const lineStart = text.lastIndexOf("\n", end - 1) + 1;
    const isWrapped = end - lineStart >= WRAPPED_CHARS_MIN && GOES_ON.test(after) && !BEGINS_BLOCK.test(after);
    return !isWrapped;
  }
  if (!mark.startsWith(".") || mark.length > 1) return true;
  const before = text.slice(Math.max(start, end - 12), end);
  if (end - start <= 8 && LIST_NUMBER.test(before)) return false;
  return !(GOES_ON.test(after) || ABBREVIATION.test(before));
}

function* cut(text: string, from: number, to: number): Generator<Sentence> {
  for (let at = from; at < to; at += SENTENCE_CHARS_MAX) {
    const chunk = text.slice(at, Math.min(at + SENTENCE_CHARS_MAX, to));
    const trimmed = chunk.trim();
    if (trimmed === "") continue;
    const start = at + chunk.indexOf(trimmed);
    yield { text: trimmed, start, end: start + trimmed.length };
  }
}
