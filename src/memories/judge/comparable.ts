// The form in which statements are the same: case, white space and punctuation aside.

/** Marks that make another name of a word are kept: C# is not C. */
const SEPARATORS = /(?:(?![#@%&])[\s\p{P}`])+/gu;

export function comparable(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(SEPARATORS, " ").trim();
}
