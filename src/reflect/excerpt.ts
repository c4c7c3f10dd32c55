// The one place where recorded text enters a report: on one line, and as much of it as a line shows.

/** What hides secrets in a text before any of it is shown. */
export type Mask = (text: string) => string;

const CHARS = 120;
/** Much more than is shown, so that no secret is cut in two before it can be told. */
const UNITS_LOOKED_AT = 2_000;

/** As much of a text as anything is said about. */
export function shown(text: string, mask: Mask): string {
  return mask(text.slice(0, UNITS_LOOKED_AT));
}

/** The first 120 code points, line breaks as spaces. */
export function excerpt(text: string, mask: Mask): string {
  const line = shown(text, mask)
    .slice(0, CHARS * 2 + 1)
    .replace(/\r\n?|[\n\v\f\u0085\u2028\u2029]/g, " ");
  return copyOf([...line].slice(0, CHARS).join(""));
}

/** The same text in memory of its own: a piece of a longer text would keep all of that text alive. */
export function copyOf(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}
