// Errors of PostgreSQL and the network, as faults that say what to do.

import { Fault } from "../../model/fault.js";
import { displayLocation } from "../../model/store-location.js";

/** Whether the connection is lost or failed, so the outcome of the last statement is unknown. */
export function isAway(error: unknown): boolean {
  if (error instanceof Fault) return error.code === "store_unavailable";
  const code = codeOf(error);
  if (code.startsWith("08") || AWAY_STATES.has(code) || AWAY_SYSTEM.has(code)) return true;
  return code === "" && AWAY_MESSAGE.test(messageOf(error));
}

export function isConstraint(error: unknown): boolean {
  return codeOf(error) === "23505";
}

/** Whether a trigger of the log refused it. */
export function isRefusedByRule(error: unknown): boolean {
  return codeOf(error) === "23001";
}

export function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : "";
}

/** Shutdown, crash recovery, start-up, too many connections, and a standby that is not promoted yet. */
const AWAY_STATES = new Set(["57P01", "57P02", "57P03", "57P05", "53300", "25006"]);
const AWAY_SYSTEM = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN"],
  ...["ENOTFOUND", "EAI_AGAIN", "ENOENT", "ENETDOWN"],
]);
/** The driver's own errors have no code. */
const AWAY_MESSAGE =
  /connection terminated|connection ended|timeout exceeded when trying to connect|connection timeout|client (has encountered|was closed)|query read timeout|not queryable/i;

export function toFault(error: unknown, address: string): Fault {
  if (error instanceof Fault) return error;
  const where = displayLocation(address);
  const code = codeOf(error);
  const said = messageOf(error);
  const make = (fault: Fault["code"], message: string, hint: string): Fault =>
    new Fault(fault, message, { hint, cause: error });
  switch (code) {
    case "28P01":
    case "28000":
      return make(
        "store_refused",
        `${where} refused the login (${said})`,
        "Check the user in the address, and the password there, in PGPASSWORD or in the file that PGPASSFILE names.",
      );
    case "3D000":
      return make("store_missing", `there is no such database: ${where}`, CREATE_DATABASE);
    case "42501":
      return make(
        "store_not_writable",
        `this user may not do what Hansard needs in ${where} (${said})`,
        "Grant it: GRANT CREATE ON DATABASE … TO …; GRANT CREATE, USAGE ON SCHEMA public TO ….",
      );
    case "53100":
    case "53000":
      return make(
        "disk_full",
        `the disk of ${where} is full`,
        "Free some space on the database's machine. Recording then continues; nothing was stored partially.",
      );
    case "55P03":
      return make(
        "store_busy",
        `another transaction has held a lock in ${where} for too long (${said})`,
        "Find it with SELECT pid, state, query FROM pg_stat_activity WHERE state LIKE 'idle in%', and end it.",
      );
    case "57014":
      return make(
        "store_busy",
        `${where} took too long to answer (${said})`,
        "Check the load of the database; the operation was rolled back.",
      );
    case "XX001":
    case "XX002":
      return make(
        "store_corrupt",
        `${where} is damaged (${said})`,
        "Check PostgreSQL's own log, and restore from a backup.",
      );
    default:
  }
  if (/extension .* is not available|could not open extension control file/.test(said)) {
    const hint = "Install the extensions that come with PostgreSQL (on Debian the package postgresql-contrib).";
    return make("store_unsuitable", `${where} lacks an extension that search needs (${said})`, hint);
  }
  if (isAway(error)) {
    const hint =
      "Start PostgreSQL or check the address. A running server reconnects by itself; run other commands again.";
    return make("store_unavailable", `${where} cannot be reached (${said})`, hint);
  }
  return make("store_failed", `${where}: ${said}`, "PostgreSQL's own log may say more.");
}

export const CREATE_DATABASE =
  "Create it: CREATE DATABASE hansard TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8'.";

function messageOf(error: unknown): string {
  // A connection refused at several addresses is an AggregateError without a message.
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
