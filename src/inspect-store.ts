// Looks at a store from the outside, also where it cannot be opened, for `hansard doctor`.
import { accessSync, constants, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Diagnosis, diagnose, type FolderFacts, type StoreFacts } from "./custody/doctor.js";
import { type Verification, verify } from "./custody/verify.js";
import { inspectFile } from "./engines/sqlite/inspect.js";
import { SqliteLog } from "./engines/sqlite/log.js";

export type { Diagnosis, Finding } from "./custody/doctor.js";

export interface InspectOptions {
  /** The folder of the store. */
  readonly data: string;
  /** Told what is being looked at; the checks of a large store take a while. */
  readonly onStep?: (says: string) => void;
}

export async function inspectStore(options: InspectOptions): Promise<Diagnosis> {
  return diagnose(await gatherFacts(options));
}

/** Removes an index that cannot be opened. It is derived from the log, and built anew by the next read. */
export function discardDamagedIndex(data: string): void {
  const path = join(data, "index.db");
  const { state } = inspectFile({ path, role: "index" });
  if (state !== "damaged" && state !== "not_a_database") return;
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

async function gatherFacts({ data, onStep = () => undefined }: InspectOptions): Promise<StoreFacts> {
  const folder = folderFacts(data);
  const outside = { node_version: process.versions.node, folder, disk_free_bytes: freeBytes(data) };
  if (folder.state !== "there") return { ...outside, log: undefined, index: undefined, chain: undefined };
  onStep("Checking log.db …");
  const log = inspectFile({ path: join(data, "log.db"), role: "log" });
  onStep("Checking index.db …");
  const index = inspectFile({ path: join(data, "index.db"), role: "index" });
  const chain = log.state === "current" ? await walkChain(log, onStep) : undefined;
  return { ...outside, log, index, chain };
}

async function walkChain(
  log: { readonly path: string; readonly position: number },
  onStep: (says: string) => void,
): Promise<Verification | { readonly failure: string }> {
  try {
    const open = SqliteLog.open({ path: log.path, mode: "read" });
    try {
      return await verify(open, {
        onProgress: (through) => onStep(`Walking the chain: ${through} of ${log.position} …`),
      });
    } finally {
      await open.close();
    }
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

function folderFacts(path: string): FolderFacts {
  const facts = { path, reason: "", mode: 0, is_writable: false };
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return { ...facts, state: "missing" };
    const here = { ...facts, mode: found.mode & 0o777, is_writable: isAllowed(path, constants.W_OK | constants.X_OK) };
    if (!found.isDirectory()) return { ...here, state: "not_a_folder" };
    accessSync(path, constants.R_OK | constants.X_OK);
    return { ...here, state: "there" };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR") return { ...facts, state: "missing" };
    return { ...facts, state: "unreadable", reason: message };
  }
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** What an ordinary user may still write; undefined where the folder is not there to ask about. */
function freeBytes(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}
