// Opening a file of the store: private, durable as requested, and with clear errors.

import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { folderOfTest } from "../../../test/support/temporary-folder.js";
import { Fault } from "../../model/fault.js";
import { type FileOptions, openFile } from "./connections.js";
import type { Database } from "./driver.js";
import { toFault } from "./faults.js";

describe("a file", () => {
  test("is created with its folder, for this user only", () => {
    const path = join(folderOfTest(), "deep", "store", "log.db");
    open({ path, mode: "create", synchronous: "FULL" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
  });

  test("is in WAL mode and synced as requested", () => {
    const path = join(folderOfTest(), "log.db");
    const full = open({ path, mode: "create", synchronous: "FULL" });
    expect(full.pragma("journal_mode")).toBe("wal");
    expect(full.pragma("synchronous")).toBe(2);
    const normal = open({ path, mode: "write", synchronous: "NORMAL" });
    expect(normal.pragma("synchronous")).toBe(1);
    expect(full.pragma("busy_timeout")).toBeGreaterThanOrEqual(10_000);
  });

  test("opened for reading cannot be written by any statement", () => {
    const path = join(folderOfTest(), "log.db");
    open({ path, mode: "create", synchronous: "FULL" }).exec("CREATE TABLE t (a)");
    const reading = open({ path, mode: "read", synchronous: "FULL" });
    expect(() => reading.exec("INSERT INTO t VALUES (1)")).toThrow(/readonly/);
  });

  test.each(["write", "read"] as const)("that does not exist is a fault if it is opened to %s", (mode) => {
    const path = join(folderOfTest(), "log.db");
    expect(faultOf(() => open({ path, mode, synchronous: "FULL" }))).toMatchObject({ code: "store_missing" });
    expect(() => statSync(path)).toThrow("ENOENT");
  });

  test("that is a folder, or inside a file, cannot be opened", () => {
    const folder = folderOfTest();
    mkdirSync(join(folder, "log.db"));
    writeFileSync(join(folder, "file"), "");
    for (const path of [join(folder, "log.db"), join(folder, "file", "log.db")]) {
      const fault = faultOf(() => open({ path, mode: "create", synchronous: "FULL" }));
      expect(fault).toMatchObject({ code: "store_not_writable", hint: expect.stringContaining("--data") });
    }
  });

  test("of text is damaged", () => {
    const path = join(folderOfTest(), "log.db");
    writeFileSync(path, "no database at all, ".repeat(50));
    const fault = faultOf(() => open({ path, mode: "create", synchronous: "FULL" }));
    expect(fault).toMatchObject({ code: "store_corrupt", message: expect.stringContaining(path) });
  });
});

describe("an error of SQLite or the system becomes a fault:", () => {
  test.each([
    ["SQLITE_FULL", "disk_full"],
    ["ENOSPC", "disk_full"],
    ["EDQUOT", "disk_full"],
    // The first program that opens the file recreates its shared memory, also on a full disk.
    ["SQLITE_IOERR_SHMSIZE", "disk_full"],
    ["SQLITE_READONLY", "store_not_writable"],
    ["SQLITE_READONLY_DIRECTORY", "store_not_writable"],
    ["EACCES", "store_not_writable"],
    ["EROFS", "store_not_writable"],
    ["SQLITE_CANTOPEN", "store_not_writable"],
    ["SQLITE_CANTOPEN_ISDIR", "store_not_writable"],
    ["ENOTDIR", "store_not_writable"],
    ["SQLITE_NOTADB", "store_corrupt"],
    ["SQLITE_CORRUPT", "store_corrupt"],
    ["SQLITE_CORRUPT_INDEX", "store_corrupt"],
    ["SQLITE_BUSY", "store_busy"],
    ["SQLITE_BUSY_SNAPSHOT", "store_busy"],
    ["SQLITE_LOCKED", "store_busy"],
    ["SQLITE_IOERR_READ", "store_failed"],
    ["", "store_failed"],
  ])("%s is %s", (code, expected) => {
    const cause = Object.assign(new Error("what it said"), { code });
    const fault = toFault(cause, "store/log.db");
    expect(fault).toMatchObject({ code: expected, cause, hint: expect.stringMatching(/\w/) });
    expect(fault.message).toContain("store/log.db");
  });

  test("a fault is not wrapped again", () => {
    const fault = new Fault("store_newer", "newer", { hint: "update" });
    expect(toFault(fault, "log.db")).toBe(fault);
  });

  test("any other error keeps its text", () => {
    expect(toFault("a text", "log.db")).toMatchObject({ code: "store_failed", message: "log.db: a text" });
  });
});

function open(options: FileOptions): Database {
  const db = openFile(options);
  onTestFinished(() => {
    db.close();
  });
  return db;
}

function faultOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
