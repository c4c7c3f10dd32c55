// What was forgotten, or would be, in words.
import type { Forgotten } from "../../../index.js";
import { countOf, formatCount } from "./table.js";
import type { Pane } from "./terminal.js";

export function forgottenText(forgotten: Forgotten, pane: Pane): string {
  const { bold, green, yellow, dim } = pane.colours;
  const { entries, by_kind, redaction, left, dry_run } = forgotten;
  const kinds = Object.entries(by_kind).map(([kind, count]) => `${formatCount(count)} ${kind}`);
  const what = `${countOf(entries, "entry", "entries")}${kinds.length === 0 ? "" : ` (${kinds.join(", ")})`}`;
  if (entries === 0) return "Nothing is to be forgotten.\n";
  if (dry_run) return `${bold(yellow("Would be forgotten:"))} ${what}\n${dim("Nothing was done. --yes does it.")}\n`;
  const rest = left.map((words) => `${yellow("!")} ${words}\n`).join("");
  return `${bold(green("Forgotten:"))} ${what}; #${redaction} in the log says so\n${rest}`;
}
