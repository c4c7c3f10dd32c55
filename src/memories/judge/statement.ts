// What a statement looks like: its limits, the form in which two are compared, and the project that it belongs to.

import type { MemoryType } from "../../model/memory.js";
import { codePoints } from "../../model/normalise.js";

const CHARS_MIN = 8;
export const STATEMENT_CHARS_MAX = 280;

/** Longer texts are rejected before they are looked through. */
const UNITS_MAX = 100_000;

/** A shorter quote could stand anywhere, unless it is all that was said. */
export const QUOTE_CHARS_MIN = 20;

/** Controls, formats, lone surrogates, and whatever else of Unicode is not visible. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]+/gu;
/** White space that is visible: a byte order mark separates nothing. */
const SPACES = /(?:(?!\ufeff)[\s\u0085])+/gu;
/** Marks that end sentences; those that belong to a name, as in C# or 100%, stay. */
const TRAILING_MARKS = new Set(".,;:!?…。！？；：、，．｡､—– ");
/** Marks that make another name of a word are no separators: C# is not C. */
const SEPARATORS = /(?:(?![#@%&])[\s\p{P}`])+/gu;

/** Types that may hold in every project. */
export const globalTypes: ReadonlySet<MemoryType> = new Set<MemoryType>(["preference", "identity"]);

/** A text without invisible characters; its line breaks stay. */
export function visibleOf(text: string): string {
  return text.replace(INVISIBLE, (run) => run.replaceAll(/[^\t\n\r]/gu, ""));
}

/** A text as a statement, or why it cannot be one. */
export function formOf(text: string): { readonly statement: string } | { readonly flaw: string } {
  if (text.length > UNITS_MAX) return { flaw: `has more than ${STATEMENT_CHARS_MAX} characters` };
  const statement = cleaned(text);
  const chars = codePoints(statement);
  if (chars < CHARS_MIN)
    return {
      flaw: `has ${chars} ${chars === 1 ? "character" : "characters"}, and a statement needs at least ${CHARS_MIN}`,
    };
  if (chars > STATEMENT_CHARS_MAX)
    return { flaw: `has ${chars} characters, and a statement may have at most ${STATEMENT_CHARS_MAX}` };
  return { statement };
}

/** White space collapsed, invisible characters and trailing punctuation gone. */
function cleaned(text: string): string {
  const visible = text.replace(SPACES, " ").replace(INVISIBLE, "").replace(SPACES, " ").trim();
  let end = visible.length;
  while (end > 0 && TRAILING_MARKS.has(visible.charAt(end - 1))) end -= 1;
  return visible.slice(0, end);
}

const COUNTS = / \(ran \d+ times? in \d+ sessions?, \d+ without error\)$/;

/** A statement without the counts that a rule added to it. */
export function subjectOf(statement: string): string {
  return statement.endsWith(")") ? statement.replace(COUNTS, "") : statement;
}

/** The form in which statements are the same: case, white space and punctuation aside. */
export function comparable(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(SEPARATORS, " ").trim();
}

/** Programs wrap what they inject into tags. */
const TAG = /<\/?[a-z][\w-]{0,40}(?:\s[^<>]{0,200})?>/gi;

/** The comparable form with a space at either end, so whole words can be searched for in it. */
export function wordsOf(text: string): string {
  return ` ${comparable(text.replaceAll(TAG, " "))} `;
}

/** The project that evidence from these projects leads to; undefined where there is none. */
export function projectAmong(projects: readonly string[], type: MemoryType): string | undefined {
  if (projects.length <= 1) return projects[0] ?? "";
  return globalTypes.has(type) ? "" : undefined;
}
