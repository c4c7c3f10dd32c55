// Values that the user registered to be masked, and the forms in which a text may contain them.
import { limits } from "../../model/limits.js";
import { type Rejection, reject } from "../../model/rejection.js";

/** The values, each once. Values that cannot be masked are refused; the message does not repeat them. */
export function parseMaskValues(given: unknown): readonly string[] | Rejection {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) return invalid("mask must be a list of texts");
  const values = new Set<string>();
  for (const [index, value] of given.entries()) {
    if (typeof value !== "string") return invalid(`item ${index + 1} of mask is not a text`);
    const trimmed = value.trim();
    if ([...trimmed].length < limits.masked_value_chars_min) {
      return invalid(`item ${index + 1} of mask has fewer than ${limits.masked_value_chars_min} characters`);
    }
    values.add(trimmed);
  }
  return [...values];
}

/** A value as it is, and as written in a JSON string or a URL, each form once. */
export function formsOf(value: string): readonly string[] {
  const spellings = [...new Set([value, value.normalize("NFC"), value.normalize("NFD")])];
  return [...new Set(spellings.flatMap((spelling) => [spelling, ...jsonForms(spelling), ...addressForms(spelling)]))];
}

/** Writers of JSON differ in what they escape; and JSON often stands in a string of JSON. */
function jsonForms(value: string): readonly string[] {
  const json = insideJson(value);
  const ascii = json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  // Whole escapes are checked, because after an escaped backslash a u is a letter.
  const upper = ascii.replace(/\\(?:u[0-9a-f]{4}|.)/g, (found) =>
    found.startsWith("\\u") ? `\\u${found.slice(2).toUpperCase()}` : found,
  );
  const forms = [json, ascii, upper].flatMap((form) => [form, form.replaceAll("/", "\\/")]);
  return [...forms, ...forms.map(insideJson)];
}

function insideJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** As part of a URL, as a whole URL, and as form data. */
function addressForms(value: string): readonly string[] {
  if (!value.isWellFormed()) return [];
  const part = encodeURIComponent(value);
  const strict = part.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  const forms = [part, strict, ...[part, strict].map((text) => text.replaceAll("%20", "+")), form, encodeURI(value)];
  return [...forms, ...forms.map((text) => text.replace(/%[0-9A-F]{2}/g, (found) => found.toLowerCase()))];
}

function invalid(message: string): Rejection {
  return reject({
    code: "field_invalid",
    field: "mask",
    message,
    hint: `A value needs ${limits.masked_value_chars_min} characters or more, or ordinary text would be masked too.`,
  });
}
