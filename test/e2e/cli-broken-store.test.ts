// Stores that cannot be used: each gets one clear error, whichever command meets it first.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Database } from "../../src/engines/sqlite/driver.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { fillStore, interactions, readError, runCli } from "./cli-run.js";

describe("a store that cannot be used is one clear error with status 1:", () => {
  const reading = [["list"], ["show", "1"], ["stats"], ["verify"]];

  test.each(reading)("%s on a store that does not exist, which is not made", async (...args) => {
    const folder = join(folderOfTest(), "absent");
    const given = args.filter((arg) => arg !== undefined);
    expect(await readError([...given, "--data", folder])).toMatchObject({ status: 1, code: "store_missing" });
    expect((await runCli(["doctor"], { data: folder })).stdout).toContain("there is no folder");
  });

  test.each([...reading, ["record", "--prompt", "x"]])("%s on a file that is no database", async (...args) => {
    const folder = folderOfTest();
    writeFileSync(join(folder, "log.db"), "Dear diary,\n".repeat(1000));
    const error = await readError(
      args.filter((arg) => arg !== undefined),
      { data: folder },
    );
    expect(error).toMatchObject({ status: 1, code: "store_corrupt" });
    expect(error.hint).toContain("hansard doctor");
  });

  test.each([["list"], ["record", "--prompt", "x"]])("%s on a store of a newer version", async (...args) => {
    const folder = folderOfTest();
    await fillStore(folder, interactions(1));
    const db = new Database(join(folder, "log.db"));
    db.pragma("user_version = 99");
    db.close();
    const error = await readError(
      args.filter((arg) => arg !== undefined),
      { data: folder },
    );
    expect(error).toMatchObject({ status: 1, code: "store_newer" });
    expect(error.message).toContain("newer version");
  });

  test("a text file in place of the folder", async () => {
    const file = join(folderOfTest(), "diary.txt");
    writeFileSync(file, "Dear diary\n");
    expect(await readError(["list"], { data: file })).toMatchObject({ status: 1 });
    expect(await readError(["record", "--prompt", "x"], { data: file })).toMatchObject({ status: 1 });
  });

  test("a folder in place of the file", async () => {
    const folder = folderOfTest();
    mkdirSync(join(folder, "log.db"));
    expect(await readError(["record", "--prompt", "x"], { data: folder })).toMatchObject({ status: 1 });
  });
});
