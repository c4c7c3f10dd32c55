// Folders that go when the test or the file that asked for them is done.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";

/** A folder for one test; called inside the test. */
export function folderOfTest(): string {
  const folder = newFolder();
  onTestFinished(() => remove(folder));
  return folder;
}

/** A folder for all tests of a file; called outside of them. */
export function folderOfFile(): string {
  const folder = newFolder();
  afterAll(() => remove(folder));
  return folder;
}

function newFolder(): string {
  // The real path, because some systems reach their temporary folder through a link and Node resolves links.
  return realpathSync(mkdtempSync(join(tmpdir(), "hansard-")));
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
