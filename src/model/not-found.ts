// What is said everywhere of something that was named and is not there.
import { type Rejection, reject } from "./rejection.js";

export type Noun = "entry" | "interaction" | "memory" | "session";

/** Nobody needs more of a name that is none. */
const NAME_CHARS = 128;

export function notFound(
  noun: Noun,
  name: unknown,
  more: { readonly field?: string; readonly hint?: string; readonly orElse?: string } = {},
): Rejection {
  const { orElse = "", ...details } = more;
  const message = `there is no ${noun} ${JSON.stringify(String(name).slice(0, NAME_CHARS))}${orElse}`;
  return reject({ code: `${noun}_not_found`, message, ...details });
}
