// Import: finds the files, finds out what each of them is, and reads one after the other into the log.

import { basename } from "node:path";
import { type Rejection, reject } from "../model/rejection.js";
import { isTimezone, WallClock } from "../model/zoned-time.js";
import { FileSource } from "./file-source.js";
import type { Importer, Opening } from "./importer.js";
import { type ImportTarget, type ImportTotals, Intake } from "./intake.js";
import { EXPORTED_LEVELS_MAX, isUtf16, oneByOne, readRecords } from "./lines.js";
import { readOpening } from "./opening.js";
import { findImporter, importFormats } from "./registry.js";
import { findFiles, isReadFailure, type LostPath, type OpenedFile, openFile, reasonOf } from "./source-files.js";
import { isDatabase, openTables, type Tables } from "./tables.js";

export interface ImportOptions {
  /** Forces a format, where the content does not tell it. */
  readonly format?: string | undefined;
  /** An IANA zone for times without one; the machine's own by default. */
  readonly timezone?: string | undefined;
  /** Places the entries of Hansard's own export anew, and so takes also one whose chain does not hold. */
  readonly as_new?: boolean | undefined;
  /** What the path `-` reads; the program's standard input by default. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Hears now and then how far the import is. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
  /** Hears of each file once it is done. */
  readonly onFile?: ((file: ImportedFile) => void) | undefined;
}

export interface ImportProgress {
  readonly file: string;
  readonly bytes: number;
  /** Undefined for a stream, whose end nobody knows. */
  readonly bytes_total: number | undefined;
  readonly added: number;
  readonly existing: number;
}

export interface ImportedFile {
  readonly file: string;
  /** Empty where none was recognised. */
  readonly format: string;
  readonly added: number;
  readonly existing: number;
  readonly rejected: number;
}

/** A line that was left out. Line 0 stands for a file that could not be read at all. */
export interface RejectedLine {
  readonly file: string;
  readonly line: number;
  readonly reason: string;
}

export interface ImportReport {
  readonly files: number;
  readonly sessions: number;
  readonly added: number;
  readonly existing: number;
  readonly rejected: readonly RejectedLine[];
}

export interface ImportPlan {
  readonly clock: WallClock;
  /** Empty where the content decides. */
  readonly format: string;
  /** Whether what may not be finished is left out, because files are being written to and will be read again. */
  readonly defers?: () => boolean;
}

/** The door of an import: what can be refused before anything is read. */
export function parseImportOptions(options: ImportOptions): ImportPlan | Rejection {
  const { format = "", timezone = "" } = options;
  if (format !== "" && !importFormats.includes(format)) {
    const message = `format ${JSON.stringify(String(format).slice(0, 40))} is not known`;
    return reject({
      code: "field_invalid",
      field: "format",
      message,
      hint: `Formats are ${importFormats.join(", ")}.`,
    });
  }
  if (timezone !== "" && !isTimezone(timezone)) {
    const message = `${JSON.stringify(String(timezone).slice(0, 40))} is not a time zone`;
    return reject({ code: "field_invalid", field: "timezone", message, hint: "For example Europe/Berlin, or UTC." });
  }
  return { clock: new WallClock(timezone === "" ? undefined : timezone), format };
}

export async function importFiles(
  paths: readonly string[],
  parts: { readonly plan: ImportPlan; readonly options: ImportOptions; readonly target: ImportTarget },
): Promise<ImportReport> {
  const report = new Report();
  for (const path of paths) {
    for await (const found of findFiles(path)) {
      if ("reason" in found) report.lost(found);
      else await importFile(found.file, { ...parts, report });
    }
  }
  return report.result();
}

interface FileParts {
  readonly plan: ImportPlan;
  readonly options: ImportOptions;
  readonly target: ImportTarget;
  readonly report: Report;
}

async function importFile(file: string, parts: FileParts): Promise<void> {
  const { options, target, report } = parts;
  const opened = await openFile(file, (options.stdin ?? process.stdin) as AsyncIterable<Buffer>);
  if ("reason" in opened) return report.lost(opened);
  const intake = new Intake(target, (line, reason) => report.reject({ file, line, reason }));
  let found: Recognised | undefined;
  try {
    found = await recognise(file, opened, parts);
    if (found?.importer !== undefined) await readBy(found.importer, { file, opened, ...found, intake, parts });
    else if (found !== undefined) await tellStranger({ file, opened, ...found, intake, parts });
    await intake.flush();
  } catch (error) {
    if (!isReadFailure(error)) throw error;
    await intake.flush();
    report.reject({ file, line: 0, reason: reasonOf(error) });
  } finally {
    found?.database?.close();
    await opened.close();
    const format = found?.importer?.format ?? "";
    const finished = report.finish(file, format, intake.totals);
    if (format !== "" || finished.rejected > 0) options.onFile?.(finished);
  }
}

