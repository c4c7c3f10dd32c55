// Import: finds the files, finds out what each of them is, and reads one after the other into the log.

import { basename } from "node:path";
import { Rejection, reject } from "../model/rejection.js";
import { parseClock, type WallClock } from "../model/time.js";
import { FileTally, ImportBatcher, type ImportTarget } from "./import-batcher.js";
import type { Importer, LogState, Opening } from "./importer.js";
import { EXPORTED_LEVELS_MAX, isUtf16, oneByOne, readRecords } from "./lines.js";
import { findImporter, importFormats } from "./registry.js";
import {
  FileSource,
  findFiles,
  isReadFailure,
  type OpenedFile,
  openFile,
  readOpening,
  reasonOf,
  type UnreadablePath,
} from "./source-files.js";
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
  readonly isGrowing?: () => boolean;
}

/** The door of an import: what can be refused before anything is read. */
export function parseImportOptions(options: ImportOptions): ImportPlan | Rejection {
  const { format = "", timezone } = options;
  if (format !== "" && !importFormats.includes(format)) {
    const message = `format ${JSON.stringify(String(format).slice(0, 40))} is not known`;
    return reject({
      code: "field_invalid",
      field: "format",
      message,
      hint: `Formats are ${importFormats.join(", ")}.`,
    });
  }
  const clock = parseClock(timezone);
  return clock instanceof Rejection ? clock : { clock, format };
}

export async function importFiles(
  paths: readonly string[],
  parts: { readonly plan: ImportPlan; readonly options: ImportOptions; readonly target: ImportTarget },
): Promise<ImportReport> {
  const report = new Report(parts.options.onFile);
  const batcher = new ImportBatcher(parts.target, report.open("").tally);
  try {
    for (const path of paths) {
      for await (const found of findFiles(path)) {
        if ("reason" in found) report.lost(found);
        else await importFile(found.file, { ...parts, report, batcher });
        // Files are told of when all of them is stored; how many may wait for that is bounded.
        if (report.isDue) {
          await batcher.flush();
          report.tell();
        }
      }
    }
    await batcher.flush();
  } finally {
    report.tell();
  }
  return report.result();
}

/** A file as long as this is stored in many batches. */
const MUCH_BYTES = 4 * 1024 * 1024;

interface FileParts {
  readonly plan: ImportPlan;
  readonly options: ImportOptions;
  readonly target: ImportTarget;
  readonly report: Report;
  readonly batcher: ImportBatcher;
}

async function importFile(file: string, parts: FileParts): Promise<void> {
  const { options, batcher, report } = parts;
  const opened = await openFile(file, (options.stdin ?? process.stdin) as AsyncIterable<Buffer>);
  if ("reason" in opened) return report.lost(opened);
  if ((opened.size ?? 0) >= MUCH_BYTES) parts.target.hintBulk?.();
  const reading = report.open(file);
  const { tally } = reading;
  batcher.beginFile(tally);
  let found: Recognised | undefined;
  try {
    found = await recognise(file, opened, parts);
    reading.format = found?.importer?.format ?? "";
    if (found?.importer !== undefined) await readWith(found.importer, { file, opened, ...found, tally, parts });
    else if (found !== undefined) await rejectUnknownFormat({ file, opened, ...found, tally, parts });
  } catch (error) {
    if (!isReadFailure(error)) throw error;
    tally.reject(0, reasonOf(error));
  } finally {
    found?.database?.close();
    await opened.close();
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
  readonly tally: FileTally;
  readonly parts: FileParts;
}

async function readWith(importer: Importer, reading: FileReading): Promise<void> {
  const { file, opened, opening, database, tally, parts } = reading;
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
    log: flushedLog(parts),
    as_new,
    isGrowing: parts.plan.isGrowing ?? (() => false),
    tell: parts.options.onProgress,
    tally,
    database,
  });
  await parts.batcher.takeAll(await source.read(importer));
}

/** The log as it is once all that was read before is in it. */
function flushedLog({ batcher, target }: FileParts): LogState {
  return {
    async head() {
      await batcher.flush();
      return target.head();
    },
    hashAt: (position) => target.hashAt(position),
  };
}

/** A file in another encoding tells on each line that nothing was taken of it; any other of no known format once. */
async function rejectUnknownFormat({ opened, opening, tally }: FileReading): Promise<void> {
  const items = isUtf16(opening.bytes) ? oneByOne(readRecords(opened.chunks())) : [];
  let isTold = false;
  for await (const item of items) {
    if (!("reason" in item)) continue;
    tally.reject(item.line, item.reason);
    isTold = true;
  }
  if (!isTold) tally.reject(0, unknownFormat(opening.bytes));
}

/** How archives and compressed files begin, in hexadecimal, in which transcripts are handed around: ZIP and gzip. */
const PACKED = ["504b0304", "1f8b"];

function unknownFormat(beginning: Uint8Array): string {
  const first = Buffer.from(beginning.subarray(0, 4)).toString("hex");
  if (PACKED.some((packed) => first.startsWith(packed))) {
    return "it is packed (ZIP or gzip); unpack it, and import what comes out";
  }
  return `no format is recognised; known are ${importFormats.join(", ")}; --format names one where the content does not tell`;
}

/** Beyond this many of a file the rest is only counted: memory is bounded, and nobody reads further. */
export const REJECTED_MAX = 10_000;
/** So many files may wait to be told of. */
const UNREPORTED_MAX = 500;

/** A file that is read, or was, and of which not all is stored yet. */
interface FileReport {
  readonly file: string;
  format: string;
  readonly tally: FileTally;
  readonly rejected: RejectedLine[];
  rejections: number;
}

class Report {
  files = 0;
  readonly #onFile: ImportOptions["onFile"];
  #added = 0;
  #existing = 0;
  readonly #sessions = new Set<string>();
  readonly #rejected: RejectedLine[] = [];
  #unreported: FileReport[] = [];

  constructor(onFile: ImportOptions["onFile"]) {
    this.#onFile = onFile;
  }

  open(file: string): FileReport {
    const tally = new FileTally((line, reason) => {
      opened.rejections += 1;
      if (opened.rejections <= REJECTED_MAX) opened.rejected.push({ file, line, reason });
    });
    const opened: FileReport = { file, format: "", tally, rejected: [], rejections: 0 };
    this.#unreported.push(opened);
    return opened;
  }

  /** A file or folder of which nothing can be read; one that was begun has it among its lines. */
  lost({ file, reason }: UnreadablePath): void {
    const last = this.#unreported.at(-1);
    const { tally } = last?.file === file ? last : this.open(file);
    tally.reject(0, reason);
  }

  get isDue(): boolean {
    return this.#unreported.length >= UNREPORTED_MAX;
  }

  /** Tells of the files that were read, once all of them is stored. */
  tell(): void {
    const told = this.#unreported;
    this.#unreported = [];
    for (const { file, format, tally, rejected, rejections } of told) {
      const { added, existing } = tally;
      this.#added += added;
      this.#existing += existing;
      for (const session of tally.sessions) this.#sessions.add(session);
      for (const line of rejected) this.#rejected.push(line);
      if (rejections > REJECTED_MAX) {
        const line = rejected.at(-1)?.line ?? 0;
        this.#rejected.push({ file, line, reason: `and ${rejections - REJECTED_MAX} more lines after this one` });
      }
      if (format !== "" || rejections > 0) this.#onFile?.({ file, format, added, existing, rejected: rejections });
    }
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
