// Looks at a store from the outside, also where it cannot be opened, for `hansard doctor`.
import { accessSync, constants, statfsSync, statSync } from "node:fs";
import {
  type Diagnosis,
  diagnose,
  type Finding,
  type FolderFacts,
  type StoreFacts,
  warningFindings,
} from "./custody/doctor.js";
import { verify } from "./custody/verify.js";
import { discardIndex } from "./engines/sqlite/index-file.js";
import { inspectFile } from "./engines/sqlite/inspect.js";
import { SqliteLog } from "./engines/sqlite/log.js";
import { shownPlace } from "./model/data-address.js";
import { Fault } from "./model/fault.js";
import type { StoreFiles } from "./model/store-files.js";
import type { Verification } from "./model/verification.js";
import type { Store } from "./ports/store.js";
import { filesOf, openStore } from "./stores.js";

export type { Diagnosis, Finding } from "./custody/doctor.js";

export interface InspectOptions {
  /** The folder of the store. */
  readonly data: string;
  /** Told what is being looked at; the checks of a large store take a while. */
  readonly onStep?: (says: string) => void;
}

export async function inspectStore(options: InspectOptions): Promise<Diagnosis> {
  const files = filesOf(options.data);
  return files === undefined ? inspectDatabase(options) : diagnose(await gatherFacts(options, files));
}

/** Removes an index that is damaged. It is derived from the log; whoever has it open begins another one. */
export function discardDamagedIndex(data: string): void {
  const path = filesOf(data)?.index;
  if (path === undefined) return;
  const { state } = inspectFile({ path, role: "index" });
  if (state === "damaged" || state === "not_a_database") discardIndex(path);
}

/** PostgreSQL looks after its own files; what is left is whether it can be used, and whether the log is whole. */
async function inspectDatabase({ data, onStep = () => undefined }: InspectOptions): Promise<Diagnosis> {
  onStep("Opening the database …");
  let store: Store;
  try {
    store = await openStore({ address: data, mode: "read" });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { ok: false, findings: [{ level: "fail", check: "database", message: error.message, hint: error.hint }] };
  }
  try {
    const log = await store.log("read");
    const { position } = await log.head();
    const onProgress = (through: number): void => onStep(`Walking the chain: ${through} of ${position} …`);
    return databaseDiagnosis(shownPlace(data), await verify(log, { onProgress }));
  } finally {
    await store.close();
  }
}

function databaseDiagnosis(where: string, checked: Verification): Diagnosis {
  const database: Finding = { level: "ok", check: "database", message: `${where} can be read and written` };
  if (checked.ok) {
    const message = `${checked.entries} entries are as they were recorded`;
    return { ok: true, findings: [database, { level: "ok", check: "chain", message }, ...warningFindings(checked)] };
  }
  const message = `position ${checked.position}: ${checked.reason}`;
  const hint = "Everything before it is as it was recorded; restore the database from a backup.";
  return { ok: false, findings: [database, { level: "fail", check: "chain", message, hint }] };
}

async function gatherFacts({ data, onStep = () => undefined }: InspectOptions, files: StoreFiles): Promise<StoreFacts> {
  const folder = folderFacts(data);
  const outside = { node_version: process.versions.node, folder, disk_free_bytes: freeBytes(data) };
  if (folder.state !== "there") return { ...outside, log: undefined, index: undefined, chain: undefined };
  // The index first: others may record and index meanwhile, and it would then seem to know more than the log.
  onStep("Checking index.db …");
  const index = inspectFile({ path: files.index, role: "index" });
  onStep("Checking log.db …");
  const log = inspectFile({ path: files.log, role: "log" });
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
