// Exports of an open store: the chosen entries as text, each export written down before its first piece is handed out.

import { EXPORT_VERSION } from "../import/export-check.js";
import type { RowKey, RowQuery, SessionRange } from "../index/port.js";
import type { EntryLog, Head, StoredEntry } from "../log/port.js";
import { ClaimReader } from "../log/walk-log.js";
import { parseBody } from "../model/body.js";
import { claimKey } from "../model/claims.js";
import type { Fault } from "../model/fault.js";
import { hexOf } from "../model/hex.js";
import { parseId } from "../model/ids.js";
import type { Mask } from "../model/mask.js";
import { Rejection, reject } from "../model/rejection.js";
import { parseClock, type WallClock } from "../model/time.js";
import { filtersNamed, type OptionsOf, parseInput, type QueryOf } from "../search/filters.js";
import { isGiven, type Parameter, switchParameter } from "../search/parameters.js";
import type { SessionSummary } from "../sessions/session-summary.js";
import { exportAtif } from "./atif.js";
import { exportMarkdown } from "./markdown.js";
import { type ExportParts, selectEntries } from "./selection.js";
import { exportNanobot, exportTimmy } from "./session-files.js";
import { exportShare, type ShareParts } from "./share/share.js";

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
  readonly seal: ShareParts["seal"];
  readonly nowMs: () => number;
  /** Yields text once the export is audited. */
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
    const note = { action: "export", target: targetOf(query), ...deed } as const;
    yield* this.#parts.audited(this.unaudited(query), note, onUnaudited);
  }

  /** The same for a comparison within the program, up to a position: nobody is given it. */
  async *unaudited(query: ExportQuery, through?: number): AsyncGenerator<string> {
    const { log, calls, mask, seal, nowMs } = this.#parts;
    yield* exportEntries(
      {
        log,
        mask,
        seal,
        nowMs,
        positions: (request) => calls.positions(request),
        sessionPositions: (range) => calls.sessionPositions(range),
        sessionSummary: (of) => calls.recordedSummary(of),
      },
      query,
      through,
    );
  }
}

/** The forms of an export. */
const exportFormats = ["hansard", "nanobot", "timmy", "markdown", "html", "atif"] as const;
export type ExportFormat = (typeof exportFormats)[number];

const format: Parameter<ExportFormat | string, ExportFormat> = {
  description:
    "`hansard` contains everything and can be imported again; `nanobot`, `timmy`, `atif` and `html` hold one session, which must " +
    "be named; `markdown` and `html` are for people, and masked.",
  schema: { type: "string", enum: exportFormats, default: "hansard" },
  flag: {
    name: "format",
    value: "name",
    says: "hansard (everything, for import), nanobot, timmy, markdown, html or atif (hansard)",
  },
  refusals: ["field_invalid", "session_id_invalid"],
  parse: parseFormat,
};

const timezone: Parameter<string, WallClock> = {
  description:
    "For `nanobot` and `timmy`, whose times have no zone: an IANA name. Left out, it is that of the record's machine.",
  schema: { type: "string" },
  example: "Europe/Berlin",
  flag: { name: "timezone", value: "zone", says: "time zone of nanobot and timmy exports (this machine's)" },
  refusals: ["field_invalid"],
  parse: (zone) => parseClock(zone as string | undefined),
};

const export_id: Parameter<string, string | undefined> = {
  description: "Calls with the same id are one export in the audit log. Use a new UUID for each export.",
  schema: { type: "string" },
  refusals: ["field_invalid"],
  parse: parseExportId,
};

/** What an export is asked with. */
export const exportInput = {
  format,
  timezone,
  masked: switchParameter({
    description: "`1` masks secrets, as lists do.",
    flag: { name: "masked", says: "mask secrets in Hansard's own format too; Markdown is always masked" },
  }),
  export_id,
  ...filtersNamed(
    "project",
    "session_id",
    "client",
    "user_id",
    "tag",
    "parent_id",
    "kind",
    "tool",
    "model",
    "is",
    "since",
    "until",
  ),
};

export interface ExportOptions extends OptionsOf<typeof exportInput> {
  /** Who exports, for the audit: `person` by default. */
  readonly actor?: string | undefined;
  /** Told where no audit entry could be written, because the store cannot be. */
  readonly onUnaudited?: ((fault: Fault) => void) | undefined;
}

export interface ExportQuery extends Pick<QueryOf<typeof exportInput>, "format" | "filter" | "given" | "masked"> {
  readonly clock: WallClock;
}

export type ExportFilter = ExportQuery["filter"];

export function parseExportQuery(options: ExportOptions, nowMs: number): ExportQuery | Rejection {
  const asked = parseInput({ name: "export", input: exportInput }, options, nowMs);
  if (asked instanceof Rejection) return asked;
  const { format, filter, given, masked, timezone: clock } = asked;
  if (!needsSession(format) || (filter.session_id ?? "") !== "") return { format, filter, given, masked, clock };
  return reject({
    code: "session_id_invalid",
    field: "session_id",
    message: `the ${format} format contains one session; session_id is required`,
  });
}

