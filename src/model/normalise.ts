// The form in which searches compare texts (NFC, then lower case), and the way back from it to the text as recorded.

/** Below this code unit no character combines with another, so that NFC changes nothing. */
const NEEDS_NFC = /[\u0300-\uffff]/;

export function normalise(text: string): string {
  return (NEEDS_NFC.test(text) ? text.normalize("NFC") : text).toLowerCase();
}

/** A range of a text in UTF-16 units, its end not included. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Where a character may join the one before it under NFC: marks, the second and third letters of a Hangul syllable, and
 * two vowel signs of Kirat Rai that are no marks. A test asks the runtime's own tables whether that is all.
 */
const CONTINUES = /^[\p{M}\u1160-\u11ff\u{16d67}\u{16d68}]/u;

/** Everything below U+0300 stands for itself, but for the one capital that has two small letters. */
const CHANGES_LENGTH = /\u0130|[\u0300-\uffff]/;

/** Long texts are passed over in blocks of this many units, of which only the lengths matter. */
const BLOCK_UNITS = 1_024;

/**
 * The range of `text` that became this range of `normalise(text)`. Where that begins or ends inside characters that are
 * normalised together, it is widened to all of them.
 */
export function originalRange(text: string, { start, end }: TextRange): TextRange {
  if (!CHANGES_LENGTH.test(text)) return { start, end };
  let at = 0;
  let normalisedAt = 0;
  for (;;) {
    const next = boundaryFrom(text, at + BLOCK_UNITS);
    const length = normalise(text.slice(at, next)).length;
    if (normalisedAt + length > start || next >= text.length) break;
    at = next;
    normalisedAt += length;
  }
  let from: number | undefined;
  while (at < text.length) {
    const next = boundaryFrom(text, at + 1);
    const original = text.slice(at, next);
    const normal = normalise(original);
    const normalEnd = normalisedAt + normal.length;
    // Where nothing was joined or moved, each unit stands for itself.
    const isPlain = normal.length === original.length && normal === original.toLowerCase();
    if (from === undefined && normalEnd > start) from = isPlain ? at + Math.max(start - normalisedAt, 0) : at;
    if (normalEnd >= end) return { start: from ?? at, end: isPlain ? at + (end - normalisedAt) : next };
    at = next;
    normalisedAt = normalEnd;
  }
  return { start: from ?? text.length, end: text.length };
}

/** The first place at or after `at` where a text may be cut without changing what either side is under NFC. */
export function boundaryFrom(text: string, at: number): number {
  let place = at;
  while (place < text.length && !isBoundary(text, place)) place += 1;
  return Math.min(place, text.length);
}

export function isBoundary(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return true;
  const unit = text.charCodeAt(at);
  if (unit < 0x300) return true;
  if (isLow(unit) && isHigh(text.charCodeAt(at - 1))) return false;
  return !CONTINUES.test(String.fromCodePoint(text.codePointAt(at) as number));
}

/** Whether a place lies inside a surrogate pair, which is one character. */
export function splitsPair(text: string, at: number): boolean {
  return at > 0 && at < text.length && isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Length in code points, which is what people count as characters more often than UTF-16 units. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(i + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      count -= 1;
      i += 1;
    }
  }
  return count;
}

/** The first `count` code points. */
export function firstCodePoints(text: string, count: number): string {
  // A code point has at most two units.
  return Array.from(text.slice(0, count * 2))
    .slice(0, count)
    .join("");
}
