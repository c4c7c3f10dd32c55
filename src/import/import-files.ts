// Import: finds the files, recognises the format of each, and reads one after the other into the log.
import { basename, resolve } from "node:path";
import type { AbortSignalLike } from "../model/abort-signal.js";
import { holdsOwnRequest } from "../model/own-requests.js";
import { Rejection, reject } from "../model/rejection.js";
import { parseClock, type WallClock } from "../model/time.js";
import { DerivedAgain } from "./again.js";
import { isDatabase, openTables, type Tables } from "./foreign-databases.js";
import { FileTally, ImportBatcher, type ImportTarget, type ProposeMemory } from "./import-batcher.js";
import type { FormatsRead, Importer, LogState, Opening } from "./importer.js";
import { EXPORTED_LEVELS_MAX, isUtf16, oneByOne, readRecords } from "./lines.js";
import { formatsOfFound, knownPlaces } from "./places.js";
import { findImporter, importFormats, whyRefused } from "./registry.js";
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

export interface ImportOptions {
  /** Forces a format, if the content does not identify it. */
  readonly format?: string | undefined;
  /** An IANA zone for times without one; the machine's own by default. */
  readonly timezone?: string | undefined;
  /** Gives entries of Hansard's own export new positions, which also imports one whose chain is broken. */
  readonly as_new?: boolean | undefined;
  /** The export is of a log of one's own: it is restored as it was, and its verdicts on memories count. */
  readonly restore?: boolean | undefined;
  /** The paths were found and not named by a person: no export is read, and in a tool's folder only its formats. */
  readonly found?: boolean | undefined;
  /** Derives sessions again that an older version brought, and replaces what it made of them. */
  readonly again?: boolean | undefined;
  /** What the path `-` reads; the program's standard input by default. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Called now and then with the progress of the import. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
  /** Called for each file once it is done. */
  readonly onFile?: ((file: ImportedFile) => void) | undefined;
}

export interface ImportProgress {
  readonly file: string;
  readonly bytes: number;
  /** Undefined for a stream. */
  readonly bytes_total: number | undefined;
  readonly added: number;
  readonly existing: number;
}

export interface ImportedFile {
  readonly file: string;
  /** Empty if no format was recognised. */
  readonly format: string;
  readonly added: number;
  readonly existing: number;
  readonly rejected: number;
}

/** A line that was left out. Line 0 means the file as a whole. */
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
  /** Empty if the content decides. */
  readonly format: string;
  /** Whether a program is still writing to the files: unfinished records are then left out, and read again later. */
  readonly isGrowing?: () => boolean;
  /** Ends the reading of a database at once. */
  readonly signal?: AbortSignalLike;
  /** The formats that are read; decided for each file, where it is left out. */
  readonly formats?: FormatsRead | undefined;
}

/** Checks the options before anything is read. */
export function parseImportOptions(options: ImportOptions): ImportPlan | Rejection {
  const { format = "", timezone } = options;
  if (format !== "" && !importFormats.includes(format)) {
    const message = `unknown format ${JSON.stringify(String(format).slice(0, 40))}`;
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
  parts: {
    readonly plan: ImportPlan;
    readonly options: ImportOptions;
    readonly target: ImportTarget;
    readonly propose?: ProposeMemory | undefined;
    /** Called with each session that something was read of. */
    readonly onSession?: ((session_id: string) => void) | undefined;
  },
): Promise<ImportReport> {
  const { options, target, propose } = parts;
  const report = new Report(options.onFile);
  const batcher = new ImportBatcher({ target, propose, tally: report.open("").tally });
  const places = knownPlaces();
  const { sessions } = target;
  const again = parts.options.again === true && sessions !== undefined ? new DerivedAgain(sessions) : undefined;
  try {
    for (const path of paths) {
      for await (const found of findFiles(path)) {
        if ("reason" in found) report.lost(found);
        else {
          const isNamed = found.file === path && options.found !== true;
          const formats = parts.plan.formats ?? (isNamed ? undefined : formatsOfFound(resolve(found.file), places));
          await importFile(found.file, { ...parts, plan: { ...parts.plan, formats }, report, batcher, again });
        }
        // A file is reported once all of it is stored; the number of files that wait for that is limited.
        if (report.isDue) {
          await batcher.flush();
          report.tell();
        }
      }
    }
    await batcher.flush();
    await again?.finish();
  } finally {
    report.tell();
  }
  for (const session of report.sessions) parts.onSession?.(session);
  return report.result();
}

/** A file of this size is worth announcing to the log. */
const MUCH_BYTES = 4 * 1024 * 1024;

interface FileParts {
  readonly plan: ImportPlan;
  readonly options: ImportOptions;
  readonly target: ImportTarget;
  readonly report: Report;
  readonly batcher: ImportBatcher;
  readonly again: DerivedAgain | undefined;
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
    await found?.database?.close();
    await opened.close();
  }
}

