// One look at a watched file: what has come since the last one is read, by lines from where they were left, or whole.
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { FileSource } from "../file-source.js";
import { type ImportedFile, type ImportPlan, importFiles, REJECTED_MAX, type RejectedLine } from "../import-files.js";
import type { LineImporter, Opening } from "../importer.js";
import { Account, type ImportTarget, Intake } from "../intake.js";
import { readOpening } from "../opening.js";
import { findImporter, importerNamed, nameOf } from "../registry.js";
import { OPENING_BYTES, openFile } from "../source-files.js";
import { isDatabase } from "../tables.js";
import { isCompressed } from "../zstd.js";
import type { Bookmark, Bookmarks, KeptBookmark, Place } from "./bookmarks.js";
import { continues, GrowingFile } from "./growing-lines.js";
import { type SeenFile, toSeen } from "./seen-files.js";

/**
 * A file that nobody has written to for this long is taken to be at its end, for now. One that is read whole may tell of
 * something that goes on elsewhere, such as in files beside it.
 */
export const SETTLE_MS = { lines: 60_000, whole: 600_000 } as const;
/** As much as tells a database and a packed file. */
const OPENING_MAGIC_BYTES = 16;

export interface LookParts {
  readonly plan: ImportPlan;
  readonly target: ImportTarget;
  readonly bookmarks: Bookmarks;
  readonly nowMs: () => number;
  /** Ends a look at a long file before its end. */
  readonly signal: AbortSignal;
}

/** What a look at a file brought. */
export interface Looked {
  readonly format: string;
  readonly added: number;
  readonly existing: number;
  readonly bytes: number;
  readonly rejected: readonly RejectedLine[];
  readonly bookmark: Bookmark;
}

const nothing = { format: "", added: 0, existing: 0, bytes: 0, rejected: [] };

/** A file that cannot be read, in words for whoever watches it. */
export class UnreadableFile extends Error {}

/** Reads what is new in a file. A failure to read it is thrown, and so is one of the log. */
export async function lookAt(path: string, parts: LookParts): Promise<Looked> {
  const handle = await open(path, "r");
  try {
    const found = toSeen(path, await handle.stat(), false);
    const bookmark = parts.bookmarks.find(found.key, path);
    const quiet_ms = quietMs(found, bookmark, parts.nowMs());
    const seen: Seen = { ...found, handle, quiet_ms, generation: parts.bookmarks.generation };
    const place = bookmark?.place;
    const importer = bookmark === undefined ? undefined : importerNamed(bookmark.importer);
    if (place !== undefined && importer?.reads === "lines" && (await continues(handle, place))) {
      return await readOn(seen, { importer, place, opening: unopened(path) }, parts);
    }
    return await readAnew(seen, parts);
  } finally {
    await handle.close();
  }
}

interface Seen extends SeenFile {
  readonly handle: FileHandle;
  /** For how long nobody has written to it. */
  readonly quiet_ms: number;
  readonly generation: number;
}

/** A file's own time may lie in the future, and then only the last look at it tells how long nobody has written. */
function quietMs(found: SeenFile, last: KeptBookmark | undefined, nowMs: number): number {
  const since = last?.stamp === found.stamp ? last.saved_ms : nowMs;
  return nowMs - Math.min(found.modified_ms, since);
}

/** What was left in the middle needs no beginning: its importer noted what it took from there. */
function unopened(path: string): Opening {
  const name = basename(path);
  return { name, bytes: Buffer.alloc(0), records: [], document: undefined, is_one_value: false, tables: undefined };
}

