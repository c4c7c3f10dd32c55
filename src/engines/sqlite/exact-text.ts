// Texts that SQLite has to hand back as they were: it writes half a character down, but reads another one.

/** What marks a text that is written as JSON; one that begins like it is written so as well. */
const MARK = "\u0001";

export function toExactText(text: string): string {
  return text.isWellFormed() && !text.startsWith(MARK) ? text : MARK + JSON.stringify(text);
}

export function fromExactText(stored: string): string {
  return stored.startsWith(MARK) ? (JSON.parse(stored.slice(MARK.length)) as string) : stored;
}
