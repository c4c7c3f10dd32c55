// The user's own values to mask: from a file, the environment and the configuration, which add up; never from a flag,
// since every user of the machine can read those.
import { readFileSync } from "node:fs";
import { limits } from "../../model/limits.js";
import { WrongUse } from "./failures.js";

export interface MaskSources {
  /** Path of a file with a value on each line, and the words that name where it was found. */
  readonly file: { readonly value: unknown; readonly origin: string } | undefined;
  /** Values by line. */
  readonly variable: string | undefined;
  /** A list of texts. */
  readonly config: unknown;
}

export function readMaskValues({ file, variable, config }: MaskSources): readonly string[] {
  const values = [
    ...(file === undefined ? [] : valuesOf(linesOf(readLines(file)), file.origin)),
    ...valuesOf(linesOf(variable ?? ""), "HANSARD_MASK"),
    ...valuesOf(config ?? [], "mask in hansard.config.json"),
  ];
  return [...new Set(values)];
}

function readLines({ value, origin }: { readonly value: unknown; readonly origin: string }): string {
  try {
    if (typeof value === "string") return readFileSync(value, "utf8");
  } catch (error) {
    const { message } = error as NodeJS.ErrnoException;
    throw invalid(origin, `the file of ${origin} cannot be read (${message})`);
  }
  throw invalid(origin, `${origin} must name a file`);
}

function linesOf(text: string): readonly string[] {
  return text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Says which value is wrong by its number: it is a secret, and errors are kept in logs. */
function valuesOf(given: unknown, origin: string): readonly string[] {
  if (!Array.isArray(given)) throw invalid(origin, `${origin} must be a list of texts`);
  return given.map((value: unknown, index) => {
    if (typeof value !== "string") throw invalid(origin, `value ${index + 1} of ${origin} is not a text`);
    const trimmed = value.trim();
    if ([...trimmed].length >= limits.masked_value_chars_min) return trimmed;
    throw invalid(origin, `value ${index + 1} of ${origin} has fewer than ${limits.masked_value_chars_min} characters`);
  });
}

function invalid(field: string, message: string): WrongUse {
  const hint =
    "Values to mask need 6 characters or more, or ordinary text would be masked too; a file has one on a line.";
  return new WrongUse({ code: "setting_invalid", field, message, hint });
}
