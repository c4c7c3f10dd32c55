// Values that the user registered to be masked, and the forms in which they may stand in a text.
import { type Rejection, reject } from "../../model/rejection.js";

/** Shorter ones stand in ordinary words, and everything would be full of markers. */
export const VALUE_CHARS_MIN = 6;

/** The values, each once; those that cannot be masked are refused without being repeated. */
export function parseMaskValues(given: unknown): readonly string[] | Rejection {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) return invalid("mask must be a list of texts");
  const values = new Set<string>();
  for (const [index, value] of given.entries()) {
    if (typeof value !== "string") return invalid(`item ${index + 1} of mask is not a text`);
    const trimmed = value.trim();
    if ([...trimmed].length < VALUE_CHARS_MIN) {
      return invalid(`item ${index + 1} of mask has fewer than ${VALUE_CHARS_MIN} characters`);
    }
    values.add(trimmed);
  }
  return [...values];
}

/** As it is, and as it reads inside a JSON string or an address. */
export function formsOf(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const forms = [value, json, JSON.stringify(json).slice(1, -1)];
  return value.isWellFormed() ? [...forms, encodeURIComponent(value)] : forms;
}

function invalid(message: string): Rejection {
  return reject({
    code: "field_invalid",
    field: "mask",
    message,
    hint: `A value needs ${VALUE_CHARS_MIN} characters or more, or ordinary text would be masked too.`,
  });
}
