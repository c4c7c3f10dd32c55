// The doctor: facts about a store in, findings in plain words out, each with a hint.

import { basename, dirname } from "node:path";
import type { FileFacts } from "../engines/port.js";
import { describeIndexVersion } from "../index/derivation.js";
import type { IndexComparison } from "../index/index-comparison.js";
import type { Diagnosis, Finding, Verification } from "../model/verification.js";
import type { ClientDeliveries } from "./missing-deliveries.js";

export interface FolderFacts {
  readonly path: string;
  readonly state: "missing" | "not_a_folder" | "unreadable" | "there";
  readonly reason: string;
  readonly mode: number;
  readonly is_writable: boolean;
}

export interface StoreFacts {
  readonly node_version: string;
  readonly folder: FolderFacts;
  readonly disk_free_bytes: number | undefined;
  /** Undefined if the folder cannot be read. */
  readonly log: FileFacts | undefined;
  readonly index: FileFacts | undefined;
  readonly has_keys: boolean;
  /** Undefined if the index was not compared with the log. */
  readonly comparison: IndexComparison | { readonly failure: string } | undefined;
  /** Undefined if the chain was not walked. */
  readonly chain: Verification | { readonly failure: string } | undefined;
  /** Undefined if the numbers of clients were not checked. */
  readonly clients: ClientDeliveries | undefined;
  /** What the log lacks although its index or its newest seal expects it, in words. */
  readonly contradiction: string | undefined;
}

const MIB = 1024 * 1024;
const DISK_FAIL_BYTES = 16 * MIB;
const DISK_WARN_BYTES = 512 * MIB;
const WAL_WARN_BYTES = 128 * MIB;
const NODE_OLDEST = [20, 19] as const;

export function diagnose(facts: StoreFacts): Diagnosis {
  const findings = [
    nodeFinding(facts.node_version),
    folderFinding(facts.folder),
    ...diskFindings(facts.disk_free_bytes),
    ...logFindings(facts),
    ...indexFindings(facts),
    ...comparisonFindings(facts.comparison),
    ...chainFindings(facts.chain),
    ...evidenceFindings(facts),
    ...clientFindings(facts.clients),
  ];
  return { ok: findings.every((finding) => finding.level !== "fail"), findings };
}

function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = NODE_OLDEST;
  const isEnough = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  if (isEnough) return ok("node", `Node ${version}`);
  return fail("node", `Node ${version} is older than Hansard needs`, `Install Node ${NODE_OLDEST.join(".")} or newer.`);
}

function folderFinding({ path, state, mode, reason, is_writable }: FolderFacts): Finding {
  if (state === "missing") {
    return fail("folder", `there is no folder ${path}`, `Check --data or HANSARD_DATA. ${FIRST_ENTRY}`);
  }
  if (state === "not_a_folder") {
    const isInside = /^(?:log|index)\.db/.test(basename(path));
    const hint = isInside ? `Name its folder: --data ${dirname(path)}` : "Name a folder with --data.";
    return fail("folder", `${path} is a file, and a store is a folder`, hint);
  }
  if (state === "unreadable") return fail("folder", `${path} cannot be read (${reason})`, OWNERSHIP);
  if (!is_writable) return fail("folder", `this user may not write to ${path}`, OWNERSHIP);
  if ((mode & 0o077) !== 0) {
    return warn("folder", `other users of this machine can reach ${path} (mode ${octal(mode)})`, `chmod 700 ${path}`);
  }
  return ok("folder", `${path} is private and writable`);
}

function diskFindings(free: number | undefined): readonly Finding[] {
  if (free === undefined) return [];
  const left = `${mebibytes(free)} are free on the disk`;
  if (free < DISK_FAIL_BYTES) return [fail("disk", left, "Free some space: recording is refused on a full disk.")];
  if (free < DISK_WARN_BYTES) return [warn("disk", left, "Free some space soon: on a full disk recording is refused.")];
  return [ok("disk", left)];
}

function logFindings(facts: StoreFacts): readonly Finding[] {
  const { log } = facts;
  if (log === undefined) return [];
  const findings = [logFinding(log, facts), ...permissionFindings("log", log)];
  if (log.is_locked) {
    const hint = `Busy programs do that for moments. If it stays so, find it with \`fuser -v ${log.path}\`.`;
    findings.push(warn("lock", "another program has locked the log for writing", hint));
  } else if (log.state === "current" && log.is_writable) {
    findings.push(ok("lock", "the log can be locked for writing"));
  }
  if (log.wal_bytes > WAL_WARN_BYTES) {
    const hint = `Closing all programs that use the store folds it in; \`fuser -v ${log.path}\` shows them.`;
    findings.push(warn("log", `log.db-wal has grown to ${mebibytes(log.wal_bytes)}`, hint));
  }
  return findings;
}

