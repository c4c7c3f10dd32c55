// What is to be forgotten, by target or by retention rule: schemas, validation and answers.
import { Type } from "typebox";
import { ACTOR_DEFAULT, parseLabel, parseSessionId } from "../../model/ids.js";
import { isJsonObject } from "../../model/json.js";
import { captureKinds, isCaptureKind } from "../../model/kinds.js";
import { notKnown } from "../../model/options.js";
import { Rejection, reject } from "../../model/rejection.js";
import { type AnswerOf, counts, type GivenIn, named, text } from "../../model/schema.js";
import { parseTimeBound } from "../../model/time.js";
import type { LogFilter } from "./log-lookups.js";
import type { SecretFinding } from "./recorded-secrets.js";

export const newForgetting = named(
  "NewForgetting",
  Type.Object(
    {
      entry: Type.Optional(
        Type.Unsafe<string | number>({
          type: ["string", "integer"],
          description: "The id of an entry, or its position.",
        }),
      ),
      session_id: Type.Optional(text),
      project: Type.Optional(text),
      reason: Type.String({ description: "Why. The reason stays, so do not repeat what is to be forgotten." }),
      dry_run: Type.Optional(Type.Boolean({ description: "Only report what would be forgotten." })),
    },
    { additionalProperties: false },
  ),
);

/** One of `entry`, `session_id` and `project`. */
export interface ForgetOptions extends GivenIn<typeof newForgetting> {
  /** For the audit; `person` by default. */
  readonly actor?: string | undefined;
}

export type ForgetTarget =
  | { readonly scope: "entry"; readonly entry: string }
  | { readonly scope: "session"; readonly session_id: string }
  | { readonly scope: "project"; readonly project: string };

export interface ForgetRequest {
  readonly target: ForgetTarget;
  readonly reason: string;
  readonly dry_run: boolean;
  /** Who asks. */
  readonly actor: string;
}

const REASON_CHARS_MAX = 1_000;
const names = ["entry", "session_id", "project"] as const;
const known: readonly string[] = [...Object.keys(newForgetting.properties), "actor"];

export function parseForgetOptions(input: unknown): ForgetRequest | Rejection {
  if (!isJsonObject(input)) return invalid("body", "give an object with what to forget and a reason");
  const unknown = Object.keys(input).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    // Spreading an error omits its message.
    const { message, field = "body", hint = "" } = notKnown("field", unknown, known);
    return reject({ code: "field_invalid", field, message, hint });
  }
  const given = names.filter((name) => input[name] !== undefined && input[name] !== null);
  const [name] = given;
  if (name === undefined || given.length > 1) {
    return reject({
      code: name === undefined ? "field_missing" : "field_invalid",
      field: given[1] ?? "entry",
      message: "give exactly one of entry, session_id and project",
    });
  }
  const target = parseTarget(name, input[name]);
  if (target instanceof Rejection) return target;
  const reason = parseReason(input.reason);
  if (reason instanceof Rejection) return reason;
  const { dry_run = false, actor = ACTOR_DEFAULT } = input;
  if (typeof dry_run !== "boolean") return invalid("dry_run", "dry_run must be true or false");
  return { target, reason, dry_run, actor: actor as string };
}

function parseReason(reason: unknown): string | Rejection {
  if (reason === undefined || reason === null) {
    const hint = "Say why, without repeating what is to be forgotten: the reason stays.";
    return reject({ code: "field_missing", field: "reason", message: "reason is missing", hint });
  }
  if (typeof reason !== "string" || reason.trim() === "") return invalid("reason", "reason must not be blank");
  if (reason.length > REASON_CHARS_MAX) return invalid("reason", `reason may have ${REASON_CHARS_MAX} characters`);
  return reason;
}

function parseTarget(name: (typeof names)[number], value: unknown): ForgetTarget | Rejection {
  if (name === "entry") {
    const isNamed = (typeof value === "string" && value !== "") || Number.isSafeInteger(value);
    return isNamed ? { scope: "entry", entry: String(value) } : invalid("entry", "entry must be an id or a position");
  }
  if (name === "session_id") {
    const session_id = parseSessionId(value);
    return session_id instanceof Rejection ? session_id : { scope: "session", session_id };
  }
  const project = parseLabel("project", value);
  if (project instanceof Rejection) return project;
  return project === "" ? invalid("project", "project must not be empty") : { scope: "project", project };
}

function invalid(field: string, message: string): Rejection {
  return reject({ code: "field_invalid", field, message });
}

/** What was, or would be, forgotten. */
export type Forgotten = AnswerOf<typeof forgotten>;
export const forgotten = named(
  "Forgetting",
  Type.Object({
    dry_run: Type.Boolean(),
    entries: Type.Integer({ description: "Number of entries that lost their bodies, or would." }),
    by_kind: counts,
    positions: Type.Array(Type.Integer(), { description: "In order." }),
    redaction: Type.Unsafe<number | null>({
      type: ["integer", "null"],
      description: "Position of the first redaction that names them; null in a dry run.",
    }),
    left: Type.Array(text, {
      description: "Leftovers in the store's files, in words, and when they go; empty if none.",
    }),
  }),
);

export interface RetentionOptions {
  readonly rules: readonly RetentionRule[];
  /** Only says what would go. */
  readonly dry_run?: boolean | undefined;
  readonly actor?: string | undefined;
}

export interface Retained {
  readonly dry_run: boolean;
  /** Each rule with its result. */
  readonly rules: readonly (RetentionRule & Forgotten)[];
}

export interface ScrubOptions {
  readonly reason?: string | undefined;
  /** Only says what would go. */
  readonly dry_run?: boolean | undefined;
  readonly actor?: string | undefined;
}

export interface Scrubbed extends Forgotten {
  /** Entries with secrets; what belongs to them goes too. */
  readonly findings: readonly SecretFinding[];
}

/** Entries of a kind, or of all kinds that can be captured, whose `created_at` is older than this. */
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

/** The entries that a rule applies to. */
export function filterOf({ kind, older_than }: RetentionRule, nowMs: number): LogFilter {
  // One millisecond less, since "older than" excludes entries of exactly that age.
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
  if (unknown !== undefined)
    return refuse(unknown, `unknown field ${unknown.slice(0, 40)} in a retention rule (allowed: kind, older_than)`);
  const { kind, older_than } = item;
  if (kind !== undefined && kind !== null && !isCaptureKind(kind)) {
    const hint = `Kinds are ${captureKinds.join(", ")}.`;
    return reject({
      code: "kind_unknown",
      field: "kind",
      message: `unknown kind ${String(kind).slice(0, 40)}`,
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
