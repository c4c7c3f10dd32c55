// The first gate: a statement is a line of 8 to 280 characters with nothing invisible in it.
import { codePoints } from "../../../model/normalise.js";
import type { Gate } from "./gate.js";

const CHARS_MIN = 8;
export const STATEMENT_CHARS_MAX = 280;

/** No statement has so many bytes; what does is not even looked through. */
const UNITS_MAX = 100_000;

/** Controls, formats, halves of pairs, and what else of Unicode leaves no trace on a page. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]+/gu;
/** White space that is not itself invisible: a mark of byte order separates nothing. */
const SPACES = /(?:(?!\ufeff)[\s\u0085])+/gu;
/** Marks that end sentences; those that belong to a name, such as in C# or 100%, stay. */
const TRAILING_MARKS = new Set(".,;:!?…。！？；：、，．｡､—– ");

/** A text without what nobody sees in it; its lines stay. */
export function visibleOf(text: string): string {
  return text.replace(INVISIBLE, (run) => run.replaceAll(/[^\t\n\r]/gu, ""));
}

export const form: Gate = (trial) => {
  const formed = formOf(trial.content);
  return "flaw" in formed ? { dropped: `It ${formed.flaw}.` } : { passed: { ...trial, content: formed.statement } };
};

/** A text as a statement, or what keeps it from being one. */
export function formOf(text: string): { readonly statement: string } | { readonly flaw: string } {
  if (text.length > UNITS_MAX) return { flaw: `has more than ${STATEMENT_CHARS_MAX} characters` };
  const statement = cleaned(text);
  const chars = codePoints(statement);
  if (chars < CHARS_MIN)
    return {
      flaw: `has ${chars} ${chars === 1 ? "character" : "characters"}, and a statement has at least ${CHARS_MIN}`,
    };
  if (chars > STATEMENT_CHARS_MAX)
    return { flaw: `has ${chars} characters, and a statement has at most ${STATEMENT_CHARS_MAX}` };
  return { statement };
}

/** White space collapsed, invisible characters and trailing punctuation gone. */
function cleaned(text: string): string {
  const visible = text.replace(SPACES, " ").replace(INVISIBLE, "").replace(SPACES, " ").trim();
  let end = visible.length;
  while (end > 0 && TRAILING_MARKS.has(visible.charAt(end - 1))) end -= 1;
  return visible.slice(0, end);
}
