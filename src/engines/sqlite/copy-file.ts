// A consistent copy of a SQLite file while others go on writing to it: one read of all of it, written anew elsewhere.
import type Database from "better-sqlite3";
import { lookInto } from "./connect.js";
import { BUSY_TIMEOUT_MS, toFault } from "./file.js";

/**
 * The target must not exist, or be empty. What comes to lie there is one file without a WAL, and without the free pages in
 * which something erased could linger. Copying page by page instead would start over with every commit of another
 * process.
 */
export function copyFile(paths: { readonly source: string; readonly target: string }): void {
  const { source, target } = paths;
  let db: Database.Database | undefined;
  try {
    db = lookInto(source, BUSY_TIMEOUT_MS);
    db.prepare("VACUUM INTO ?").run(target);
  } catch (error) {
    // A full disk is the target's; all else that SQLite says is about the source.
    const code = error instanceof Error ? (error as Error & { code?: unknown }).code : "";
    throw toFault(error, code === "SQLITE_FULL" || String(code).startsWith("SQLITE_IOERR") ? target : source);
  } finally {
    db?.close();
  }
}
