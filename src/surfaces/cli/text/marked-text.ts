// Marks matches in a text that is then cleaned and wrapped: as characters that cannot occur in it.
import { cleanLine } from "./terminal.js";

/** Unicode noncharacters, which are removed from recorded text. */
const OPEN = "\ufdd0";
const CLOSE = "\ufdd1";
const MARKS = /[\ufdd0\ufdd1]/g;

export interface MarkedLine {
  /** One line, with the marks in it. */
  readonly text: string;
  /** Paints the text between the marks, and removes them. */
  readonly paint: (text: string) => string;
}

export function markedLine(
  hit: { readonly snippet: string; readonly matches: readonly (readonly [start: number, end: number])[] },
  mark: (text: string) => string,
): MarkedLine {
  let text = "";
  let at = 0;
  for (const [start, end] of hit.matches) {
    text += `${plain(hit.snippet.slice(at, start))}${OPEN}${plain(hit.snippet.slice(start, end))}${CLOSE}`;
    at = end;
  }
  text += plain(hit.snippet.slice(at));
  return { text: cleanLine(text, text.length), paint: (wrapped) => paint(wrapped, mark) };
}

function plain(text: string): string {
  return text.replace(MARKS, "");
}

/** Line by line: a mark must not continue over the end of a line. */
function paint(wrapped: string, mark: (text: string) => string): string {
  let isMarked = false;
  return wrapped
    .split("\n")
    .map((line) =>
      line
        .split(/(?=[\ufdd0\ufdd1])/)
        .map((piece) => {
          if (piece.startsWith(OPEN)) isMarked = true;
          if (piece.startsWith(CLOSE)) isMarked = false;
          const text = piece.replace(MARKS, "");
          return isMarked && text.trim() !== "" ? mark(text) : text;
        })
        .join(""),
    )
    .join("\n");
}
