// A rejection: input that the caller can fix. It is a value; each surface maps it to a status.
import { limits } from "./limits.js";

export type RejectionCode =
  | "body_missing"
  | "budget_too_small"
  | "confidence_out_of_range"
  | "consolidation_backwards"
  | "content_type_unsupported"
  | "context_too_large"
  | "cursor_invalid"
  | "entries_missing"
  | "entry_not_found"
  | "entry_too_large"
  | "expectation_refused"
  | "field_invalid"
  | "field_missing"
  | "headers_too_large"
  | "history_too_large"
  | "host_foreign"
  | "host_refused"
  | "id_conflict"
  | "id_invalid"
  | "interaction_not_found"
  | "already_completed"
  | "in_unknown"
  | "is_unknown"
  | "json_invalid"
  | "key_missing"
  | "key_not_found"
  | "key_wrong"
  | "kind_reserved"
  | "kind_unknown"
  | "label_invalid"
  | "limit_invalid"
  | "memory_known"
  | "memory_not_found"
  | "method_not_allowed"
  | "nesting_too_deep"
  | "origin_refused"
  | "parameter_repeated"
  | "parameter_unknown"
  | "project_not_found"
  | "prompt_blank"
  | "query_empty"
  | "query_too_long"
  | "rate_exceeded"
  | "request_invalid"
  | "request_timeout"
  | "request_too_large"
  | "role_unknown"
  | "route_not_found"
  | "scope_insufficient"
  | "seal_invalid"
  | "session_id_invalid"
  | "session_not_found"
  | "time_invalid"
  | "too_many_values"
  | "utf8_invalid"
  | "verdict_given";

export interface RejectionDetails {
  readonly code: RejectionCode;
  readonly message: string;
  /** The field or parameter to change. */
  readonly field?: string;
  /** Index of the item in the batch, from 0. */
  readonly index?: number;
  /** What to do about it, if the message does not say so. */
  readonly hint?: string;
  /** If a budget is too small: the least that would do. */
  readonly least?: number;
}

export class Rejection implements RejectionDetails {
  readonly code: RejectionCode;
  readonly message: string;
  readonly field?: string;
  readonly index?: number;
  readonly hint?: string;
  readonly least?: number;

  constructor(details: RejectionDetails) {
    this.code = details.code;
    this.message = details.message;
    if (details.field !== undefined) this.field = details.field;
    if (details.index !== undefined) this.index = details.index;
    if (details.hint !== undefined) this.hint = details.hint;
    if (details.least !== undefined) this.least = details.least;
  }

  at(index: number): Rejection {
    return new Rejection({ ...this, index });
  }

  /** The same without an index, for callers that did not give a list. */
  whole(): Rejection {
    return new Rejection(withoutIndex(this));
  }
}

function withoutIndex(details: RejectionDetails): RejectionDetails {
  const { index: _, ...rest } = details;
  return rest;
}

export function reject(details: RejectionDetails): Rejection {
  return new Rejection(details);
}

/** What the library throws for refused input. */
export class RecorderError extends Error implements RejectionDetails {
  override readonly name: string = "RecorderError";
  readonly code: RejectionCode;
  readonly field?: string;
  readonly index?: number;
  readonly hint?: string;
  readonly least?: number;

  constructor(rejection: RejectionDetails) {
    super(rejection.message);
    this.code = rejection.code;
    if (rejection.field !== undefined) this.field = rejection.field;
    if (rejection.index !== undefined) this.index = rejection.index;
    if (rejection.hint !== undefined) this.hint = rejection.hint;
    if (rejection.least !== undefined) this.least = rejection.least;
  }
}

/** Turns a returned rejection into a thrown `RecorderError`; anything else passes through. */
export function orThrow<T>(value: T | Rejection): T {
  if (value instanceof Rejection) throw new RecorderError(value);
  return value;
}

export type Noun = "entry" | "interaction" | "memory" | "session";

const NAME_CHARS = 128;

/** For a named thing that does not exist. */
export function notFound(
  noun: Noun,
  name: unknown,
  more: { readonly field?: string; readonly hint?: string; readonly orElse?: string } = {},
): Rejection {
  const { orElse = "", ...details } = more;
  const message = `there is no ${noun} ${JSON.stringify(String(name).slice(0, NAME_CHARS))}${orElse}`;
  return reject({ code: `${noun}_not_found`, message, ...details });
}

export function nestingTooDeep(): Rejection {
  return reject({
    code: "nesting_too_deep",
    message: `an entry may be nested ${limits.nesting_levels} levels deep at most`,
    hint: "Store the deep part as text.",
  });
}

export function entryTooWide(): Rejection {
  return reject({
    code: "too_many_values",
    message: `an entry may contain ${limits.entry_values} JSON values (members and items) at most`,
    hint: "Store the wide part as text.",
  });
}

export function requestTooWide(): Rejection {
  return reject({
    code: "too_many_values",
    message: `the entries of a request may contain ${limits.request_values} JSON values (members and items) at most`,
    hint: "Send fewer entries at a time.",
  });
}
