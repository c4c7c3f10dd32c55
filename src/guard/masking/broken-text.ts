// Tokens that are broken by line ends, or by terminal codes and zero-width characters, which people do not see.
import { itemAt } from "../../model/item-at.js";
import { isRandom } from "./plausible-values.js";

const SOFT_HYPHEN = "\u00ad";
/** Zero-width characters. None is in Latin-1, and most texts are Latin-1, so searching them takes no time. */
const NO_WIDTH = "\u200b-\u200d\u2060\ufeff";
const ANY_NO_WIDTH = new RegExp(`[${NO_WIDTH}]`);
const UNSEEN_CHARS = new RegExp(`[${SOFT_HYPHEN}${NO_WIDTH}]{1,16}`, "g");
/** The first characters of such codes: raw, and as written in a JSON string or in code. */
export const codeAnchors: readonly string[] = [
  ...[..."0123456789mK"].map((next) => `\u001b[${next}`),
  ...["\\u001b[", "\\u001B[", "\\x1b[", "\\x1B[", "\\033[", "\\u200b", "\\u200B", "\\u200c", "\\u200C", "\\u200d"],
  ...["\\u200D", "\\u2060", "\\ufeff", "\\uFEFF", "\\u00ad", "\\u00AD"],
];
const UNSEEN = [
  String.raw`(?:\u001b|\\u001[bB]|\\x1[bB]|\\033)\[[0-9;:?]{0,32}[A-Za-z]`,
  `[${SOFT_HYPHEN}${NO_WIDTH}]`,
  String.raw`\\u(?:200[b-dB-D]|2060|[fF][eE][fF][fF]|00[aA][dD])`,
].join("|");
const EACH_UNSEEN = new RegExp(UNSEEN, "g");
/** Between two characters of a token or of a value, and not after the escape of a line end. */
const WITHIN = new RegExp(String.raw`(?<=[\w+/.=:"'-])(?<!\\[nrt])(?:${UNSEEN}){1,16}(?=[\w+/.=!#$%&@-])`, "y");
/** How far around such a place a token is searched; longer than most tokens. */
const NEAR_CHARS = 1024;

export function hasUnseenChars(text: string): boolean {
  return ANY_NO_WIDTH.test(text) || text.includes(SOFT_HYPHEN);
}

/**
 * The parts of a text, as people see them, around places where something invisible splits a run of characters. The
 * caller has found the offsets of codes already.
 */
export function unbrokenTexts(text: string, codes: readonly number[]): readonly PlainText[] {
  const chars = hasUnseenChars(text) ? [...text.matchAll(UNSEEN_CHARS)].map(({ index }) => index) : [];
  const places = [...codes, ...chars].filter((place) => isWithin(text, place)).sort((left, right) => left - right);
  const stretches: [number, number][] = [];
  for (const place of places) {
    const last = stretches.at(-1);
    if (last !== undefined && place - NEAR_CHARS <= last[1]) last[1] = place + NEAR_CHARS;
    else stretches.push([Math.max(0, place - NEAR_CHARS), place + NEAR_CHARS]);
  }
  return stretches.map(([start, end]) => new PlainText(text, start, end));
}

function isWithin(text: string, place: number): boolean {
  WITHIN.lastIndex = place;
  return WITHIN.test(text);
}

class PlainText {
  readonly text: string;
  /** Where each part begins in the plain text and in the whole one. */
  readonly #pieces: [plain: number, whole: number][];

  constructor(whole: string, start: number, end: number) {
    this.#pieces = [[0, start]];
    const stretch = whole.slice(start, end);
    let text = "";
    let from = 0;
    for (const { index, 0: unseen } of stretch.matchAll(EACH_UNSEEN)) {
      text += stretch.slice(from, index);
      from = index + unseen.length;
      this.#pieces.push([text.length, start + from]);
    }
    this.text = text + stretch.slice(from);
  }

  /** The range of the whole text that a range of the plain one comes from. */
  wholeRange(start: number, end: number): readonly [start: number, end: number] {
    return [this.#whole(start), this.#whole(end - 1) + 1];
  }

  #whole(at: number): number {
    let [low, high] = [0, this.#pieces.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (itemAt(this.#pieces, middle)[0] <= at) low = middle;
      else high = middle - 1;
    }
    const [plain, whole] = itemAt(this.#pieces, low);
    return whole + at - plain;
  }
}

const PIECES_MAX = 8;
const PIECE_CHARS_MAX = 512;
const PIECE = new RegExp(String.raw`[\w+/=.-]{1,${PIECE_CHARS_MAX}}`, "y");
/** A line end, with what begins the next line; or the end of a string that another one follows. */
const BREAK =
  /(?:\\{0,2}\r?\n|\\{1,4}r?\\{0,4}n|=\r?\n)[ \t>|#*]{0,40}|\\{0,3}["'][ \t]{0,4}[+.\\]?[ \t]{0,4}\r?\n?[ \t]{0,40}[+.]?[ \t]{0,4}\\{0,3}["']/y;
const START = /(?<![\w-])|(?<=\\[nrt])/y;

/** The first characters of a break. */
const BREAKS = new Set("\r\n\\\"'=");

/** A token without the line ends in it. */
interface JoinedLines {
  readonly text: string;
  /** Its length up to each line end, and where that is in the whole text. */
  readonly ends: readonly { readonly length: number; readonly end: number }[];
}

/** The token that starts here and continues after line ends; undefined if it ends before one. */
export function joinLines(text: string, at: number): JoinedLines | undefined {
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
