// The door for lists: filters, limit and cursor as they come in from any surface, parsed into a query.
import { parseLabel } from "../model/ids.js";
import { captureKinds, isCaptureKind, isReservedKind, ownKinds } from "../model/kinds.js";
import { limits } from "../model/limits.js";
import { Rejection, reject } from "../model/rejection.js";
import { isRole, readRole } from "../model/roles.js";
import { parseTimeBound } from "../model/time.js";
import type { RowFilter, RowKey } from "../ports/entry-index.js";
import { fingerprintOf, formatCursor, parseCursor } from "./cursor.js";

/** Filters of a list. An empty one filters nothing; `"-"` selects entries without that label. */
export interface ListFilters {
  readonly project?: string | undefined;
  readonly session_id?: string | undefined;
  readonly client?: string | undefined;
  /** Inclusive: an ISO 8601 time, or relative to now such as `7d`. */
  readonly since?: string | undefined;
  /** Inclusive; a bare date means its end. */
  readonly until?: string | undefined;
}

export interface Page {
  readonly limit?: number | string | undefined;
  readonly cursor?: string | null | undefined;
}

export interface InteractionListOptions extends ListFilters, Page {
  /** Interactions that used this memory. */
  readonly memory?: string | undefined;
  /** Interactions that used this chunk. */
  readonly chunk?: string | undefined;
}

export interface EntryListOptions extends ListFilters, Page {
  readonly kind?: string | undefined;
  /** Messages of this role: user, assistant, system or tool. */
  readonly role?: string | undefined;
}

/** A parsed query: the filter with times resolved, and what its cursors are bound to. */
export interface ListQuery {
  readonly filter: RowFilter;
  readonly limit: number;
  readonly after?: RowKey;
  readonly fingerprint: string;
}

const LIMIT_DEFAULT = 50;

export function parseInteractionQuery(options: InteractionListOptions, nowMs: number): ListQuery | Rejection {
  return parseQuery(options, { kinds: ["interaction"] }, nowMs);
}

export function parseEntryQuery(options: EntryListOptions, nowMs: number): ListQuery | Rejection {
  const own = parseKindAndRole(options);
  return own instanceof Rejection ? own : parseQuery(options, own, nowMs);
}

/** The filters of lists and searches alone, without a page of them. */
export function parseEntryFilter(options: EntryListOptions, nowMs: number): RowFilter | Rejection {
  const { since = "", until = "" } = options;
  const parts = [parseKindAndRole(options), parseLabels(options), parseTimes({ since, until }, nowMs)];
  let filter: RowFilter = {};
  for (const part of parts) {
    if (part instanceof Rejection) return part;
    filter = { ...filter, ...part };
  }
  return filter;
}

function parseKindAndRole(options: EntryListOptions): RowFilter | Rejection {
  const kind = options.kind ?? "";
  if (kind !== "" && !isCaptureKind(kind) && !isReservedKind(kind)) {
    return reject({
      code: "kind_unknown",
      field: "kind",
      message: `kind ${JSON.stringify(String(kind).slice(0, 40))} is not known`,
      hint: `Kinds are ${captureKinds.join(", ")}, and of the log itself ${ownKinds.join(" and ")}.`,
    });
  }
  const role = options.role ?? "";
  if (role !== "" && !isRole(role)) {
    return reject({
      code: "role_unknown",
      field: "role",
      message: `role ${JSON.stringify(String(role).slice(0, 40))} is not known`,
      hint: "Roles are user, assistant, system and tool.",
    });
  }
  return { ...(kind === "" ? {} : { kinds: [kind] }), ...(role === "" ? {} : { role: readRole(role) }) };
}

function parseQuery(options: InteractionListOptions, kinds: RowFilter, nowMs: number): ListQuery | Rejection {
  const limit = parseLimit(options.limit, LIMIT_DEFAULT);
  if (limit instanceof Rejection) return limit;
  const labels = parseLabels(options);
  if (labels instanceof Rejection) return labels;
  const references = parseReferences(options);
  if (references instanceof Rejection) return references;
  const { since = "", until = "" } = options;
  const fingerprint = fingerprintOf([kinds, labels, references, since, until]);
  const times = parseTimes({ since, until }, nowMs);
  if (times instanceof Rejection) return times;
  const filter = { ...kinds, ...labels, ...references, ...times };
  const place = parsePlace(options.cursor, { filter, fingerprint });
  return place instanceof Rejection ? place : { limit, fingerprint, ...place };
}

/** Where a cursor goes on, and the filter it goes on with. */
export function parsePlace(
  cursor: string | null | undefined,
  query: Pick<ListQuery, "filter" | "fingerprint">,
): Pick<ListQuery, "filter" | "after"> | Rejection {
  const numbers = parseCursor(cursor, { fingerprint: query.fingerprint, numbers: 4 });
  if (numbers instanceof Rejection) return numbers;
  if (numbers === undefined) return { filter: query.filter };
  // The first page's times stand for all pages: `7d` must not move on between two of them.
  const [created_ms, position, since_ms, until_ms] = numbers as readonly [number, number, number | null, number | null];
  const fixed = { ...(since_ms === null ? {} : { since_ms }), ...(until_ms === null ? {} : { until_ms }) };
  return { filter: { ...query.filter, ...fixed }, after: { created_ms, position } };
}

/** `limit` of every list: at most 500, zero or less gives none. */
export function parseLimit(value: unknown, limitDefault: number): number | Rejection {
  if (value === undefined || value === null || value === "") return limitDefault;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || Number.isNaN(number)) {
    return reject({ code: "limit_invalid", field: "limit", message: "limit must be a number" });
  }
  return Math.min(Math.max(Math.floor(number), 0), limits.list_max);
}

export function parseLabels(options: ListFilters): RowFilter | Rejection {
  const labels: { project?: string; session_id?: string; client?: string } = {};
  for (const name of ["project", "session_id", "client"] as const) {
    const value = options[name];
    if (value === undefined || value === null || value === "") continue;
    const label = value === "-" ? "" : parseLabel(name, value);
    if (label instanceof Rejection) return label;
    labels[name] = label;
  }
  return labels;
}

function parseReferences(options: InteractionListOptions): RowFilter | Rejection {
  const references: { memory?: string; chunk?: string } = {};
  for (const name of ["memory", "chunk"] as const) {
    const value: unknown = options[name];
    if (value === undefined || value === null || value === "") continue;
    if (typeof value !== "string") {
      return reject({ code: "field_invalid", field: name, message: `${name} must be a string` });
    }
    references[name] = value;
  }
  return references;
}

function parseTimes(bounds: { readonly since: string; readonly until: string }, nowMs: number): RowFilter | Rejection {
  const times: { since_ms?: number; until_ms?: number } = {};
  for (const name of ["since", "until"] as const) {
    const text = bounds[name];
    if (text === "" || text === null) continue;
    const ms = typeof text === "string" ? parseTimeBound(text.trim(), { nowMs, end: name === "until" }) : undefined;
    if (ms === undefined) {
      return reject({
        code: "time_invalid",
        field: name,
        message: `${name} is not a time`,
        hint: "For example 2026-11-15, 2026-11-15T06:39:37Z, or relative: 30m, 12h, 7d, 2w.",
      });
    }
    times[`${name}_ms`] = ms;
  }
  return times;
}

/** The cursor that goes on after this row. */
export function cursorAfter(query: Pick<ListQuery, "filter" | "fingerprint">, after: RowKey): string {
  const { since_ms, until_ms } = query.filter;
  return formatCursor(query.fingerprint, [after.created_ms, after.position, since_ms ?? null, until_ms ?? null]);
}
