// Runs a program on a disk of a few megabytes: a file system in memory that only this program sees.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

export interface SmallDiskRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Ways to get a mount of one's own: as root, as a user who may make namespaces, and as one who may become root. */
const namespaces = [
  ["unshare", "-m"],
  ["unshare", "-cm", "--keep-caps"],
  ["unshare", "-Urm"],
  ["sudo", "-n", "unshare", "-m"],
];
const mount = 'mount -t tmpfs -o size=32m tmpfs "$0" && exec "$@"';
/** A program that hangs must not hang the tests, which a synchronous call would. */
const TIMEOUT_MS = 150_000;
const SHARED_MEMORY = "/dev/shm";
const SHARED_MEMORY_BYTES_MAX = 256 * 1024 * 1024;

/** The program gets the folder of the small disk as its first argument. */
export function runOnSmallDisk(program: string, folder: string, ...args: readonly string[]): SmallDiskRun {
  for (const [command, ...flags] of namespaces as [string, ...string[]][]) {
    const inside = (...run: readonly string[]) =>
      spawnSync(command, [...flags, "sh", "-c", mount, folder, ...run], { encoding: "utf8", timeout: TIMEOUT_MS });
    if (inside("true").status === 0) return inside(process.execPath, program, folder, ...args);
  }
  return process.platform === "darwin" ? runOnImage(program, folder, args) : runInSharedMemory(program, args);
}

/** macOS mounts a disk image for the user who made it. */
function runOnImage(program: string, folder: string, args: readonly string[]): SmallDiskRun {
  const image = `${folder}.dmg`;
  const tool = (...given: readonly string[]): void => {
    const { status, stderr } = spawnSync("hdiutil", given, { encoding: "utf8" });
    if (status !== 0) throw new Error(`hdiutil ${given.join(" ")}: ${stderr}`);
  };
  tool("create", "-size", "32m", "-fs", "HFS+", "-volname", "small", image);
  tool("attach", "-nobrowse", "-mountpoint", folder, image);
  try {
    return spawnSync(process.execPath, [program, folder, ...args], { encoding: "utf8", timeout: TIMEOUT_MS });
  } finally {
    tool("detach", "-force", folder);
    rmSync(image);
  }
}

/** Containers that may not mount have a small disk already. */
function runInSharedMemory(program: string, args: readonly string[]): SmallDiskRun {
  const { bavail, bsize } = statfsSync(SHARED_MEMORY);
  if (bavail * bsize > SHARED_MEMORY_BYTES_MAX) {
    throw new Error(
      "On Linux this test needs a small disk: root, unprivileged user namespaces, or a /dev/shm under 256 MB.",
    );
  }
  const folder = mkdtempSync(join(SHARED_MEMORY, "hansard-"));
  try {
    return spawnSync(process.execPath, [program, folder, ...args], { encoding: "utf8", timeout: TIMEOUT_MS });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
