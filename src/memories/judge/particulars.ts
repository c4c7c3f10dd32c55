// The particulars of a statement: numbers, paths, addresses, flags and identifiers. A model that invents something
// invents one of these, and each of them can be looked for.

/** Scripts without spaces; a Latin name among them stands alone. */
const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}ー";
/** What stands between two spaces, or between characters of scripts that have none. */
const CHUNKS = new RegExp(`[^\\s${UNSPACED}、。，！？；：「」『』（）【】《》“”«»]+`, "gu");
const CODE_SPAN = /`([^`\n]{1,200})`/g;

const LEADING = /^["'‘’([{<,;:!?…*|=+—–]+/;
const TRAILING = /["'‘’)\]}>,;:!?….*|=—–]+$/;
const POSSESSIVE = /['’]s$/;

/** Written with the marks of paths or names, and yet words of a language. */
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

/** What makes a chunk more than a word of a language. */
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

/** A number with a unit or an ending: what must be found is the number. */
const NUMBER_WITH_UNIT = /^[+\-$€£#~<>≤≥]?(\p{Nd}+(?:[.,:]\p{Nd}+)*)[-‑]?(?:\p{L}{0,12}|[%°€$+])$/u;

const IS_NAME = /^\p{L}+$/u;

export function particularsOf(statement: string): readonly string[] {
  const text = statement.normalize("NFKC");
  const spans = [...text.matchAll(CODE_SPAN)].map(([, code = ""]) => code.trim()).filter((code) => code !== "");
  const chunks = [...text.replaceAll("`", " ").matchAll(CHUNKS)].map(([chunk]) => bare(chunk));
  return [...new Set([...spans, ...chunks.filter(isParticular)])];
}

/** Whether it stands in a text as it is, and not as a part of something longer. */
export function standsIn(particular: string, text: string): boolean {
  const whole = text.normalize("NFKC");
  if (occursAlone(particular, whole)) return true;
  // TypeScript is typescript to whoever types it.
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
    if (!goesOn(whole.slice(Math.max(0, at - 2), at), part, "before")) {
      if (!goesOn(whole.slice(at + part.length, at + part.length + 2), part, "after")) return true;
    }
  }
  return false;
}

const ENDS_IN_WORD = new RegExp(`[[\\p{L}\\p{M}\\p{Nd}_]--[${UNSPACED}]]$`, "v");
const BEGINS_WITH_WORD = new RegExp(`^[[\\p{L}\\p{M}\\p{Nd}_]--[${UNSPACED}]]`, "v");
/** 20 is not in 20.19, and 19 is not. */
const ENDS_IN_DECIMALS = /\p{Nd}[.,]$/u;
const BEGINS_WITH_DECIMALS = /^[.,]\p{Nd}/u;

/** Whether what stands beside a part makes it a part of something longer. */
function goesOn(beside: string, part: string, side: "before" | "after"): boolean {
  const edge = side === "before" ? BEGINS_WITH_WORD.test(part) : ENDS_IN_WORD.test(part);
  const isDigit = /\p{Nd}/u.test((side === "before" ? part[0] : part.at(-1)) ?? "");
  if (side === "before") return (edge && ENDS_IN_WORD.test(beside)) || (isDigit && ENDS_IN_DECIMALS.test(beside));
  return (edge && BEGINS_WITH_WORD.test(beside)) || (isDigit && BEGINS_WITH_DECIMALS.test(beside));
}
