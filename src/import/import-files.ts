// Import: finds the files, finds out what each of them is, and reads one after the other into the log.

import { basename } from "node:path";
import { isJson } from "../model/json.js";
import { type Rejection, reject } from "../model/rejection.js";
import { isTimezone, WallClock } from "../model/zoned-time.js";
import type { Importer, ImportSource, Opening } from "./importer.js";
import { type ImportTarget, type ImportTotals, Intake } from "./intake.js";
import { EXPORTED_LEVELS_MAX, readRecords } from "./lines.js";
import { importerNamed, importFormats, recogniseImporter } from "./registry.js";
import { findFiles, type LostPath, type OpenedFile, openFile, reasonOf, rereadable } from "./source-files.js";

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
  readonly importer: Importer | undefined;
}

/** The door of an import: what can be refused before anything is read. */
export function parseImportOptions(options: ImportOptions): ImportPlan | Rejection {
  const { format = "", timezone = "" } = options;
  const importer = importerNamed(format);
  if (format !== "" && importer === undefined) {
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
  return { clock: new WallClock(timezone === "" ? undefined : timezone), importer };
}

export async function importFiles(
  paths: readonly string[],
  parts: { readonly plan: ImportPlan; readonly options: ImportOptions; readonly target: ImportTarget },
): Promise<ImportReport> {
  const report = new Report();
  for (const path of paths) {
    for await (const found of findFiles(path)) {
      if ("reason" in found) report.lost(found);
      else await importFile(found.file, { ...parts, report, isNamed: found.isNamed });
    }
  }
  return report.result();
}

interface FileParts {
  readonly plan: ImportPlan;
  readonly options: ImportOptions;
  readonly target: ImportTarget;
  readonly report: Report;
  readonly isNamed: boolean;
}

async function importFile(file: string, parts: FileParts): Promise<void> {
  const { plan, options, target, report } = parts;
  const found = await openFile(file, (options.stdin ?? process.stdin) as AsyncIterable<Buffer>);
  if ("reason" in found) return report.lost(found);
  let opened: OpenedFile = found;
  const intake = new Intake(target, (line, reason) => report.reject({ file, line, reason }));
  let format = "";
  try {
    const opening = await readOpening(opened);
    const importer = plan.importer ?? recogniseImporter(opening);
    if (importer === undefined && !isWorthTelling(file, opening, parts.isNamed)) return;
    format = importer?.format ?? "";
    report.files += 1;
    if (importer?.check !== undefined && options.as_new !== true) {
      const twice = await rereadable(opened);
      opened = twice;
      const reason = await importer.check(readRecords(twice.again(), EXPORTED_LEVELS_MAX));
      if (reason !== undefined) return report.lost({ file, reason });
    }
    const source = toSource(file, { opened, opening, parts, intake });
    if (importer !== undefined) for await (const step of importer.read(source)) await intake.take(step);
    else if (opening.records.length > 0 || opening.is_one_value) report.lost({ file, reason: unknownFormat() });
    else for await (const item of source.records()) if ("reason" in item) await intake.take(item);
    await intake.flush();
  } catch (error) {
    if (!isReadFailure(error)) throw error;
    await intake.flush();
    report.reject({ file, line: 0, reason: reasonOf(error) });
  } finally {
    await opened.close();
    const finished = report.finish(file, format, intake.totals);
    if (format !== "" || finished.rejected > 0) options.onFile?.(finished);
  }
}

/** In a folder there may be anything; of a file that was named, or that looks meant, it is said that nothing came of it. */
function isWorthTelling(file: string, opening: Opening, isNamed: boolean): boolean {
  return isNamed || (/\.(?:jsonl|ndjson)$/i.test(file) && opening.bytes.length > 0);
}

function unknownFormat(): string {
  return `no format is recognised in it; known are ${importFormats.join(", ")}`;
}

/** What the disk did, and not the log: a log that fails ends the import. */
function isReadFailure(error: unknown): boolean {
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === "read" || syscall === "open";
}

async function readOpening(opened: OpenedFile): Promise<Opening> {
  const bytes = opened.opening;
  // The last line may go on beyond; a file that ends here has it whole.
  const end = bytes.length === opened.size ? bytes.length : bytes.lastIndexOf(0x0a) + 1;
  const records = [];
  const whole = bytes.subarray(0, end === 0 ? bytes.length : end);
  // A line may tell the format although that format will not take it.
  const items = readRecords(once(whole), EXPORTED_LEVELS_MAX);
  for await (const item of items) if ("record" in item) records.push(item.record);
  return { bytes, records, is_one_value: isOneValue(whole, records.length) };
}

/** Then more objects are followed by a comma, as items of a list are, than stand alone on their lines. */
function isOneValue(bytes: Buffer, alone: number): boolean {
  let items = 0;
  for (const line of bytes.toString("utf8").split("\n")) {
    const [, item] = /^\ufeff?\s*\[?\s*(\{.*\})\s*,\s*$/.exec(line) ?? [];
    if (item !== undefined && isJson(item)) items += 1;
  }
  return items > 0 && items >= alone;
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

function toSource(
  file: string,
  open: {
    readonly opened: OpenedFile;
    readonly opening: Opening;
    readonly parts: FileParts;
    readonly intake: Intake;
  },
): ImportSource {
  const { opened, opening, parts, intake } = open;
  const { onProgress } = parts.options;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of opened.chunks) {
      yield chunk;
      intake.bytes += chunk.length;
      const { bytes, totals } = intake;
      onProgress?.({ file, bytes, bytes_total: opened.size, added: totals.added, existing: totals.existing });
    }
  }
  return {
    stem: file === "-" ? "stdin" : basename(file).replace(/(?<=.)\.[^.]*$/, ""),
    modified_ms: opened.modified_ms,
    opening,
    clock: parts.plan.clock,
    log: parts.target,
    as_new: parts.options.as_new === true,
    records: (levels) => readRecords(counted(), levels),
  };
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
