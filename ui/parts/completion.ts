// What a half-typed filter could become: names of filters, then values that there are.
/** Values that are known of this record, by the filter that takes them. */
export type Known = { readonly [name: string]: readonly string[] };

const values: { readonly [name: string]: readonly string[] } = {
  kind: [
    "message",
    "interaction",
    "tool_call",
    "error",
    "decision",
    "feedback",
    "consolidation",
    "clear",
    "raw",
    "audit",
  ],
  role: ["user", "assistant", "system", "tool"],
  is: ["error", "low_confidence", "unanswered", "disliked"],
  in: ["context"],
  since: ["1h", "24h", "7d", "30d"],
  until: ["24h", "7d"],
};
const names = ["kind", "role", "is", "in", "project", "client", "tool", "model", "since", "until"];
const OFFERED_MAX = 8;

/** Whole search texts that the one being typed could become. */
export function completionsOf(text: string, known: Known): readonly { readonly word: string; readonly text: string }[] {
  const word = /\S+$/.exec(text)?.[0] ?? "";
  if (word.length < 2) return [];
  const before = text.slice(0, text.length - word.length);
  const colon = word.indexOf(":");
  if (colon === -1) {
    return names
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