/** What a file is, by its beginning. */
interface Recognised {
  readonly opening: Opening;
  /** Undefined where no format is recognised. */
  readonly importer: Importer | undefined;
  readonly database: Tables | undefined;
}

/** Undefined where there is nothing to read: an empty file, which holds nothing to lose, or a database that cannot be opened. */
async function recognise(
  file: string,
  opened: OpenedFile,
  { plan, report }: FileParts,
): Promise<Recognised | undefined> {
  if (opened.opening.length === 0) return undefined;
  report.files += 1;
  const database = isDatabase(opened.opening) ? await openTables(file, opened.opening) : undefined;
  if (database !== undefined && "reason" in database) {
    report.lost({ file, reason: database.reason });
    return undefined;
  }
  const opening = await readOpening(basename(file), { opened, tables: database?.tables });
  return { opening, importer: findImporter(opening, plan.format), database };
}

interface FileReading extends Omit<Recognised, "importer"> {
  readonly file: string;
  readonly opened: OpenedFile;
  readonly intake: Intake;
  readonly parts: FileParts;
}

async function readBy(importer: Importer, reading: FileReading): Promise<void> {
  const { file, opened, opening, database, intake, parts } = reading;
  const as_new = parts.options.as_new === true;
  const isChecked = importer.check !== undefined && !as_new;
  if (isChecked || importer.rereads === true || importer.reads === "document") await opened.keep();
  if (importer.check !== undefined && isChecked) {
    const reason = await importer.check(readRecords(opened.chunks(), EXPORTED_LEVELS_MAX));
    if (reason !== undefined) return parts.report.lost({ file, reason });
  }
  const source = new FileSource(file, {
    opened,
    opening,
    clock: parts.plan.clock,
    log: parts.target,
    as_new,
    defers: parts.plan.defers ?? (() => false),
    tell: parts.options.onProgress,
    intake,
    database,
  });
  await intake.takeAll(await source.read(importer));
}

/** A file in another encoding tells on each line that nothing was taken of it; any other of no known format once. */
async function tellStranger({ file, opened, opening, intake, parts }: FileReading): Promise<void> {
  if (isUtf16(opening.bytes)) {
    const items = oneByOne(readRecords(opened.chunks()));
    for await (const item of items) if ("reason" in item) await intake.take(item);
  }
  if (parts.report.rejectedOf(file) === 0) parts.report.lost({ file, reason: unknownFormat() });
}

function unknownFormat(): string {
  return `no format is recognised in it; known are ${importFormats.join(", ")}; --format names one where the content does not tell`;
}

/** Beyond this many of a file the rest is only counted: memory is bounded, and nobody reads further. */
const REJECTED_MAX = 10_000;

class Report {
  files = 0;
  #added = 0;
  #existing = 0;
  readonly #sessions = new Set<string>();
  readonly #rejected: RejectedLine[] = [];
  readonly #countByFile = new Map<string, number>();

  lost({ file, reason }: LostPath): void {
    this.reject({ file, line: 0, reason });
  }

  reject(rejected: RejectedLine): void {
    const count = this.rejectedOf(rejected.file) + 1;
    this.#countByFile.set(rejected.file, count);
    if (count <= REJECTED_MAX) this.#rejected.push(rejected);
  }

  rejectedOf(file: string): number {
    return this.#countByFile.get(file) ?? 0;
  }

  finish(file: string, format: string, totals: ImportTotals): ImportedFile {
    const rejected = this.rejectedOf(file);
    if (rejected > REJECTED_MAX) {
      const line = this.#rejected.at(-1)?.line ?? 0;
      this.#rejected.push({ file, line, reason: `and ${rejected - REJECTED_MAX} more lines after this one` });
    }
    this.#added += totals.added;
    this.#existing += totals.existing;
    for (const session of totals.sessions) this.#sessions.add(session);
    return { file, format, added: totals.added, existing: totals.existing, rejected };
  }

  result(): ImportReport {
    return {
      files: this.files,
      sessions: this.#sessions.size,
      added: this.#added,
      existing: this.#existing,
      rejected: this.#rejected,
    };
  }
}
