// The form in which searches compare texts (NFC, then lower case), and the mapping back to the recorded text.

/** Below this code unit no character combines with another, so NFC changes nothing. */
const NEEDS_NFC = /[\u0300-\uffff]/;

export function normalise(text: string): string {
  return (NEEDS_NFC.test(text) ? text.normalize("NFC") : text).toLowerCase();
}

/** A range of a text in UTF-16 units; the end is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Characters that may combine with the one before under NFC: marks, the second and third letters of a Hangul syllable,
 * and two vowel signs of Kirat Rai that are not marks. A test compares this with the runtime's own tables.
 */
const CONTINUES = /^[\p{M}\u1160-\u11ff\u{16d67}\u{16d68}]/u;

/** Everything below U+0300 maps to itself, except for the one capital with two small letters. */
const CHANGES_LENGTH = /\u0130|[\u0300-\uffff]/;

/** Long texts are skipped in blocks of this many units, by their lengths only. */
const BLOCK_UNITS = 1_024;

/**
 * The range of `text` that became this range of `normalise(text)`. If it begins or ends inside characters that are
 * normalised together, it is extended to all of them.
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
    // If nothing was combined or moved, each unit maps to itself.
    const isPlain = normal.length === original.length && normal === original.toLowerCase();
    if (from === undefined && normalEnd > start) from = isPlain ? at + Math.max(start - normalisedAt, 0) : at;
    if (normalEnd >= end) return { start: from ?? at, end: isPlain ? at + (end - normalisedAt) : next };
    at = next;
    normalisedAt = normalEnd;
  }
  return { start: from ?? text.length, end: text.length };
}

/** The first index from `at` on where splitting the text does not change how either side is normalised. */
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

/** Whether an index is inside a surrogate pair. */
export function splitsPair(text: string, at: number): boolean {
  return at > 0 && at < text.length && isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Length in code points, which is closer to what people count than UTF-16 units. */
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

/** The same text by itself: a part of a text keeps the whole of it in memory, and one may be as large as an entry. */
export function detached(part: string): string {
  return Buffer.from(part, "utf16le").toString("utf16le");
}

/** The first `count` code points. */
export function firstCodePoints(text: string, count: number): string {
  // A code point has at most two units.
  return Array.from(text.slice(0, count * 2))
    .slice(0, count)
    .join("");
}
