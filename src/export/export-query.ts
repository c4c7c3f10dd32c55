// The door of an export: format and filters as they come in from any surface.
import { parseId } from "../model/ids.js";
import { limits } from "../model/limits.js";
import { Rejection, reject } from "../model/rejection.js";
import { isTimezone, WallClock } from "../model/zoned-time.js";
import type { RowFilter } from "../ports/entry-index.js";
import { type ListFilters, parseEntryQuery } from "../read/list-query.js";

const exportFormats = ["hansard", "nanobot", "timmy", "markdown"] as const;
export type ExportFormat = (typeof exportFormats)[number];

export interface ExportOptions extends ListFilters {
  /** `hansard` by default. `nanobot` and `timmy` hold one session, which must be named. */
  readonly format?: ExportFormat | string | undefined;
  readonly kind?: string | undefined;
  /** An IANA zone for the forms that have none in their times; the machine's own by default. */
  readonly timezone?: string | undefined;
  /** Whether secrets are masked in Hansard's own form too; such lines carry no salt, since the hash is not theirs. */
  readonly masked?: boolean | string | undefined;
  /** Who exports, for the audit: `person` by default. */
  readonly actor?: string | undefined;
  /** Calls that name the same one are one export, and are written down once: a new UUID for each export. */
  readonly export_id?: string | undefined;
}

export interface ExportQuery {
  readonly format: ExportFormat;
  readonly filter: RowFilter;
  readonly clock: WallClock;
  readonly masked: boolean;
}

export function parseExportQuery(options: ExportOptions, nowMs: number): ExportQuery | Rejection {
  const { format: given, timezone, masked: wish, actor: _, export_id, ...filters } = options;
  const format = given === undefined || given === "" ? "hansard" : given;
  if (!isExportFormat(format)) {
    const message = `format ${JSON.stringify(String(format).slice(0, 40))} is not known`;
    return reject({
      code: "field_invalid",
      field: "format",
      message,
      hint: `Formats are ${exportFormats.join(", ")}.`,
    });
  }
  const query = parseEntryQuery({ ...filters, limit: limits.list_max }, nowMs);
  if (query instanceof Rejection) return query;
  if (needsSession(format) && (query.filter.session_id ?? "") === "") {
    return reject({
      code: "session_id_invalid",
      field: "session_id",
      message: `the form of ${format} holds one session; session_id is needed`,
    });
  }
  if (timezone !== undefined && timezone !== "" && !isTimezone(timezone)) {
    const message = `${JSON.stringify(String(timezone).slice(0, 40))} is not a time zone`;
    return reject({ code: "field_invalid", field: "timezone", message, hint: "For example Europe/Berlin, or UTC." });
  }
  const masked = parseMasked(wish);
  if (masked instanceof Rejection) return masked;
  if (export_id !== undefined && parseId(export_id) instanceof Rejection) {
    return reject({
      code: "field_invalid",
      field: "export_id",
      message: "export_id must be an id",
      hint: "Give a UUID.",
    });
  }
  return { format, filter: query.filter, clock: new WallClock(timezone === "" ? undefined : timezone), masked };
}

/** What an audit entry says of it: the form, and by what it was narrowed; never a label, which might be forgotten later. */
export function targetOf({ format, filter, masked }: ExportQuery): string {
  const names = Object.keys(filter).map(
    (name) => ({ kinds: "kind", since_ms: "since", until_ms: "until" })[name] ?? name,
  );
  const narrowed = names.length === 0 ? "the whole log" : `entries by ${names.join(", ")}`;
  return `${narrowed} as ${format}${masked ? ", masked" : ""}`;
}

function parseMasked(value: unknown): boolean | Rejection {
  if (value === undefined || value === null || value === "") return false;
  if (value === true || value === "1" || value === "true") return true;
  if (value === false || value === "0" || value === "false") return false;
  return reject({ code: "field_invalid", field: "masked", message: "masked must be 1 or 0" });
}

function isExportFormat(format: unknown): format is ExportFormat {
  return (exportFormats as readonly unknown[]).includes(format);
}

/** Whether files of this form hold one session each. */
function needsSession(format: ExportFormat): boolean {
  return format === "nanobot" || format === "timmy";
}
