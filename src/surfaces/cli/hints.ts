// Commands in hints that can be typed as they are: if the store was given with --data, they repeat it.
import { displayLocation } from "../../model/store-location.js";
import type { Settings } from "./settings.js";

type GivenStore = Pick<Settings, "given_data">;

/** A command to type, for the store of this command. */
export function commandLine(line: string, { given_data }: GivenStore): string {
  return given_data === undefined ? line : `${line} --data ${quoted(displayLocation(given_data))}`;
}

/** The same for the commands in backquotes in a text. Help needs no store. */
export function hintText(text: string, given: GivenStore): string {
  return text.replace(/`(hansard [^`]+)`/g, (whole, line: string) =>
    /--(?:help|data)\b/.test(line) || isElsewhere(line, given) ? whole : `\`${commandLine(line, given)}\``,
  );
}

/** Keys cannot be created through a server. */
function isElsewhere(line: string, { given_data = "" }: GivenStore): boolean {
  return line.startsWith("hansard keys") && /^https?:/i.test(given_data);
}

/** Quoted for a shell. A tilde is expanded by us, so it needs no quotes. */
function quoted(text: string): string {
  return /^[\w./:@%+=~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
