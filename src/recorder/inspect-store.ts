// Checks a store from the outside, even if it cannot be opened, for `hansard doctor`.
import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import type { Store } from "../engines/port.js";
import { type Compaction, compactLog } from "../engines/sqlite/compact.js";
import { SqliteIndex } from "../engines/sqlite/index.js";
import { discardIndex } from "../engines/sqlite/index-file.js";
import { inspectFile } from "../engines/sqlite/inspect.js";
import { SqliteLog } from "../engines/sqlite/log.js";
import { filesOf, openStore } from "../engines/stores.js";
import { compareIndex } from "../index/index-comparison.js";
import type { EntryIndex, IndexSource } from "../index/port.js";
import type { EntryLog } from "../log/port.js";
import { Sealing } from "../log/seals/sealing.js";
import { contradictionOf, contradictionText, verify } from "../log/verify.js";
import { Fault } from "../model/fault.js";
import type { StoreFiles } from "../model/store-location.js";
import { displayLocation, isServerAddress } from "../model/store-location.js";
import type { Diagnosis, Finding, Verification } from "../model/verification.js";
import {
  clientFindings,
  comparisonFindings,
  diagnose,
  evidenceFindings,
  type FolderFacts,
  olderIndexFinding,
  type StoreFacts,
  warningFindings,
} from "./doctor.js";
import { findMissingDeliveries } from "./missing-deliveries.js";
import { elsewhere } from "./remote/remote-reading.js";
import { ServerConnection } from "./remote/server-connection.js";

export interface InspectOptions {
  /** The folder of the store, or the address of its database or server. */
  readonly data: string;
  /** The key for a server. */
  readonly key?: string | undefined;
  /** The key that signs seals, if not the user's own. */
  readonly seal_key?: string | undefined;
  /** Called with the current check; those of a large store take a while. */
  readonly onStep?: (says: string) => void;
}

export async function inspectStore(options: InspectOptions): Promise<Diagnosis> {
  if (isServerAddress(options.data)) return inspectServer(options);
  const files = filesOf(options.data);
  return files === undefined ? inspectDatabase(options) : diagnose(await gatherFacts(options, files));
}

/** Removes a damaged index. It is derived from the log: programs that have it open recreate it. */
export function discardDamagedIndex(data: string): void {
  const path = filesOf(data)?.index;
  if (path === undefined) return;
  const { state } = inspectFile({ path, role: "index" });
  if (state === "damaged" || state === "not_a_database") discardIndex(path);
}

/** Rewrites bodies stored whole as shared parts; undefined if the store has no files of its own. */
export async function compactStore(
  data: string,
  onProgress: (position: number, end: number) => void,
): Promise<Compaction | undefined> {
  if (isServerAddress(data)) return elsewhere("compacting");
  const path = filesOf(data)?.log;
  return path === undefined ? undefined : compactLog(path, onProgress);
}

/** A server checks its own store. */
async function inspectServer({ data, key, onStep }: InspectOptions): Promise<Diagnosis> {
  onStep?.("Asking the server …");
  const server = new ServerConnection({ address: data, key });
  try {
    return await server.get("/doctor", ["ok", "findings"]);
  } finally {
    server.close();
  }
}

/** PostgreSQL checks its own files; what remains is whether it can be used, and whether the log is intact. */
async function inspectDatabase(options: InspectOptions): Promise<Diagnosis> {
  const { data, onStep = () => undefined } = options;
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
    const checked = await verify(log, { onProgress });
    const index = async (): Promise<EntryIndex> => (await (await store.index()).current()).index;
    const contradiction = await contradictionIn(log, await (await index()).rememberedHeads(), options);
    const comparison = contradiction === undefined ? await comparisonWith({ log, index }, onStep) : undefined;
    const replaced = store.replacedIndex;
    return databaseDiagnosis(displayLocation(data), checked, [
      ...(replaced === undefined ? [] : [olderIndexFinding(replaced.version, replaced.version_known)]),
      ...comparisonFindings(comparison),
      ...evidenceFindings({ contradiction }),
      ...purgeFindings((await log.pendingPurges?.()) ?? []),
      ...clientFindings(await findMissingDeliveries(log)),
    ]);
  } finally {
    await store.close();
  }
}

