// Completions of a half-typed filter: names of filters, then their values.
import { readRoles } from "../../src/model/roles.js";
import { stateNames } from "../../src/model/states.js";
import { kindNames } from "../format.js";

/** Values by filter name. */
export type FilterValues = { readonly [name: string]: readonly string[] };

const values: FilterValues = {
  kind: [...kindNames, "memory"],
  role: readRoles,
  is: stateNames,
  in: ["context"],
  since: ["1h", "24h", "7d", "30d"],
  until: ["24h", "7d"],
};
export const filterNames = ["kind", "role", "is", "in", "project", "client", "tool", "model", "since", "until"];
const OFFERED_MAX = 8;

/** Search texts that complete the one being typed. */
export function completionsOf(
  text: string,
  filterValues: FilterValues,
): readonly { readonly word: string; readonly text: string }[] {
  const word = /\S+$/.exec(text)?.[0] ?? "";
  if (word.length < 2) return [];
  const before = text.slice(0, text.length - word.length);
  const colon = word.indexOf(":");
  if (colon === -1) {
    return filterNames
      .filter((name) => name.startsWith(word))
      .map((name) => ({ word: `${name}:`, text: `${before}${name}:` }));
  }
  const name = word.slice(0, colon);
  const begun = word.slice(colon + 1);
  return [...(filterValues[name] ?? values[name] ?? [])]
    .filter((value) => value.startsWith(begun) && value !== begun)
    .slice(0, OFFERED_MAX)
    .map((value) => `${name}:${/\s/.test(value) ? `"${value}"` : value}`)
    .map((whole) => ({ word: whole, text: `${before}${whole} ` }));
}
