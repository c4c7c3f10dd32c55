// Folders that go when the test or the file that asked for them is done; in memory where there is room.
import { mkdtempSync, readFileSync, realpathSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";

/** A folder for one test; called inside the test. */
export function folderOfTest(): string {
  const folder = newFolder();
  onTestFinished(() => remove(folder));
  return folder;
}

/** The same on a disk, for what is about how fast one is; called inside the test. */
export function folderOnDisk(): string {
  const folder = made(tmpdir(), "hansard-");
  onTestFinished(() => remove(folder));
  return folder;
}

/** A folder for all tests of a file; called outside of them. */
export function folderOfFile(): string {
  const folder = newFolder();
  afterAll(() => remove(folder));
  return folder;
}

/** For what ends by itself; the caller removes it. */
export function newFolder(prefix = "hansard-"): string {
  return made(onDisk ? tmpdir() : temporaryPlace(), prefix);
}

function made(parent: string, prefix: string): string {
  // The real path, because some systems reach their temporary folder through a link and Node resolves links.
  return realpathSync(mkdtempSync(join(parent, prefix)));
}

/** Tests of crashes and full disks set it: what they are about is a real disk. */
const onDisk = process.env.HANSARD_TEST_DISK === "1";

const MEMORY = "/dev/shm";
const FREE_BYTES_MIN = 3 * 1024 ** 3;

/** Stores sync a thousand times in a run, which takes most of its time on a disk; containers often have 64 MB in memory only. */
function temporaryPlace(): string {
  try {
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "))
      .findLast(([, path]) => path === MEMORY);
    const [, , type, options = ""] = mount ?? [];
    // Tests put programs into their folders, too.
    if (type !== "tmpfs" || /\b(noexec|ro)\b/.test(options)) return tmpdir();
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= FREE_BYTES_MIN ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
