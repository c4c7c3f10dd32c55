// Retention: what is older than a rule allows is forgotten, by the same means as everything else.
import { isJsonObject } from "../../model/json.js";
import { captureKinds, isCaptureKind } from "../../model/kinds.js";
import { Rejection, reject } from "../../model/rejection.js";
import { parseTimeBound } from "../../model/time.js";
import type { LogFilter } from "./log-lookups.js";

/** Entries of a kind, or of every kind that can be captured, whose `created_at` is longer ago than this. */
export interface RetentionRule {
  readonly kind?: string | undefined;
  /** `90d`, `12w`, or a date. */
  readonly older_than: string;
}

export function parseRetentionRules(given: unknown): readonly RetentionRule[] | Rejection {
  if (!Array.isArray(given)) return refuse("rules", "rules must be a list");
  const rules: RetentionRule[] = [];
  for (const [index, item] of given.entries()) {
    const rule = parseRule(item);
    if (rule instanceof Rejection) return rule.at(index);
    rules.push(rule);
  }
  return rules;
}

/** Which entries a rule is about. */
export function filterOf({ kind, older_than }: RetentionRule, nowMs: number): LogFilter {
  // One millisecond less, since "older than" leaves out what is exactly as old.
  const until_ms = (parseTimeBound(older_than, { nowMs, end: false }) as number) - 1;
  return { kinds: kind === undefined ? captureKinds : [kind], until_ms };
}

export function reasonOf({ kind, older_than }: RetentionRule): string {
  return `retention: ${kind ?? "every kind"} older than ${older_than}`;
}

function parseRule(item: unknown): RetentionRule | Rejection {
  if (!isJsonObject(item))
    return refuse("rules", 'a rule is an object such as {"kind": "tool_call", "older_than": "90d"}');
  const unknown = Object.keys(item).find((name) => name !== "kind" && name !== "older_than");
  if (unknown !== undefined) return refuse(unknown, `${unknown.slice(0, 40)} is not known in a rule`);
  const { kind, older_than } = item;
  if (kind !== undefined && kind !== null && !isCaptureKind(kind)) {
    const hint = `Kinds are ${captureKinds.join(", ")}.`;
    return reject({
      code: "kind_unknown",
      field: "kind",
      message: `kind ${String(kind).slice(0, 40)} is not known`,
      hint,
    });
  }
  if (typeof older_than !== "string" || parseTimeBound(older_than, { nowMs: 0, end: false }) === undefined) {
    const hint = "For example 90d, 12w, or a date.";
    return reject({ code: "time_invalid", field: "older_than", message: "older_than must be an age or a date", hint });
  }
  return { older_than, ...(isCaptureKind(kind) ? { kind } : {}) };
}

function refuse(field: string, message: string): Rejection {
  return reject({ code: "field_invalid", field, message });
}
