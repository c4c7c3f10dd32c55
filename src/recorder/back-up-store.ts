// Backup and restore of a store in a folder: one file with the whole log, verified before it counts.
import { existsSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { toFault } from "../engines/sqlite/faults.js";
import { indexFilesIn } from "../engines/sqlite/index-file.js";
import { copyFile, isOwnedByUs } from "../engines/sqlite/inspect.js";
import { SqliteLog } from "../engines/sqlite/log.js";
import { openStore } from "../engines/stores.js";
import { Sealing } from "../log/seals/sealing.js";
import { verify } from "../log/verify.js";
import { Fault } from "../model/fault.js";
import { makeFolder, writeWholeFile } from "../model/files.js";
import { isStoreFileName, storeFiles, withCompanions } from "../model/store-location.js";
import type { Verification } from "../model/verification.js";
import { hasKeys } from "./copy-store.js";

/** What was written, and the last hash of its chain. */
export interface StoreCopy {
  readonly path: string;
  readonly bytes: number;
  readonly log_id: string;
  readonly entries: number;
  readonly erased: number;
  readonly position: number;
  readonly hash: string;
  /** Files of a lost log; they are kept next to the restored one. */
  readonly set_aside?: readonly string[];
}

/** A restored store, and whether it has keys. */
export type StoreRestored = StoreCopy & { readonly has_keys: boolean };

export interface BackupOptions {
  /** The folder of the store. */
  readonly data: string;
  /** The file to write. */
  readonly path: string;
  /** Whether an existing file may be replaced. */
  readonly replaces: boolean;
  /** Called with the progress; large stores take a while. */
  readonly onStep?: (says: string) => void;
}

/** Copies the log while others read and write it. The index is derived from it and left out. */
export async function backUpStore(options: BackupOptions): Promise<StoreCopy> {
  const { data, path, replaces, onStep = () => undefined } = options;
  const source = storeFiles(data).log;
  await openAndClose(source);
  if (isStoreFileName(basename(path)) && existsSync(storeFiles(dirname(path)).log)) {
    throw taken(path, "It belongs to a store and cannot be replaced. Choose another file.");
  }
  if (!replaces && existsSync(path)) throw taken(path, "Name another file, or replace it with --force.");
  if (!existsSync(dirname(path))) {
    const hint = "Create the folder first, or choose another path.";
    throw new Fault("file_not_written", `there is no folder ${dirname(path)}`, { hint });
  }
  return copyWhole({ source, path, replaces, onStep, hint: "Name another file, or replace it with --force." });
}

export interface RestoreOptions {
  /** A backup, or a folder with a store. */
  readonly from: string;
  /** The folder for the store. */
  readonly data: string;
  /** The key that signs seals, if not the user's own: the newest seal of another state is discarded. */
  readonly seal_key?: string | undefined;
  readonly onStep?: (says: string) => void;
}

/**
 * Creates a store from a backup, in a folder without a store or with a lost log. What its index and its newest seal
 * expect of the lost log is discarded: the person who restores has decided.
 */
export async function restoreStore(options: RestoreOptions): Promise<StoreRestored> {
  const { from, data, onStep = () => undefined } = options;
  const source = statSync(from, { throwIfNoEntry: false })?.isDirectory() === true ? storeFiles(from).log : from;
  await openAndClose(source);
  const hint =
    "Name a folder without a log with --data, or move log.db and the files next to it out of this one; " +
    "nothing that is there is ever overwritten.";
  const { log: path } = storeFiles(data);
  if (existsSync(path) && statSync(path).size > 0) throw taken(path, hint);
  const inTheWay = indexFilesIn(data).find((index) => !isOwnedByUs(index));
  if (inTheWay !== undefined) throw taken(inTheWay, hint);
  const isNew = !existsSync(data);
  try {
    makeFolder(data, 0o700);
  } catch (error) {
    throw toFault(error, data);
  }
  try {
    const set_aside: string[] = [];
    const copy = await copyWhole({
      source,
      path,
      replaces: false,
      onStep,
      hint,
      onProven: () => set_aside.push(...setAside(path)),
    });
    await makePeace(path, options);
    const has_keys = await hasKeys(await openStore({ address: data, mode: "read" }));
    return { ...copy, ...(set_aside.length === 0 ? {} : { set_aside }), has_keys };
  } catch (error) {
    if (isNew && !existsSync(path)) rmdirSync(data);
    throw error;
  }
}

/** A WAL without its log may hold the newest entries. Next to another log, SQLite would apply it to that one. */
function setAside(path: string): readonly string[] {
  const [, wal] = withCompanions(path) as readonly [string, string, string];
  const kept = `${wal}.aside-${Date.now()}`;
  const hasWal = existsSync(wal) && statSync(wal).size > 0;
  if (hasWal) renameSync(wal, kept);
  for (const file of withCompanions(path)) rmSync(file, { force: true });
  return hasWal ? [kept] : [];
}

async function makePeace(path: string, { data, seal_key }: RestoreOptions): Promise<void> {
  for (const index of indexFilesIn(data)) for (const file of withCompanions(index)) rmSync(file, { force: true });
  const log = SqliteLog.open({ path, mode: "read" });
  try {
    await Sealing.of({ seal_key, data }).accept(log);
  } finally {
    await log.close();
  }
}

async function copyWhole(plan: {
  readonly source: string;
  readonly path: string;
  readonly replaces: boolean;
  readonly onStep: (says: string) => void;
  readonly hint: string;
  /** Called once the copy is complete, before it is moved into place. */
  readonly onProven?: () => void;
}): Promise<StoreCopy> {
  const { source, path, replaces, onStep, hint, onProven } = plan;
  let copy: Omit<StoreCopy, "path"> | undefined;
  try {
    const isWritten = await writeWholeFile({ path, replaces }, async (draft) => {
      onStep("Copying the log …");
      copyFile({ source, target: draft });
      copy = await prove(draft, onStep);
      onProven?.();
    });
    if (!isWritten) throw taken(path, hint);
  } catch (error) {
    throw toFault(error, path);
  }
  return { path, ...(copy as Omit<StoreCopy, "path">) };
}

/** Walks the copy's chain, because a backup that was never read is not proven. */
async function prove(draft: string, onStep: (says: string) => void): Promise<Omit<StoreCopy, "path">> {
  const log = SqliteLog.open({ path: draft, mode: "read" });
  try {
    const { log_id, position } = await log.head();
    const onProgress = (through: number): void => onStep(`Checking the copy: ${through} of ${position} …`);
    const result = await verify(log, { onProgress });
    if (!result.ok) throw unproven(result);
    const { ok: _, ...proven } = result;
    return { bytes: statSync(draft).size, log_id, ...proven };
  } finally {
    await log.close();
  }
}

/** The usual message for a store that cannot be read. */
async function openAndClose(path: string): Promise<void> {
  if (existsSync(dirname(path)) && statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new Fault("store_missing", `there is no store: ${path} does not exist`, {
      hint: "Name the folder of a store with --data, or the file of a backup.",
    });
  }
  await SqliteLog.open({ path, mode: "read" }).close();
}

function unproven(result: Verification & { readonly ok: false }): Fault {
  return new Fault("store_corrupt", `the copy does not verify: position ${result.position}, ${result.reason}`, {
    hint: "Nothing was written. The store was probably damaged before; run `hansard doctor`.",
  });
}

function taken(path: string, hint: string): Fault {
  return new Fault("file_exists", `${path} already exists`, { hint });
}
