// Hints that can be typed as they stand: where the store was named with --data, so is it in the commands they name.
import { displayLocation } from "../../model/store-location.js";
import type { Settings } from "./settings.js";

type Given = Pick<Settings, "given_data">;

/** A line to type, on the store that this command was given. */
export function commandLine(line: string, { given_data }: Given): string {
  return given_data === undefined ? line : `${line} --data ${quoted(displayLocation(given_data))}`;
}

/** A sentence with such lines in backquotes. Help is the same for every store. */
export function hintText(text: string, given: Given): string {
  return text.replace(/`(hansard [^`]+)`/g, (whole, line: string) =>
    /--(?:help|data)\b/.test(line) || isElsewhere(line, given) ? whole : `\`${commandLine(line, given)}\``,
  );
}

/** Keys are made where the record lies, and not through its server. */
function isElsewhere(line: string, { given_data = "" }: Given): boolean {
  return line.startsWith("hansard keys") && /^https?:/i.test(given_data);
}

/** As a shell reads it back. A tilde that a shell has left alone is ours to read. */
function quoted(text: string): string {
  return /^[\w./:@%+=~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
