// The door for lists: filters, limit and cursor as they come in from any surface, parsed into a query.
import { hash } from "node:crypto";
import { parseLabel } from "../model/ids.js";
import { isCaptureKind, isReservedKind } from "../model/kinds.js";
import { limits } from "../model/limits.js";
import { Rejection, reject } from "../model/rejection.js";
import { parseTimeBound } from "../model/time.js";
import type { RowFilter, RowKey } from "../ports/entry-index.js";

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
  const kind = options.kind ?? "";
  if (kind !== "" && !isCaptureKind(kind) && !isReservedKind(kind)) {
    return reject({
      code: "kind_unknown",
      field: "kind",
      message: `kind ${JSON.stringify(String(kind).slice(0, 40))} is not known`,
    });
  }
  return parseQuery(options, kind === "" ? {} : { kinds: [kind] }, nowMs);
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
  const cursor = parseCursor(options.cursor, fingerprint);
  if (cursor instanceof Rejection) return cursor;
  // The first page's times stand for all pages: `7d` must not move on between two of them.
  const times = cursor?.times ?? parseTimes({ since, until }, nowMs);
  if (times instanceof Rejection) return times;
  const filter = { ...kinds, ...labels, ...references, ...times };
  return { filter, limit, fingerprint, ...(cursor === undefined ? {} : { after: cursor.after }) };
}

/** `limit` of every list: at most 500, zero or less gives none. */
export function parseLimit(value: unknown, limitDefault: number): number | Rejection {
  if (value === undefined || value === null || value === "") return limitDefault;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) {
    return reject({ code: "limit_invalid", field: "limit", message: "limit must be a number" });
  }
  return Math.min(Math.max(Math.floor(number), 0), limits.list_max);
}

function parseLabels(options: ListFilters): RowFilter | Rejection {
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

interface Cursor {
  readonly after: RowKey;
  readonly times: RowFilter;
}

export function formatCursor(query: ListQuery, after: RowKey): string {
  const { since_ms, until_ms } = query.filter;
  const parts = [query.fingerprint, after.created_ms, after.position, since_ms ?? null, until_ms ?? null];
  return Buffer.from(JSON.stringify([...parts, fingerprintOf(parts)])).toString("base64url");
}

function parseCursor(text: string | null | undefined, fingerprint: string): Cursor | undefined | Rejection {
  if (text === undefined || text === null || text === "") return undefined;
  const parts = decodeCursor(text);
  if (parts === undefined) return cursorInvalid("cursor is not one that a list gave");
  const [of, created_ms, position, since_ms, until_ms] = parts;
  if (of !== fingerprint) return cursorInvalid("cursor comes from a list with other filters");
  const times = {
    ...(since_ms === null ? {} : { since_ms: since_ms as number }),
    ...(until_ms === null ? {} : { until_ms: until_ms as number }),
  };
  return { after: { created_ms: created_ms as number, position: position as number }, times };
}

function decodeCursor(text: unknown): readonly unknown[] | undefined {
  if (typeof text !== "string" || text.length > 400) return undefined;
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    // The sum tells a cursor that was cut or mistyped from one that a list gave.
    if (!Array.isArray(parts) || parts.length !== 6 || parts[5] !== fingerprintOf(parts.slice(0, 5))) return undefined;
    if (typeof parts[0] !== "string" || !Number.isSafeInteger(parts[1]) || !Number.isSafeInteger(parts[2]))
      return undefined;
    return parts.slice(3, 5).every((part) => part === null || Number.isSafeInteger(part)) ? parts : undefined;
  } catch {
    return undefined;
  }
}

function cursorInvalid(message: string): Rejection {
  return reject({
    code: "cursor_invalid",
    field: "cursor",
    message,
    hint: "Pass next_cursor back unchanged, with the same filters.",
  });
}

function fingerprintOf(parts: readonly unknown[]): string {
  return hash("sha256", JSON.stringify(parts), "base64url").slice(0, 12);
}
