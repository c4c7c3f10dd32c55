// The particulars of a statement: numbers, paths, addresses, flags and identifiers. What a model invents is mostly one of these, and
// each can be searched for.

/** Scripts without spaces; a Latin name among them stands alone. */
const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}ー";
/** What stands between two spaces, or between characters of scripts without spaces. */
const CHUNKS = new RegExp(`[^\\s${UNSPACED}、。，！？；：「」『』（）【】《》“”«»]+`, "gu");
const CODE_SPAN = /`([^`\n]{1,200})`/g;

const LEADING = /^["'‘’([{<,;:!?…*|=+—–]+/;
const TRAILING = /["'‘’)\]}>,;:!?….*|=—–]+$/;
const POSSESSIVE = /['’]s$/;

/** Words of a language that look like paths or names. */
const PROSE = new Set([
  "and/or",
  "either/or",
  "yes/no",
  "he/she",
  "his/her",
  "on/off",
  "true/false",
  "e.g",
  "i.e",
  "n/a",
  "w/o",
  "z.b",
  "d.h",
  "p.ex",
  "u.a",
]);

/** What tells a particular from a word of a language. */
const PARTICULAR: readonly RegExp[] = [
  /\p{Nd}/u,
  // Paths, and names of files.
  /[\\/]/,
  /[^.\s]\.[^.\s]/,
  /^\.[\p{L}_]/u,
  /^~/,
  // Addresses.
  /.@.|^@\p{L}/u,
  // Flags.
  /^--?\p{L}/u,
  // Identifiers.
  /_/,
  /\p{Ll}\p{Lu}/u,
  /\p{L}\(\)$/u,
  /::|->/,
  /^[$#]\p{L}/u,
];

/** A number with a unit or an ending: only the number must be found. */
const NUMBER_WITH_UNIT = /^[+\-$€£#~<>≤≥]?(\p{Nd}+(?:[.,:]\p{Nd}+)*)[-‑]?(?:\p{L}{0,12}|[%°€$+])$/u;

const IS_NAME = /^\p{L}+$/u;

export function particularsOf(statement: string): readonly string[] {
  const text = statement.normalize("NFKC");
  const spans = [...text.matchAll(CODE_SPAN)].map(([, code = ""]) => code.trim()).filter((code) => code !== "");
  const chunks = [...text.replaceAll("`", " ").matchAll(CHUNKS)].map(([chunk]) => bare(chunk));
  return [...new Set([...spans, ...chunks.filter(isParticular)])];
}

/** Whether a text has it as a whole, not as a part of something longer. */
export function standsIn(particular: string, text: string): boolean {
  const whole = text.normalize("NFKC");
  if (occursAlone(particular, whole)) return true;
  // People type TypeScript in lower case.
  if (IS_NAME.test(particular)) return occursAlone(particular.toLowerCase(), whole.toLowerCase());
  const number = NUMBER_WITH_UNIT.exec(particular)?.[1];
  return number !== undefined && number !== particular && occursAlone(number, whole);
}

function isParticular(chunk: string): boolean {
  return chunk !== "" && !PROSE.has(chunk.toLowerCase()) && PARTICULAR.some((pattern) => pattern.test(chunk));
}

function bare(chunk: string): string {
  const ended = chunk.replace(LEADING, "").replace(POSSESSIVE, "");
  const call = /^[^()]+\(\)/.exec(ended)?.[0];
  return call ?? ended.replace(TRAILING, "").replace(POSSESSIVE, "");
}

function occursAlone(part: string, whole: string): boolean {
  for (let at = whole.indexOf(part); at !== -1; at = whole.indexOf(part, at + 1)) {
    if (!isContinued(whole.slice(Math.max(0, at - 2), at), part, "before")) {
      if (!isContinued(whole.slice(at + part.length, at + part.length + 2), part, "after")) return true;
    }
  }
  return false;
}

const ENDS_IN_WORD = new RegExp(`[[\\p{L}\\p{M}\\p{Nd}_]--[${UNSPACED}]]$`, "v");
const BEGINS_WITH_WORD = new RegExp(`^[[\\p{L}\\p{M}\\p{Nd}_]--[${UNSPACED}]]`, "v");
/** Neither 20 nor 19 is in 20.19. */
const ENDS_IN_DECIMALS = /\p{Nd}[.,]$/u;
const BEGINS_WITH_DECIMALS = /^[.,]\p{Nd}/u;

/** Whether the neighbouring text makes it a part of something longer. */
function isContinued(neighbour: string, part: string, side: "before" | "after"): boolean {
  const edge = side === "before" ? BEGINS_WITH_WORD.test(part) : ENDS_IN_WORD.test(part);
  const isDigit = /\p{Nd}/u.test((side === "before" ? part[0] : part.at(-1)) ?? "");
  if (side === "before") return (edge && ENDS_IN_WORD.test(neighbour)) || (isDigit && ENDS_IN_DECIMALS.test(neighbour));
  return (edge && BEGINS_WITH_WORD.test(neighbour)) || (isDigit && BEGINS_WITH_DECIMALS.test(neighbour));
}