/** Deleted rows that another transaction keeps in the files. */
function purgeFindings(pending: readonly string[]): readonly Finding[] {
  return pending.map((what) => ({
    level: "warn",
    check: "forgotten",
    message: `deleted text may still be in the files of ${what}`,
    hint: "End that transaction, prepared transaction or slot; a server of the store then finishes within a minute.",
  }));
}

function databaseDiagnosis(where: string, checked: Verification, others: readonly Finding[]): Diagnosis {
  const database: Finding = { level: "ok", check: "database", message: `${where} can be read and written` };
  if (checked.ok) {
    const message = `the hash chain is intact: ${checked.entries} entries`;
    const ok = others.every(({ level }) => level !== "fail");
    const chain: Finding = { level: "ok", check: "chain", message };
    return { ok, findings: [database, chain, ...warningFindings(checked), ...others] };
  }
  const message = `position ${checked.position}: ${checked.reason}`;
  const hint = "Everything before it is intact; restore the database from a backup.";
  return { ok: false, findings: [database, { level: "fail", check: "chain", message, hint }, ...others] };
}

async function contradictionIn(
  log: EntryLog,
  heads: readonly IndexSource[],
  { data, seal_key }: InspectOptions,
): Promise<string | undefined> {
  const known = heads.map((head) => ({ by: "index", ...head }) as const);
  const found = (await contradictionOf(log, known)) ?? (await Sealing.of({ seal_key, data }).contradiction(log));
  return found === undefined ? undefined : contradictionText(found, await log.head());
}

async function gatherFacts(options: InspectOptions, files: StoreFiles): Promise<StoreFacts> {
  const { data, onStep = () => undefined } = options;
  const folder = folderFacts(data);
  const outside = { node_version: process.versions.node, folder, disk_free_bytes: freeBytes(data) };
  const unwalked = { chain: undefined, contradiction: undefined, clients: undefined };
  if (folder.state !== "there") {
    return { ...outside, ...unwalked, log: undefined, index: undefined, has_keys: false, comparison: undefined };
  }
  // The index first: others may record and index meanwhile, and it would then seem to have more than the log.
  onStep("Checking index.db …");
  const index = inspectFile({ path: files.index, role: "index" });
  onStep("Checking log.db …");
  const log = inspectFile({ path: files.log, role: "log" });
  const walked = log.state === "current" ? await walkChain(log, index.heads, options) : unwalked;
  // An index of another log has a separate check. No hint may make it forget that log.
  const isOurs = walked.contradiction === undefined && index.position <= log.position;
  const isComparable = log.state === "current" && index.state === "current" && isOurs;
  const comparison = isComparable ? await comparisonOf({ log: log.path, index: index.path }, onStep) : undefined;
  return { ...outside, log, index, has_keys: existsSync(files.keys), comparison, ...walked };
}

async function comparisonOf(
  paths: { readonly log: string; readonly index: string },
  onStep: (says: string) => void,
): Promise<StoreFacts["comparison"]> {
  let index: SqliteIndex | undefined;
  const log = SqliteLog.open({ path: paths.log, mode: "read" });
  try {
    const openIndex = async (): Promise<EntryIndex> => {
      index = SqliteIndex.open({ path: paths.index });
      return index;
    };
    return await comparisonWith({ log, index: openIndex }, onStep);
  } finally {
    await index?.close();
    await log.close();
  }
}

async function comparisonWith(
  parts: { readonly log: EntryLog; readonly index: () => Promise<EntryIndex> },
  onStep: (says: string) => void,
): Promise<StoreFacts["comparison"]> {
  try {
    const onProgress = (through: number): void => onStep(`Comparing the index with the log: ${through} …`);
    return await compareIndex({ log: parts.log, index: await parts.index() }, { onProgress });
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

async function walkChain(
  log: { readonly path: string; readonly position: number },
  heads: readonly IndexSource[],
  options: InspectOptions,
): Promise<Pick<StoreFacts, "chain" | "contradiction" | "clients">> {
  const onProgress = (through: number): void => options.onStep?.(`Walking the chain: ${through} of ${log.position} …`);
  try {
    const open = SqliteLog.open({ path: log.path, mode: "read" });
    try {
      const chain = await verify(open, { onProgress });
      const contradiction = await contradictionIn(open, heads, options);
      return { chain, contradiction, clients: await findMissingDeliveries(open) };
    } finally {
      await open.close();
    }
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    return { chain: { failure }, contradiction: undefined, clients: undefined };
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

/** What an ordinary user may still write; undefined if the folder does not exist. */
function freeBytes(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}
