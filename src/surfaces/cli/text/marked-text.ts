// Marks in a text that is cleaned and wrapped for a terminal: they are carried along as characters that cannot occur in it.
import { cleanLine } from "./terminal.js";

/** Noncharacters: Unicode promises that they mean nothing, and they are taken out of what was recorded. */
const OPEN = "\ufdd0";
const CLOSE = "\ufdd1";
const MARKS = /[\ufdd0\ufdd1]/g;

export interface MarkedLine {
  /** One line, with the places of the marks in it. */
  readonly text: string;
  /** Paints what is between the marks and takes them away. */
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

/** Line by line, so that no mark runs over the edge of a line. */
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
