// How long a text is to people, and its beginning.

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

/** The first so many of them. */
export function firstCodePoints(text: string, count: number): string {
  // A code point has at most two units.
  return Array.from(text.slice(0, count * 2))
    .slice(0, count)
    .join("");
}
