// The change that an edit makes, as a diff of the texts in its arguments.
import { plural } from "../format.js";

/** Names under which agents pass a text and its replacement. */
const editArguments = [
  ["old_string", "new_string"],
  ["old_str", "new_str"],
  ["old_text", "new_text"],
  ["oldText", "newText"],
  ["oldString", "newString"],
] as const;

export type Values = { readonly [name: string]: unknown };

/** An edit in the arguments as a diff, with the names of the arguments it uses; undefined if there is none. */
export function findEdit(args: Values): { readonly names: readonly string[]; readonly diff: string } | undefined {
  const own = diffOf(args);
  if (own !== undefined) return own;
  const { edits } = args;
  if (!Array.isArray(edits) || edits.length === 0) return undefined;
  const several = edits.map((edit: unknown) =>
    typeof edit === "object" && edit !== null ? diffOf(edit as Values)?.diff : undefined,
  );
  return several.includes(undefined) ? undefined : { names: ["edits"], diff: several.join("\n@@\n") };
}

function diffOf(values: Values): ReturnType<typeof findEdit> {
  for (const [before, after] of editArguments) {
    const [old, young] = [values[before], values[after]];
    if (typeof old === "string" && typeof young === "string") {
      return { names: [before, after], diff: diffLines(old, young).join("\n") };
    }
  }
  return undefined;
}

/** Unchanged lines shown before and after a change. */
const DIFF_CONTEXT_LINES = 3;

/** Finds the common beginning and end; everything in between counts as changed. */
function diffLines(before: string, after: string): readonly string[] {
  const [old, young] = [split(before), split(after)];
  const shorter = Math.min(old.length, young.length);
  let head = 0;
  while (head < shorter && old[head] === young[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === young.at(-1 - tail)) tail += 1;
  const signed = (sign: string, lines: readonly string[]) => lines.map((line) => `${sign}${line}`);
  const [lead, rest] = [Math.min(head, DIFF_CONTEXT_LINES), Math.min(tail, DIFF_CONTEXT_LINES)];
  return [
    ...skippedLines(head - lead),
    ...signed(" ", old.slice(head - lead, head)),
    ...signed("-", old.slice(head, old.length - tail)),
    ...signed("+", young.slice(head, young.length - tail)),
    ...signed(" ", old.slice(old.length - tail, old.length - tail + rest)),
    ...skippedLines(tail - rest),
  ];
}

function skippedLines(count: number): readonly string[] {
  return count === 0 ? [] : [`@@ ${plural(count, "line")} unchanged @@`];
}

function split(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n");
}
