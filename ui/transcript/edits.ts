// Edits as agents ask for them, a piece of a file and what takes its place, as the difference that they make.
import { plural } from "../words.js";

const pairs = [
  ["old_string", "new_string"],
  ["old_str", "new_str"],
  ["old_text", "new_text"],
  ["oldText", "newText"],
  ["oldString", "newString"],
] as const;

type Values = { readonly [name: string]: unknown };

/** The names of arguments that tell of edits, and these as a difference; undefined where there are none. */
export function editIn(args: Values): { readonly names: readonly string[]; readonly diff: string } | undefined {
  const own = diffOf(args);
  if (own !== undefined) return own;
  const { edits } = args;
  if (!Array.isArray(edits) || edits.length === 0) return undefined;
  const several = edits.map((edit: unknown) =>
    typeof edit === "object" && edit !== null ? diffOf(edit as Values)?.diff : undefined,
  );
  return several.includes(undefined) ? undefined : { names: ["edits"], diff: several.join("\n@@\n") };
}

function diffOf(values: Values): ReturnType<typeof editIn> {
  for (const [before, after] of pairs) {
    const [old, young] = [values[before], values[after]];
    if (typeof old === "string" && typeof young === "string") {
      return { names: [before, after], diff: linesOf(old, young).join("\n") };
    }
  }
  return undefined;
}

/** So much is shown of what stays, before and after what changes. */
const AROUND = 3;

/** What both begin and end with stands once. */
function linesOf(before: string, after: string): readonly string[] {
  const [old, young] = [split(before), split(after)];
  const shorter = Math.min(old.length, young.length);
  let head = 0;
  while (head < shorter && old[head] === young[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === young.at(-1 - tail)) tail += 1;
  const signed = (sign: string, lines: readonly string[]) => lines.map((line) => `${sign}${line}`);
  const [lead, rest] = [Math.min(head, AROUND), Math.min(tail, AROUND)];
  return [
    ...left(head - lead),
    ...signed(" ", old.slice(head - lead, head)),
    ...signed("-", old.slice(head, old.length - tail)),
    ...signed("+", young.slice(head, young.length - tail)),
    ...signed(" ", old.slice(old.length - tail, old.length - tail + rest)),
    ...left(tail - rest),
  ];
}

function left(count: number): readonly string[] {
  return count === 0 ? [] : [`@@ ${plural(count, "line")} alike @@`];
}

function split(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n");
}
