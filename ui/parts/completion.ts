// What a half-typed filter could become: names of filters, then values that there are.
import { readRoles } from "../../src/model/roles.js";
import { stateNames } from "../../src/model/states.js";
import { kindNames } from "../words.js";

/** Values that are known of this record, by the filter that takes them. */
export type Known = { readonly [name: string]: readonly string[] };

const values: Known = {
  kind: [...kindNames, "memory"],
  role: readRoles,
  is: stateNames,
  in: ["context"],
  since: ["1h", "24h", "7d", "30d"],
  until: ["24h", "7d"],
};
export const filterNames = ["kind", "role", "is", "in", "project", "client", "tool", "model", "since", "until"];
const OFFERED_MAX = 8;

/** Whole search texts that the one being typed could become. */
export function completionsOf(text: string, known: Known): readonly { readonly word: string; readonly text: string }[] {
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
  return [...(known[name] ?? values[name] ?? [])]
    .filter((value) => value.startsWith(begun) && value !== begun)
    .slice(0, OFFERED_MAX)
    .map((value) => `${name}:${/\s/.test(value) ? `"${value}"` : value}`)
    .map((whole) => ({ word: whole, text: `${before}${whole} ` }));
}
