// Places in which no record can be kept: one clear error each, at once.
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../src/model/files.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { runCli } from "./cli-run.js";

const record = ["record", "--prompt", "hi"];
const error = async (args: readonly string[], HANSARD_DATA: string, unprivileged = false) => {
  const { status, stdout, stderr } = await runCli(args, { env: { HANSARD_DATA }, unprivileged });
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).not.toContain("defect");
  return stderr;
};

describe("HANSARD_DATA that names", () => {
  test("a folder that the system does not let anybody make", async () => {
    const isLinux = process.platform === "linux";
    const said = await error(record, isLinux ? "/proc/nope" : "/dev/null/nope");
    expect(said).toMatch(isLinux ? /\/proc\/nope\/log\.db cannot be opened \(ENOENT.*\n.*--data/ : /which is a file/);
  });

  test("a file, or a folder in one", async () => {
    const file = join(folderOfTest(), "file");
    writeFileSync(file, "");
    for (const args of [record, ["list"]]) {
      expect(await error(args, file)).toContain(`${file} is a file, not a folder`);
      expect(await error(args, join(file, "below"))).toContain(`${file}/below is inside ${file}, which is a file`);
    }
  });

  test("a link to nothing", async () => {
    const link = join(folderOfTest(), "link");
    symlinkSync("/nowhere/at/all", link);
    for (const args of [record, ["list"]]) {
      expect(await error(args, link)).toContain(`${link} is a link to /nowhere/at/all, which does not exist`);
    }
  });

  test("a folder that this user may not look into", async () => {
    const data = join(folderOfTest(), "store");
    mkdirSync(data);
    chmodSync(data, 0o000);
    onTestFinished(() => chmodSync(data, 0o700));
    for (const args of [record, ["list"]]) {
      const said = await error(args, data, true);
      expect(said).toContain("EACCES");
      expect(said).not.toContain("does not exist");
    }
  });
});

test("a folder is made with those above it, and one that is there stays", () => {
  const folder = join(folderOfTest(), "a", "b", "c");
  makeFolder(folder, 0o700);
  makeFolder(folder, 0o700);
  expect(existsSync(folder)).toBe(true);
});