function logFinding(log: FileFacts, facts: StoreFacts): Finding {
  const { path, reason, version, version_known } = log;
  switch (log.state) {
    case "missing":
      return missingLog(path, facts);
    case "unreadable":
      return fail("log", `${path} cannot be opened (${reason})`, OWNERSHIP);
    case "empty":
      if ((facts.index?.position ?? 0) > 0) return lostLog(`${path} is empty`, facts);
      return warn("log", `${path} is empty: nothing was recorded yet`, FIRST_ENTRY);
    case "not_a_database":
      return fail("log", `${path} is not a database: its first bytes are not SQLite's`, `${REPLACE} ${OTHER_FOLDER}`);
    case "foreign":
      return fail("log", `${path} is a database of another program`, `${OTHER_FOLDER} The file was not touched.`);
    case "newer":
      return fail(
        "log",
        `${path} was written by a newer version of Hansard (format ${version}; this one knows ${version_known})`,
        "Install the newer version of Hansard; the store was not touched.",
      );
    case "older":
      return warn(
        "log",
        `${path} was written by an older version of Hansard (format ${version} of ${version_known})`,
        "It is migrated when it is next used. Copy the folder first if you may want to go back to the older version.",
      );
    case "damaged":
      return fail(
        "log",
        `${path} is damaged (${reason})`,
        `Stop all programs that use it and copy the folder. ${REPLACE} ` +
          "`sqlite3 log.db .recover` recovers what is still readable.",
      );
    case "current":
      return ok(
        "log",
        `log.db is sound: format ${version}, ${entries(log.position)}, ${mebibytes(log.bytes + log.wal_bytes)}`,
      );
    default:
      return unreachable(log.state);
  }
}

function missingLog(path: string, facts: StoreFacts): Finding {
  if ((facts.index?.position ?? 0) > 0 || facts.has_keys) return lostLog(`${path} is gone`, facts);
  return fail("log", `there is no store: ${path} does not exist`, `Check --data or HANSARD_DATA. ${FIRST_ENTRY}`);
}

/** The index knows how much there was; without it a lost log would look like a new one. */
function lostLog(what: string, { index, has_keys }: StoreFacts): Finding {
  const known = index?.position ?? 0;
  const witness = known === 0 && has_keys ? "the store has access keys" : `its index expects ${entries(known)}`;
  return fail("log", `${what}, although ${witness}`, RESTORE);
}

function permissionFindings(check: "log" | "index", file: FileFacts): readonly Finding[] {
  // A file that is not ours, or cannot be opened, needs no protection or has another finding first.
  if (file.state !== "current" && file.state !== "older" && file.state !== "damaged") return [];
  const name = basename(file.path);
  const findings: Finding[] = [];
  if (!file.is_writable) findings.push(fail(check, `this user may not write to ${name}`, OWNERSHIP));
  if ((file.mode & 0o077) !== 0) {
    const message = `other users of this machine can open ${name} (mode ${octal(file.mode)})`;
    findings.push(warn(check, message, `chmod 600 ${file.path}*`));
  }
  return findings;
}

function indexFindings({ log, index }: StoreFacts): readonly Finding[] {
  // An index without its log is not checked.
  if (index === undefined || log?.state !== "current") return [];
  return [indexFinding(index, log), ...permissionFindings("index", index)];
}

function indexFinding(index: FileFacts, log: FileFacts): Finding {
  const { path, reason } = index;
  switch (index.state) {
    case "missing":
    case "empty":
      return ok("index", "there is no index yet; the next read builds it");
    case "newer":
      return ok("index", "index.db is of a newer version of Hansard; this one keeps a separate index");
    case "older":
      return olderIndexFinding(index.version, index.version_known);
    case "foreign":
      return ok("index", "the index is of another make; the next read rebuilds it");
    case "unreadable":
      return fail("index", `${path} cannot be opened (${reason})`, OWNERSHIP);
    case "not_a_database":
      return fail("index", `${path} is not a database; nothing recorded is lost`, REBUILD);
    case "damaged":
      return fail("index", `${path} is damaged (${reason}); nothing recorded is lost`, REBUILD);
    case "current": {
      const behind = log.position - index.position;
      if (behind < 0) return ok("index", "index.db is sound, but expects more entries than the log has");
      if (behind > 0) return ok("index", `the index is ${entries(behind)} behind; the next read catches up`);
      return ok("index", `index.db is sound and up to date, ${mebibytes(index.bytes + index.wal_bytes)}`);
    }
    default:
      return unreachable(index.state);
  }
}

/** An index from older code may lack searched data. */
export function olderIndexFinding(version: number, known: number): Finding {
  const [found, present] = [describeIndexVersion(version), describeIndexVersion(known)];
  const message = `the index was made by an older version of Hansard (${found}; this one makes ${present})`;
  return warn("index", message, "The next read rebuilds it; `hansard doctor --rebuild-index` does so now.");
}

