// Messages, calls and results as paragraphs, which are wrapped, and cut if they are long.
import { type ContentPart, givenText, partText } from "../../../model/content-parts.js";
import { fitText, formatCount, wrapText } from "./table.js";
import { beginningOf, type Colours, cleanText, type Pane } from "./terminal.js";

export interface Paragraph {
  readonly text: string;
  /** How many lines are shown; all by default. A single line is cut on a terminal, without a note about its length. */
  readonly linesMax?: number;
  /** The full length, if the text is only the beginning. */
  readonly chars?: number;
  readonly paint?: (text: string) => string;
}

/** Longer lines are hard to read. */
const LINE_WIDTH_MAX = 100;
/** How many characters are examined per line shown. */
const CHARS_PER_LINE_MAX = 400;
const CALL_LINES = 2;
/** Tool results and reasoning get fewer lines than messages. */
export const RESULT_LINES = 3;

export function roleColour(role: string, colours: Colours): (text: string) => string {
  if (role === "user") return colours.green;
  if (role === "assistant") return colours.cyan;
  return role === "tool" ? colours.yellow : colours.dim;
}

export function paragraphLines(paragraphs: readonly Paragraph[], columns: number | undefined, pane: Pane): string[] {
  const width = columns === undefined ? undefined : Math.min(columns, LINE_WIDTH_MAX);
  return paragraphs.flatMap(({ text, linesMax = Number.POSITIVE_INFINITY, chars = 0, paint = (line) => line }) => {
    const looked = cleanText(beginningOf(text, linesMax * CHARS_PER_LINE_MAX)).replace(/^\n+|\s+$/g, "");
    if (linesMax === 1 && width !== undefined) return [paint(fitText(looked.replace(/\s+/g, " "), width))];
    const lines = wrapText(looked, width);
    const all = Math.max(chars, text.length);
    const isWhole = lines.length <= linesMax && text.length <= linesMax * CHARS_PER_LINE_MAX && text.length >= chars;
    if (isWhole) return lines.map(paint);
    const cut = `… ${formatCount(all)} characters in total`;
    return [...lines.slice(0, linesMax).map(paint), pane.colours.dim(cut)];
  });
}

/** A call: the tool and its arguments. */
export function callParagraph(call: { readonly name: string; readonly given: unknown }, colours: Colours): Paragraph {
  return { text: `${call.name} ${givenText(call.given)}`, linesMax: CALL_LINES, paint: colours.yellow };
}

/** The parts of a message, each with its number of lines. */
export function pieceParagraphs(
  pieces: readonly ContentPart[],
  look: {
    readonly colours: Colours;
    readonly saidLinesMax: number;
    readonly callLinesMax?: number;
    readonly resultLinesMax?: number;
  },
): readonly Paragraph[] {
  const { colours, saidLinesMax, callLinesMax = CALL_LINES, resultLinesMax = RESULT_LINES } = look;
  const lookByPiece = {
    text: { linesMax: saidLinesMax },
    call: { linesMax: callLinesMax, paint: colours.yellow },
    result: { linesMax: resultLinesMax },
    thought: { linesMax: resultLinesMax, paint: colours.dim },
    thing: { linesMax: resultLinesMax, paint: colours.dim },
  } satisfies { readonly [is in ContentPart["is"]]: Omit<Paragraph, "text"> };
  return pieces.map((piece) => ({
    text: partText(piece),
    ...lookByPiece[piece.is],
    ...(piece.is === "result" && piece.failed ? { paint: colours.red } : {}),
  }));
}
