// Options that do not exist: a misspelt one must not silently mean nothing, so it is refused with the one that was meant.
import { closest, distance } from "fastest-levenshtein";
import { RecorderError } from "./rejection.js";

/** So many letters may differ; beyond that a guess helps nobody. */
const LETTERS_MAX = 3;
const NAME_CHARS_MAX = 100;

/** The names of an interface's options; one that is missing, or is none, does not compile. */
export function optionNames<O>(names: { readonly [N in keyof Required<O>]: true }): readonly string[] {
  return Object.keys(names);
}

/** The options as they were given, once all of them are known to be options. Nothing given is no options. */
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

/** Why there is no such option, parameter or field, with the nearest one that there is. */
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
    message: `there is no ${what} ${JSON.stringify(name)} here`,
    hint: names.length === 0 ? `This call takes no ${what}s.` : `${guessOf(name, names)}${all}`,
  });
}

function guessOf(name: string, names: readonly string[]): string {
  const nearest = closest(name.toLowerCase(), names);
  const isNear = distance(name.toLowerCase(), nearest) <= Math.min(LETTERS_MAX, nearest.length - 1);
  return isNear ? `Did you mean ${nearest}? ` : "";
}
