// Recorded text within Markdown: it reads as recorded, and makes no HTML, image, link, emphasis or list.
import { stripVTControlCharacters } from "node:util";

/** Characters that have a meaning at the start of a line. */
const OPENING = /^(?=#{1,6}(?:\s|$)|[-+](?:\s|$)|[-_=]{3}|~~~)|^(\d{1,9})(?=[.)](?:\s|$))/;
/** Characters that begin HTML, links, images, code and entities, and a backslash that would cancel an escape. */
const SPEAKING = /[<>[\]`*]|&(?=#?\w{1,31};)|\\(?=[!-/:-@[-`{-~])/g;
/** What renderers turn into links automatically. */
const ADDRESS = /(?<=\b[a-z][a-z0-9+.-]{1,31}:)(?=\/\/)|(?<=\bwww)(?=\.)/gi;

/** The text on one line. */
export function escapeMarkdown(text: string): string {
  const line = text.replace(/\r\n?|[\t\n\v\f\u0085\u2028\u2029]/g, " ");
  return stripVTControlCharacters(line)
    .replace(/\p{Cc}/gu, "")
    .replace(SPEAKING, (char) => `\\${char}`)
    .replace(ADDRESS, "\\")
    .trimStart()
    .replace(OPENING, (_, number: string | undefined) => `${number ?? ""}\\`)
    .toWellFormed();
}
