// Tokens of one call that are told in several places: what is counted already, which count is whole, and what adds up.
import { isJsonObject, type JsonValue } from "../../model/json.js";
import { tokenNames, type Usage } from "../../model/usage.js";

/** What one usage has more than another: of a call that is told in several messages each counts its own part. */
export function usageBeyond(usage: Usage | undefined, counted: JsonValue | undefined): Usage | undefined {
  if (usage === undefined || !isJsonObject(counted)) return usage;
  const left = tokenNames.flatMap((name): readonly [string, number][] => {
    const before = counted[name];
    const more = (usage[name] ?? 0) - (typeof before === "number" ? before : 0);
    return more > 0 ? [[name, more]] : [];
  });
  return left.length === 0 ? undefined : (Object.fromEntries(left) as Usage);
}

/** Of two counts of the same call the later one is whole: it has at least as many tokens of output. */
export function greaterUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (other.output_tokens ?? 0) >= (one.output_tokens ?? 0) ? other : one;
}

export function addUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sums = tokenNames.flatMap((name): readonly [string, number][] => {
    if (one[name] === undefined && other[name] === undefined) return [];
    return [[name, (one[name] ?? 0) + (other[name] ?? 0)]];
  });
  return Object.fromEntries(sums) as Usage;
}