async function readAnew(seen: Seen, parts: LookParts): Promise<Looked> {
  const { path, handle } = seen;
  const { buffer: first, bytesRead } = await handle.read(Buffer.alloc(OPENING_MAGIC_BYTES), 0, OPENING_MAGIC_BYTES, 0);
  const magic = first.subarray(0, bytesRead);
  if (isDatabase(magic) || isCompressed(magic)) return readWhole(seen, parts);
  const opened = await openFile(path, process.stdin as AsyncIterable<Buffer>);
  if ("reason" in opened) throw new UnreadableFile(opened.reason);
  const opening = await readOpening(basename(path), { opened, tables: undefined });
  await opened.close();
  const importer = findImporter(opening, parts.plan.format);
  if (importer === undefined) {
    // Its first lines may still be written: it is called a stranger when it has settled.
    if (seen.quiet_ms >= SETTLE_MS.lines || seen.bytes >= OPENING_BYTES) return readWhole(seen, parts);
    return { ...nothing, bookmark: await keep(seen, parts, { is_settled: false }) };
  }
  // What is checked as a whole before anything is taken cannot be taken piece by piece.
  const grows = importer.reads === "lines" && importer.check === undefined;
  return grows ? readOn(seen, { importer, place: undefined, opening }, parts) : readWhole(seen, parts);
}

/** Lines from where they were left. */
async function readOn(
  seen: Seen,
  source: { readonly importer: LineImporter; readonly place: Place | undefined; readonly opening: Opening },
  parts: LookParts,
): Promise<Looked> {
  const { importer, place, opening } = source;
  const { handle, bytes: size, modified_ms } = seen;
  const file = place?.file ?? seen.path;
  const rejected: RejectedLine[] = [];
  const account = new Account((line, reason) => {
    if (rejected.length < REJECTED_MAX) rejected.push({ file: seen.path, line, reason });
  });
  const intake = new Intake(parts.target, account);
  const name = nameOf(importer);
  const deferring = new Deferring(seen.quiet_ms < SETTLE_MS.lines);
  let reached = place;
  const growing = await GrowingFile.open({
    handle,
    file,
    place,
    signal: parts.signal,
    flush: () => intake.flush(),
    reach: async (next, is_last) => {
      reached = next;
      // Whoever is ended on the way must find that there is more to read.
      if (!is_last) await keep({ ...seen, stamp: "" }, parts, { importer: name, place: next, is_settled: false });
    },
  });
  const read = new FileSource(file, {
    opened: { size, modified_ms: Math.floor(modified_ms), chunks: () => undefined },
    opening,
    clock: parts.plan.clock,
    log: parts.target,
    as_new: false,
    tell: undefined,
    account,
    database: undefined,
    growing,
    defers: deferring.asked,
  });
  await intake.takeAll(await read.read(importer));
  await intake.flush();
  const { added, existing } = account;
  const bookmark = await keep(seen, parts, { importer: name, place: reached, is_settled: !deferring.isDone });
  return { format: importer.format, added, existing, bytes: growing.bytes, rejected, bookmark };
}

/** Whether an importer left something out because somebody is writing. */
class Deferring {
  isDone = false;
  readonly asked: () => boolean;

  constructor(isGrowing: boolean) {
    this.asked = () => {
      this.isDone ||= isGrowing;
      return isGrowing;
    };
  }
}

/** All of it, because it is no file of lines, or one that cannot be read in pieces. */
async function readWhole(seen: Seen, parts: LookParts): Promise<Looked> {
  let format = "";
  const onFile = (file: ImportedFile): void => {
    format = file.format;
  };
  const onProgress = (): void => parts.signal.throwIfAborted();
  const deferring = new Deferring(seen.quiet_ms < SETTLE_MS.whole);
  const plan = { ...parts.plan, defers: deferring.asked };
  const options = { onFile, onProgress };
  const { added, existing, rejected } = await importFiles([seen.path], { target: parts.target, plan, options });
  const bookmark = await keep(seen, parts, { importer: format, is_settled: !deferring.isDone });
  return { format, added, existing, bytes: seen.bytes, rejected, bookmark };
}

async function keep(
  { key, path, stamp, generation }: Seen,
  { bookmarks }: LookParts,
  { importer = "", place, is_settled }: Pick<Bookmark, "is_settled"> & Partial<Bookmark>,
): Promise<Bookmark> {
  const bookmark = { key, path, stamp, importer, is_settled, place };
  await bookmarks.save(bookmark, generation);
  return bookmark;
}
