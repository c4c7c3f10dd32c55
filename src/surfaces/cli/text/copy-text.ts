// What a backup or a restore came to, in words.
import type { StoreCopy } from "../../../recorder/back-up-store.js";
import { countOf, formatCount } from "./table.js";
import { cleanText, type Pane } from "./terminal.js";

export function copyText({ path, bytes, entries, erased, hash, set_aside = [] }: StoreCopy, pane: Pane): string {
  const { bold, green, dim } = pane.colours;
  const gone = erased === 0 ? "" : `, ${formatCount(erased)} of them erased`;
  const size = `${formatCount(Math.ceil(bytes / 1024))} KiB`;
  const aside = set_aside.map((file) => `What was left of the lost log lies in ${cleanText(file)}.\n`).join("");
  return `${bold(green("ok:"))} ${countOf(entries, "entry", "entries")}${gone}, verified, ${size} in ${cleanText(path)}\n${dim(`head hash ${hash}`)}\n${aside}`;
}
