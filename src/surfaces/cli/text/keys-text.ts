// What is said of a store that was just made and has no keys.
import { displayLocation } from "../../../model/store-location.js";
import { wrapText } from "./table.js";
import { cleanLine, type Pane } from "./terminal.js";

/** Empty where there are keys. */
export function keysText(
  { has_keys, data }: { readonly has_keys: boolean; readonly data: string },
  pane: Pane,
): string {
  if (has_keys) return "";
  const place = cleanLine(displayLocation(data));
  const says = `There are no keys in ${place} yet: anyone who reaches a server of it on this machine has full access, and it is not \
served beyond. Create one with \`hansard keys create --scope admin --data ${place}\`.`;
  return `${wrapText(says, pane.columns).join("\n")}\n`;
}
