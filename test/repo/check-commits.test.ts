// Proves that long first lines of commits are found before they land, in whatever clone, and never afterwards.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { checkCommits } from "../../scripts/check-commits.mjs";
import { folderOfTest } from "../support/temporary-folder.js";
import { folderWithFiles } from "./folder-with-files.js";

const LONG = "x".repeat(73);
const LONGEST = "✓".repeat(72);

function git(folder: string, ...args: readonly string[]): void {
  const settings = ["user.name=Anna", "user.email=anna@example.org", "commit.gpgsign=false", "init.defaultBranch=main"];
  execFileSync("git", [...settings.flatMap((setting) => ["-c", setting]), ...args], { cwd: folder, stdio: "ignore" });
}

function commit(folder: string, subject: string): void {
  git(folder, "commit", "--allow-empty", "-m", `${subject}\n\n${"A body may be as wide as it likes. ".repeat(5)}`);
}

/** A repository in which two commits have landed, the second with a first line that is too long. */
function landedRepository(): string {
  const folder = folderOfTest();
  git(folder, "init");
  commit(folder, "Begin");
  commit(folder, LONG);
  return folder;
}

function cloneOf(repository: string, ...options: readonly string[]): string {
  const folder = folderOfTest();
  git(folder, "clone", ...options, pathToFileURL(repository).href, "clone");
  return join(folder, "clone");
}

test.each([
  ["a clone", []],
  ["a shallow clone", ["--depth", "1"]],
])("in %s landed commits are fine, and new ones must have short subjects", async (_, options) => {
  const clone = cloneOf(landedRepository(), ...options);
  expect(await checkCommits(clone)).toEqual([]);
  commit(clone, LONGEST);
  expect(await checkCommits(clone)).toEqual([]);
  commit(clone, LONG);
  commit(clone, "After it");
  expect(await checkCommits(clone)).toEqual([
    expect.stringMatching(/^[0-9a-f]+ x{73}: 73 characters, and 72 are the most$/),
  ]);
});

test("a merge says what git made it say", async () => {
  const clone = cloneOf(landedRepository());
  git(clone, "checkout", "-b", "side");
  commit(clone, "Aside");
  git(clone, "checkout", "main");
  git(clone, "merge", "--no-ff", "-m", LONG, "side");
  expect(await checkCommits(clone)).toEqual([]);
});

test("without a remote, or without a repository, there is nothing to check", async () => {
  expect(await checkCommits(landedRepository())).toEqual([]);
  expect(await checkCommits(folderWithFiles({ "package.json": "{}" }))).toEqual([]);
});
