// Tokens that a line end has broken, in a terminal, a mail, a JSON string or between two strings of code.
import { isRandom } from "./plausible-values.js";

const PIECES_MAX = 8;
const PIECE_CHARS_MAX = 512;
const PIECE = new RegExp(String.raw`[\w+/=.-]{1,${PIECE_CHARS_MAX}}`, "y");
/** A line end, with what begins the next line; or the end of a string that another one follows. */
const BREAK =
  /(?:\\{0,2}\r?\n|\\{1,4}r?\\{0,4}n|=\r?\n)[ \t>|#*]{0,40}|\\{0,3}["'][ \t]{0,4}[+.\\]?[ \t]{0,4}\r?\n?[ \t]{0,40}[+.]?[ \t]{0,4}\\{0,3}["']/y;
const START = /(?<![\w-])|(?<=\\[nrt])/y;

/** A text without its line ends, and where they were. */
export interface Joined {
  readonly text: string;
  /** Where in the whole text a place in the joined one lies; a place between two pieces is the end of the first. */
  endAt(length: number): number;
  /** The lengths of the joined text up to each break. */
  readonly lengths: readonly number[];
}

/** What starts here and goes on behind line ends; undefined where it ends before one. */
export function joinedFrom(text: string, at: number): Joined | undefined {
  START.lastIndex = at;
  if (!START.test(text)) return undefined;
  const pieces: string[] = [];
  const ends: number[] = [];
  const lengths: number[] = [];
  let from = at;
  let length = 0;
  while (pieces.length < PIECES_MAX) {
    PIECE.lastIndex = from;
    const piece = PIECE.exec(text)?.[0];
    if (piece === undefined || (pieces.length > 0 && !isRest(piece))) break;
    pieces.push(piece);
    ends.push(PIECE.lastIndex);
    length += piece.length;
    lengths.push(length);
    BREAK.lastIndex = PIECE.lastIndex;
    if (!BREAK.test(text)) break;
    from = BREAK.lastIndex;
  }
  if (pieces.length < 2) return undefined;
  const endAt = (reached: number): number => {
    const index = lengths.findIndex((sum) => sum >= reached);
    return (ends[index] as number) - ((lengths[index] as number) - reached);
  };
  return { text: pieces.join(""), endAt, lengths };
}

/** The rest of a token is as random as its beginning. */
function isRest(piece: string): boolean {
  return isRandom(piece, 4) || (/^[\w-]{0,3}$/.test(piece) && /\d/.test(piece) && /[A-Za-z]/.test(piece));
}
