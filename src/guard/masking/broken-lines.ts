// Tokens that a line end has broken, in a terminal, a mail, a JSON string or between two strings of code.
import { isRandom } from "./plausible-values.js";

const PIECES_MAX = 8;
const PIECE_CHARS_MAX = 512;
const PIECE = new RegExp(String.raw`[\w+/=.-]{1,${PIECE_CHARS_MAX}}`, "y");
/** A line end, with what begins the next line; or the end of a string that another one follows. */
const BREAK =
  /(?:\\{0,2}\r?\n|\\{1,4}r?\\{0,4}n|=\r?\n)[ \t>|#*]{0,40}|\\{0,3}["'][ \t]{0,4}[+.\\]?[ \t]{0,4}\r?\n?[ \t]{0,40}[+.]?[ \t]{0,4}\\{0,3}["']/y;
const START = /(?<![\w-])|(?<=\\[nrt])/y;

/** What a break begins with. */
const BREAKS = new Set("\r\n\\\"'=");

/** A text without its line ends. */
export interface Joined {
  readonly text: string;
  /** How much of it there is up to each line end, and where that lies in the whole text. */
  readonly ends: readonly { readonly length: number; readonly end: number }[];
}

/** What starts here and goes on behind line ends; undefined where it ends before one. */
export function joinedFrom(text: string, at: number): Joined | undefined {
  if (!isStart(text, at)) return undefined;
  PIECE.lastIndex = at;
  if (!PIECE.test(text) || !BREAKS.has(text[PIECE.lastIndex] ?? "")) return undefined;
  const ends: { length: number; end: number }[] = [];
  let joined = "";
  let from = at;
  while (ends.length < PIECES_MAX) {
    PIECE.lastIndex = from;
    const piece = PIECE.exec(text)?.[0];
    if (piece === undefined || (ends.length > 0 && !isRest(piece))) break;
    joined += piece;
    ends.push({ length: joined.length, end: PIECE.lastIndex });
    BREAK.lastIndex = PIECE.lastIndex;
    if (!BREAK.test(text)) break;
    from = BREAK.lastIndex;
  }
  return ends.length < 2 ? undefined : { text: joined, ends };
}

function isStart(text: string, at: number): boolean {
  START.lastIndex = at;
  return START.test(text);
}

/** The rest of a token is as random as its beginning. */
function isRest(piece: string): boolean {
  return isRandom(piece, 4) || (/^[\w-]{0,3}$/.test(piece) && /\d/.test(piece) && /[A-Za-z]/.test(piece));
}
