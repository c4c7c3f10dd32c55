// Errors of SQLite and of the file system, as faults that say what to do.
import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { IndexFault } from "../../index/index-holder.js";
import { Fault } from "../../model/fault.js";

/** With less free space than this, an I/O error is reported as a full disk. */
const SPACE_BYTES_MIN = 1024 * 1024;

/** SQLite grows files in steps of at most this, except the WAL, which it fills to the last byte. */
const SIZE_STEP_BYTES = 64 * 1024;

/** Turns an error of SQLite or the file system into a fault with a hint; unknown errors keep their message. */
export function toFault(error: unknown, path: string): Fault {
  if (error instanceof Fault) return error;
  const code = codeOf(error);
  const details = { cause: error };
  const message = error instanceof Error ? error.message : String(error);
  if (isAtSizeLimit(code, path)) {
    const hint = "Raise the limit (`ulimit -f`) and start again; nothing was half stored.";
    const limited = `${path} cannot grow: this process has reached its file size limit`;
    return new Fault("disk_full", limited, { ...details, hint });
  }
  if (isFullDisk(code, path)) {
    const hint = "Free some space. Recording then continues; nothing was stored partially.";
    return new Fault("disk_full", `the disk that holds ${path} is full`, { ...details, hint });
  }
  if (code.startsWith("SQLITE_READONLY") || code === "EACCES" || code === "EPERM" || code === "EROFS") {
    const hint = "Make the folder and its files writable for this user, or choose another with --data.";
    return new Fault("store_not_writable", `${path} cannot be written (${message})`, { ...details, hint });
  }
  if (
    code.startsWith("SQLITE_CANTOPEN") ||
    code === "ENOENT" ||
    code === "ENOTDIR" ||
    code === "EISDIR" ||
    code === "EEXIST"
  ) {
    const hint = "Check that --data names a folder that this user may read and write.";
    return new Fault("store_not_writable", `${path} cannot be opened (${message})`, { ...details, hint });
  }
  if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) {
    const hint = "Run `hansard doctor` for what is damaged and what to do; do not write to the file.";
    return new Fault("store_corrupt", `${path} is damaged (${message})`, { ...details, hint });
  }
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    const hint = "Another program has locked the store; try again, or find it with `fuser` on the file.";
    return new Fault("store_busy", `${path} is locked (${message})`, { ...details, hint });
  }
  const hint = "Run `hansard doctor`; if it finds nothing, please report this as a bug.";
  return new Fault("store_failed", `${path}: ${message}`, { ...details, hint });
}

/** SQLite reports a full disk as an I/O error if it could not grow its shared memory or its WAL. */
function isFullDisk(code: string, path: string): boolean {
  if (code === "SQLITE_FULL" || code === "ENOSPC" || code === "EDQUOT" || code === "SQLITE_IOERR_SHMSIZE") return true;
  if (!code.startsWith("SQLITE_IOERR")) return false;
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < SPACE_BYTES_MIN;
  } catch {
    return false;
  }
}

/** SQLite reports a reached file size limit as an I/O error. Windows has no such limit. */
function isAtSizeLimit(code: string, path: string): boolean {
  if (code === "EFBIG") return true;
  if (!code.startsWith("SQLITE_IOERR") && code !== "SQLITE_FULL") return false;
  try {
    const limit = fileSizeMax();
    if (limit === undefined) return false;
    const sizes = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
    return Math.max(...sizes) + SIZE_STEP_BYTES > limit;
  } catch {
    return false;
  }
}

/** In bytes, although Node calls them blocks. */
function fileSizeMax(): number | undefined {
  // Looking up the names of open connections takes seconds.
  const report: typeof process.report & { excludeNetwork?: boolean } = process.report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { readonly userLimits?: UserLimits };
  const soft = userLimits?.file_size_blocks?.soft;
  return typeof soft === "number" ? soft : undefined;
}

interface UserLimits {
  readonly file_size_blocks?: { readonly soft: number | "unlimited" };
}

export function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : "";
}

const HINT = "Nothing is lost, the index is derived: `hansard doctor --rebuild-index` rebuilds it.";

export function toIndexFault(error: unknown, path: string): IndexFault {
  if (error instanceof IndexFault) return error;
  const { code, message, hint } = toFault(error, path);
  const isDamage = code === "store_corrupt" || contradictsItself(error);
  if (isDamage) return new IndexFault("store_corrupt", message, { hint: HINT, cause: error });
  return new IndexFault(code, message, { hint, cause: error });
}

/** Missing tables, or rows past the checkpoint, come from outside: the index itself leaves neither. */
function contradictsItself(error: unknown): boolean {
  const code = codeOf(error);
  if (code.startsWith("SQLITE_CONSTRAINT")) return true;
  return code === "SQLITE_ERROR" && /no such (table|column)/.test((error as Error).message);
}