/** The format of a file, by its opening. */
interface Recognised {
  readonly opening: Opening;
  /** Undefined if no format is recognised. */
  readonly importer: Importer | undefined;
  readonly database: Tables | undefined;
}

/** Undefined if there is nothing to read: an empty file, a session in which this program asked a model, or a database that cannot be opened. */
async function recognise(
  file: string,
  opened: OpenedFile,
  { plan, report }: FileParts,
): Promise<Recognised | undefined> {
  if (opened.opening.length === 0 || holdsOwnRequest(opened.opening)) return undefined;
  report.files += 1;
  const database = isDatabase(opened.opening)
    ? await openTables(file, { opening: opened.opening, signal: plan.signal })
    : undefined;
  if (database !== undefined && "reason" in database) {
    report.lost({ file, reason: database.reason });
    return undefined;
  }
  const opening = await readOpening(basename(file), { opened, tables: database?.tables });
  return { opening, importer: findImporter(opening, plan), database };
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
    restores: parts.options.restore === true,
    isGrowing: parts.plan.isGrowing ?? (() => false),
    tell: parts.options.onProgress,
    tally,
    database,
  });
  const steps = await source.read(importer);
  await parts.batcher.takeAll(parts.again === undefined ? steps : parts.again.steps(steps));
}

/** The log, flushed before its head is read. */
function flushedLog({ batcher, target }: FileParts): LogState {
  return {
    async head() {
      await batcher.flush();
      return target.head();
    },
    hashAt: (position) => target.hashAt(position),
  };
}

/** A file in another encoding is rejected line by line; any other file of unknown format once. */
async function rejectUnknownFormat({ opened, opening, tally, parts }: FileReading): Promise<void> {
  const refused = whyRefused(opening, parts.plan);
  if (refused !== undefined) {
    tally.reject(0, refused);
    return;
  }
  const items = isUtf16(opening.bytes) ? oneByOne(readRecords(opened.chunks())) : [];
  let isTold = false;
  for await (const item of items) {
    if (!("reason" in item)) continue;
    tally.reject(item.line, item.reason);
    isTold = true;
  }
  if (!isTold) tally.reject(0, unknownFormat(opening.bytes));
}

/** The first bytes of ZIP and gzip files, in hexadecimal. */
const PACKED = ["504b0304", "1f8b"];

function unknownFormat(beginning: Uint8Array): string {
  const first = Buffer.from(beginning.subarray(0, 4)).toString("hex");
  if (PACKED.some((packed) => first.startsWith(packed))) {
    return "it is compressed (ZIP or gzip): decompress it and import the result";
  }
  return `unknown format; known formats are ${importFormats.join(", ")}; name one with --format if the content does not show it`;
}

/** Further rejected lines of a file are only counted. */
export const REJECTED_MAX = 10_000;
/** At most this many files wait to be reported. */
const UNREPORTED_MAX = 500;

/** A file that is not completely stored yet. */
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
  readonly sessions = new Set<string>();
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

  /** A file or folder that cannot be read; if reading had begun, the reason is among its rejected lines. */
  lost({ file, reason }: UnreadablePath): void {
    const last = this.#unreported.at(-1);
    const { tally } = last?.file === file ? last : this.open(file);
    tally.reject(0, reason);
  }

  get isDue(): boolean {
    return this.#unreported.length >= UNREPORTED_MAX;
  }

  /** Reports the files that were read, once all of them is stored. */
  tell(): void {
    const told = this.#unreported;
    this.#unreported = [];
    for (const { file, format, tally, rejected, rejections } of told) {
      const { added, existing } = tally;
      this.#added += added;
      this.#existing += existing;
      for (const session of tally.sessions) this.sessions.add(session);
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
      sessions: this.sessions.size,
      added: this.#added,
      existing: this.#existing,
      rejected: this.#rejected,
    };
  }
}