/** What an audit entry says of it: the form, and by what it was narrowed; never a label, which might be forgotten later. */
function targetOf({ format, given, masked }: ExportQuery): string {
  const names = Object.keys(given).sort();
  const narrowed = names.length === 0 ? "the whole log" : `entries by ${names.join(", ")}`;
  return `${narrowed} as ${format}${masked ? ", masked" : ""}`;
}

function parseFormat(format: unknown): ExportFormat | Rejection {
  if (!isGiven(format)) return "hansard";
  if ((exportFormats as readonly unknown[]).includes(format)) return format as ExportFormat;
  return reject({
    code: "field_invalid",
    field: "format",
    message: `unknown format ${JSON.stringify(String(format).slice(0, 40))}`,
    hint: `Formats are ${exportFormats.join(", ")}.`,
  });
}

function parseExportId(id: unknown): string | undefined | Rejection {
  if (id === undefined || !(parseId(id) instanceof Rejection)) return id as string | undefined;
  return reject({
    code: "field_invalid",
    field: "export_id",
    message: "export_id must be an id",
    hint: "Give a UUID.",
  });
}

/** Whether files of this form hold one session each. */
function needsSession(format: ExportFormat): boolean {
  return format === "nanobot" || format === "timmy" || format === "atif" || format === "html";
}

// Export: the chosen entries in the chosen format, as a stream, so the size of the log does not matter.

async function* exportEntries(parts: ShareParts, query: ExportQuery, through?: number): AsyncGenerator<string> {
  // What arrives from here on is not part of it.
  const now = await parts.log.head();
  const head = { ...now, position: Math.min(now.position, through ?? now.position) };
  switch (query.format) {
    case "hansard":
      return yield* exportHansard(parts, { filter: query.filter, masked: query.masked, head });
    case "nanobot":
      return yield* exportNanobot(parts, { query, head });
    case "timmy":
      return yield* exportTimmy(parts, { query, head });
    case "markdown":
      return yield* exportMarkdown(parts, { query, head });
    case "html":
      return yield* exportShare(parts, { query, head });
    case "atif":
      return yield* exportAtif(parts, { query, head });
    default:
      return query.format satisfies never;
  }
}

/** Hansard's own format: a line about the log, then a line for each entry with everything that its hash covers. */

async function* exportHansard(
  parts: ExportParts,
  options: { readonly filter: ExportFilter; readonly masked: boolean; readonly head: Head },
): AsyncGenerator<string> {
  const { filter, masked, head } = options;
  const whole = Object.keys(filter).length === 0 && !masked;
  const { log_id, position, hash } = head;
  yield `${JSON.stringify({ hansard: EXPORT_VERSION, log_id, position, hash: hexOf(hash), whole, ...(masked ? { masked } : {}) })}\n`;
  const claims = new ClaimReader(parts.log);
  for await (const stored of selectEntries(parts, options)) {
    if (stored.body === undefined) yield bodilessLine(stored, await claims.of(stored.position));
    else yield masked ? maskedLine(stored, parts.mask) : hansardLine(stored);
  }
}

/** What the chain holds of an entry, except its body; entries of the first format do not name their recorder. */
function chainedOf({ position, kind, recorded_at, recorded_by, hash }: StoredEntry): object {
  return { position, kind, recorded_at, ...(recorded_by === undefined ? {} : { recorded_by }), hash: hexOf(hash) };
}

/** An erased entry carries the keys of its claims, which its hash covers and which stay taken wherever it goes. */
function bodilessLine(stored: StoredEntry, claims: readonly string[]): string {
  const { flaw } = stored;
  const left = { ...chainedOf(stored), commitment: hexOf(stored.commitment) };
  const keys = claims.map((claim) => hexOf(claimKey(claim)));
  return `${JSON.stringify(flaw === undefined ? { ...left, erased: true, claims: keys } : { ...left, flaw })}\n`;
}

/** A masked body has another hash than the recorded one, so the line has the commitment in place of the salt. */
function maskedLine(stored: StoredEntry, mask: Mask): string {
  const body = mask.entry(parseBody(stored.position, stored.body as Uint8Array));
  return `${JSON.stringify({ ...chainedOf(stored), commitment: hexOf(stored.commitment), ...body })}\n`;
}

/** A line has the body's text as it is stored; its keys come next to those of the chain. */
function hansardLine(stored: StoredEntry): string {
  const { salt, body } = stored as StoredEntry & { readonly salt: Uint8Array; readonly body: Uint8Array };
  const text = Buffer.from(body).toString("utf8");
  return `${JSON.stringify({ ...chainedOf(stored), salt: hexOf(salt) }).slice(0, -1)},${text.slice(1)}\n`;
}