/** Whether the index matches the log; if it does, there is no finding. */
export function comparisonFindings(comparison: StoreFacts["comparison"]): readonly Finding[] {
  if (comparison === undefined) return [];
  if ("failure" in comparison) {
    const message = `the index cannot be compared with the log: ${comparison.failure}`;
    return [warn("index", message, "Run the doctor again once that is fixed.")];
  }
  const { differences, is_unsettled } = comparison;
  if (is_unsettled === true) {
    const message = "the index could not be compared with the log, because too much changed meanwhile";
    return [warn("index", message, "Run the doctor again when there is less to do.")];
  }
  return differences.map((difference) => fail("index", `the index does not match the log: ${difference}`, REBUILD));
}

function chainFindings(chain: StoreFacts["chain"]): readonly Finding[] {
  if (chain === undefined) return [];
  const evidence = "Copy the folder as evidence, then compare it with a backup or an export.";
  if ("failure" in chain) return [fail("chain", `the chain cannot be read: ${chain.failure}`, evidence)];
  if (!chain.ok) {
    return [
      fail("chain", `position ${chain.position}: ${chain.reason}`, `Everything before it is intact. ${evidence}`),
    ];
  }
  const erased = chain.erased === 0 ? "" : `, ${chain.erased.toLocaleString("en-US")} of them erased`;
  const holds = ok("chain", `the hash chain is intact: ${entries(chain.entries)}${erased}`);
  return [holds, ...warningFindings(chain)];
}

/** What verify reports although the chain is intact. */
export function warningFindings({ warnings }: Verification): readonly Finding[] {
  if (warnings === undefined) return [];
  const hint = "The next program that opens the store for writing restores them. Find out who removed them.";
  return [warn("chain", "triggers that protect the log from changes are missing", hint)];
}

/** No other repair may destroy the proof: a rebuilt index keeps it, and a person decides. */
export function evidenceFindings({ contradiction }: Pick<StoreFacts, "contradiction">): readonly Finding[] {
  return contradiction === undefined ? [] : [fail("evidence", contradiction, ACCEPT)];
}

/** Completeness: entries that clients captured and the log lacks. */
export function clientFindings(clients: ClientDeliveries | undefined): readonly Finding[] {
  if (clients === undefined || clients.runs === 0) return [];
  if (clients.gaps.length === 0) {
    return [ok("clients", `no gap in what ${runs(clients.runs)} numbered`)];
  }
  const shown = clients.gaps.slice(0, GAPS_SHOWN).map(({ client_run, missing }) => {
    const ranges = missing.slice(0, GAPS_SHOWN).map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`));
    return `${ranges.join(", ")}${missing.length > GAPS_SHOWN ? ", …" : ""} of ${client_run}`;
  });
  const others = clients.gaps.length > GAPS_SHOWN ? `, and gaps of ${clients.gaps.length - GAPS_SHOWN} more` : "";
  return [warn("clients", `entries that clients captured never arrived: ${shown.join("; ")}${others}`, GAPS_HINT)];
}

const GAPS_SHOWN = 5;
const GAPS_HINT =
  "The client told its program what it dropped and why. What waits in a spool arrives when that program runs again; what was " +
  "forgotten counts as missing too.";

function runs(count: number): string {
  return count === 1 ? "1 run of a client" : `${count.toLocaleString("en-US")} runs of clients`;
}

/** What to do about a log that lacks what it once had. */
const ACCEPT =
  "Copy the folder as evidence, and put the right log in its place: move log.db and the files next to it away, then " +
  "`hansard restore FILE` from a backup. If this is the log you want, `hansard doctor --accept-log` says so in the record.";

const FIRST_ENTRY = "Recording a first entry creates a store.";
const OWNERSHIP = "Run as the user who owns it, or make folder and files writable for this one.";
const OTHER_FOLDER = "Or choose another folder with --data.";
const RESTORE =
  "Put log.db back from where it went, or a backup in its place with `hansard restore FILE`. A new record is begun in " +
  "another folder.";
const REPLACE = "Move log.db and the files next to it away, then `hansard restore FILE` from a backup.";
const REBUILD = "`hansard doctor --rebuild-index` rebuilds it from the log.";

function ok(check: Finding["check"], message: string): Finding {
  return { level: "ok", check, message };
}

function warn(check: Finding["check"], message: string, hint: string): Finding {
  return { level: "warn", check, message, hint };
}

function fail(check: Finding["check"], message: string, hint: string): Finding {
  return { level: "fail", check, message, hint };
}

function entries(count: number): string {
  return count === 1 ? "1 entry" : `${count.toLocaleString("en-US")} entries`;
}

function mebibytes(bytes: number): string {
  if (bytes >= 1024 * MIB) return `${(bytes / (1024 * MIB)).toFixed(1)} GiB`;
  return bytes >= MIB ? `${(bytes / MIB).toFixed(1)} MiB` : `${Math.ceil(bytes / 1024)} KiB`;
}

function octal(mode: number): string {
  return `0${mode.toString(8)}`;
}

function unreachable(state: never): never {
  throw new Error(`unknown state ${String(state)}`);
}
