// Exports of an open store: the chosen entries as text, each export written down before its first piece is handed out.

import type { RowKey, RowQuery, SessionRange } from "../index/port.js";
import type { EntryLog } from "../log/port.js";
import type { Fault } from "../model/fault.js";
import { parseId } from "../model/ids.js";
import type { Mask } from "../model/mask.js";
import { Rejection, reject } from "../model/rejection.js";
import { parseClock, type WallClock } from "../model/time.js";
import { type GivenFilters, parseFilters } from "../search/filters.js";
import { isGiven, parseSwitch } from "../search/parameters.js";
import { exportFormats, type FilterOptions, type QuestionFilter, questionRules } from "../search/question-rules.js";
import type { SessionSummary } from "../sessions/session-summary.js";

/** Who exports, and the name under which several calls are one deed. */
export interface ExportDeed {
  readonly actor: string;
  readonly id: string | undefined;
}

/** Told that an export is not in the record, because the store cannot be written, and why. */
export type OnUnaudited = (fault: Fault) => void;

/** What an export asks the reading side for. */
interface ExportReads {
  positions(query: RowQuery): Promise<readonly RowKey[]>;
  sessionPositions(range: SessionRange): Promise<readonly number[]>;
  /** The summary with nothing masked. */
  recordedSummary(session_id: string): Promise<SessionSummary | undefined>;
}

export interface ExportsParts {
  readonly log: EntryLog;
  readonly calls: ExportReads;
  readonly mask: Mask;
  /** Hands the pieces on once it is written down that somebody exports. */
  readonly audited: (
    pieces: AsyncGenerator<string>,
    note: { readonly action: "export"; readonly target: string } & ExportDeed,
    onUnaudited: OnUnaudited | undefined,
  ) => AsyncGenerator<string, void, undefined>;
}

export class Exports {
  readonly #parts: ExportsParts;

  constructor(parts: ExportsParts) {
    this.#parts = parts;
  }

  async *entries(
    query: ExportQuery,
    deed: ExportDeed,
    onUnaudited?: OnUnaudited,
  ): AsyncGenerator<string, void, undefined> {
    const { log, calls, mask, audited } = this.#parts;
    // Loaded when it is first needed: the formats of exports lean on those of imports, and no other call wants them.
    const { exportEntries } = await import("./export-entries.js");
    const pieces = exportEntries(
      {
        log,
        mask,
        positions: (wish) => calls.positions(wish),
        sessionPositions: (range) => calls.sessionPositions(range),
        sessionSummary: (of) => calls.recordedSummary(of),
      },
      query,
    );
    yield* audited(pieces, { action: "export", target: targetOf(query), ...deed }, onUnaudited);
  }
}

export type ExportFormat = (typeof exportFormats)[number];

export interface ExportOptions extends FilterOptions<"export"> {
  /** `hansard` by default. `nanobot`, `timmy` and `atif` hold one session, which must be named. */
  readonly format?: ExportFormat | string | undefined;
  /** An IANA zone for the forms that have none in their times; the machine's own by default. */
  readonly timezone?: string | undefined;
  /** Whether secrets are masked in Hansard's own form too; such lines carry no salt, since the hash is not theirs. */
  readonly masked?: boolean | string | undefined;
  /** Who exports, for the audit: `person` by default. */
  readonly actor?: string | undefined;
  /** Calls that name the same one are one export, and are written down once: a new UUID for each export. */
  readonly export_id?: string | undefined;
  /** Told where no audit entry could be written, because the store cannot be. */
  readonly onUnaudited?: ((fault: Fault) => void) | undefined;
}

export type ExportFilter = QuestionFilter<"export">;

export interface ExportQuery {
  readonly format: ExportFormat;
  readonly filter: ExportFilter;
  readonly given: GivenFilters;
  readonly clock: WallClock;
  readonly masked: boolean;
}

export function parseExportQuery(options: ExportOptions, nowMs: number): ExportQuery | Rejection {
  const { timezone, export_id } = options;
  const format = isGiven(options.format) ? options.format : "hansard";
  if (!isExportFormat(format)) {
    const message = `format ${JSON.stringify(String(format).slice(0, 40))} is not known`;
    return reject({
      code: "field_invalid",
      field: "format",
      message,
      hint: `Formats are ${exportFormats.join(", ")}.`,
    });
  }
  const asked = parseFilters(questionRules.export.filters, options, nowMs);
  if (asked instanceof Rejection) return asked;
  if (needsSession(format) && (asked.filter.session_id ?? "") === "") {
    return reject({
      code: "session_id_invalid",
      field: "session_id",
      message: `the form of ${format} holds one session; session_id is needed`,
    });
  }
  const clock = parseClock(timezone);
  if (clock instanceof Rejection) return clock;
  const masked = parseSwitch("masked", options.masked);
  if (masked instanceof Rejection) return masked;
  if (export_id !== undefined && parseId(export_id) instanceof Rejection) {
    return reject({
      code: "field_invalid",
      field: "export_id",
      message: "export_id must be an id",
      hint: "Give a UUID.",
    });
  }
  return { format, ...asked, clock, masked };
}

/** What an audit entry says of it: the form, and by what it was narrowed; never a label, which might be forgotten later. */
function targetOf({ format, given, masked }: ExportQuery): string {
  const names = Object.keys(given).sort();
  const narrowed = names.length === 0 ? "the whole log" : `entries by ${names.join(", ")}`;
  return `${narrowed} as ${format}${masked ? ", masked" : ""}`;
}

function isExportFormat(format: unknown): format is ExportFormat {
  return (exportFormats as readonly unknown[]).includes(format);
}

/** Whether files of this form hold one session each. */
function needsSession(format: ExportFormat): boolean {
  return format === "nanobot" || format === "timmy" || format === "atif";
}
