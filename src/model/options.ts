// Unknown options are refused with a suggestion: a misspelt one must not be ignored silently.
import { closest, distance } from "fastest-levenshtein";
import { RecorderError } from "./rejection.js";

/** A suggestion differs in at most this many letters. */
const LETTERS_MAX = 3;
const NAME_CHARS_MAX = 100;

/** The names of an interface's options; a missing or an extra one does not compile. */
export function optionNames<O>(names: { readonly [N in keyof Required<O>]: true }): readonly string[] {
  return Object.keys(names);
}

/** The options as given; throws if one of them has an unknown name. */
export function knownOptions<O extends object>(options: O | null | undefined, names: readonly string[]): O {
  if (options === undefined || options === null) return {} as O;
  if (typeof options !== "object" || Array.isArray(options)) {
    const hint = `Options are ${names.join(", ")}.`;
    throw new RecorderError({ code: "field_invalid", field: "options", message: "options must be an object", hint });
  }
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) throw notKnown("option", unknown, names);
  return options;
}

/** The rejection of an unknown option, parameter or field, with the nearest known one. */
export function notKnown(
  what: "option" | "parameter" | "field",
  given: string,
  names: readonly string[],
): RecorderError {
  const name = given.slice(0, NAME_CHARS_MAX);
  const all = `${what.charAt(0).toUpperCase()}${what.slice(1)}s are ${names.join(", ")}.`;
  return new RecorderError({
    code: "parameter_unknown",
    field: name,
    message: `unknown ${what} ${JSON.stringify(name)}`,
    hint: names.length === 0 ? `This call takes no ${what}s.` : `${guessOf(name, names)}${all}`,
  });
}

function guessOf(name: string, names: readonly string[]): string {
  const nearest = closest(name.toLowerCase(), names);
  const isNear = distance(name.toLowerCase(), nearest) <= Math.min(LETTERS_MAX, nearest.length - 1);
  return isNear ? `Did you mean ${nearest}? ` : "";
}
