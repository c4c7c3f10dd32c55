// Faults of the disk: full, files that may not grow, and system calls that fail.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { placeBallast } from "../crash/ballast.js";
import type { Writer } from "../crash/programs.js";
import { both, type Fault } from "./fault.js";
import type { FireRun } from "./fire-run.js";
import { kill } from "./process-faults.js";
import { FailingCalls, missingFiu, missingMount, missingPrlimit } from "./tools.js";

const DISK = "size=64m";
const REFUSALS_ENOUGH = 6;

export const diskFaults: readonly Fault[] = [
  { name: "full disk", engines: both, weight: 6, missing: missingMount, run: fullDisk },
  {
    name: "files may not grow (RLIMIT_FSIZE)",
    engines: ["sqlite"],
    weight: 5,
    missing: missingPrlimit,
    run: sizeLimit,
  },
  ...failingCalls("failing fsync", ["sync/fsync", "sync/fdatasync"]),
  ...failingCalls("failing write", ["rw/pwrite", "rw/pwritev"]),
  ...failingCalls("failing fsync and write, then kill -9", ["sync/fsync", "sync/fdatasync", "rw/pwrite"], true),
];

async function fullDisk(fire: FireRun): Promise<void> {
  const disk = join(fire.folder, "disk");
  mkdirSync(disk);
  // A database server runs as another user.
  chmodSync(fire.folder, 0o711);
  execFileSync("mount", ["-t", "tmpfs", "-o", DISK, "tmpfs", disk]);
  onTestFinished(() => void execFileSync("umount", ["-l", disk]));
  const data = await fire.storeOn(disk);
  const ballast = join(disk, "ballast");
  const writer = fire.writer({ data, goes_on: true, pause_ms: 0 });
  await fire.progress(writer, fire.int(1, 20));
  for (let times = fire.int(1, 2); times > 0; times -= 1) {
    placeBallast(ballast, { free_bytes: fire.int(0, 6) * 256 * 1024 });
    const before = writer.refused.length;
    await fire.until(() => writer.refused.length >= before + REFUSALS_ENOUGH, "refusals on a full disk");
    if (fire.chance(0.3)) break;
    rmSync(ballast);
    await fire.progress(writer, fire.int(5, 30));
  }
  await writer.kill();
  rmSync(ballast, { force: true });
}

/** The soft limit of the running program goes down and up again. */
async function sizeLimit(fire: FireRun): Promise<void> {
  const data = await fire.store();
  const writer = fire.writer({ data, goes_on: true });
  await fire.progress(writer, fire.int(1, 20));
  const limit = (bytes: number | "unlimited"): void => {
    execFileSync("prlimit", ["--pid", String(writer.pid), `--fsize=${bytes}:unlimited`]);
  };
  for (let times = fire.int(1, 2); times > 0; times -= 1) {
    const file = join(data, fire.pick(["log.db", "log.db-wal"]));
    limit(Math.max(4_096, statSync(file, { throwIfNoEntry: false })?.size ?? 0) + fire.int(0, 64) * 1_024);
    const before = writer.refused.length;
    await fire.until(() => writer.refused.length >= before + REFUSALS_ENOUGH, "refusals at the limit");
    limit("unlimited");
    await fire.progress(writer, fire.int(5, 30));
  }
  await writer.kill();
}

/** In a program that uses the library, and in a server. */
function failingCalls(name: string, calls: readonly string[], isKilled = false): readonly Fault[] {
  const run = async (fire: FireRun): Promise<void> => {
    const failing = new FailingCalls(fire.folder);
    await (fire.chance(0.5) ? inLibrary : inServer)(fire, { failing, calls, isKilled });
  };
  return [{ name, engines: ["sqlite"], weight: 6, missing: missingFiu, needsTools: true, run }];
}

interface Failing {
  readonly failing: FailingCalls;
  readonly calls: readonly string[];
  readonly isKilled: boolean;
}

async function inLibrary(fire: FireRun, { failing, calls, isKilled }: Failing): Promise<void> {
  const data = await fire.store();
  const writer = fire.writer({ data, goes_on: true }, { env: failing.env });
  await fire.progress(writer, fire.int(1, 30));
  for (let times = fire.int(1, 3); times > 0; times -= 1) {
    const before = writer.refused.length;
    await failing.start(writer.pid, calls);
    await fire.until(() => writer.refused.length > before, "refusals");
    await fire.moment(150);
    if (isKilled) break;
    await failing.stop(writer.pid, calls);
    await fire.progress(writer, fire.int(5, 30));
  }
  await writer.kill();
  if (isKilled) await resume(fire, fire.writer({ data }));
}

async function inServer(fire: FireRun, { failing, calls, isKilled }: Failing): Promise<void> {
  const data = await fire.store();
  let server = await fire.serve(data, failing.env);
  const callers = fire.callers(() => [server.address]);
  await fire.progress(callers, fire.int(1, 30));
  for (let times = fire.int(1, 3); times > 0; times -= 1) {
    await failing.start(server.child.pid as number, calls);
    await pause(fire.int(30, 400));
    if (isKilled) {
      await kill(server);
      server = await fire.serve(data, failing.env);
    } else await failing.stop(server.child.pid as number, calls);
    await fire.progress(callers, fire.int(5, 30));
  }
  await callers.stop();
  await kill(server);
}

async function resume(fire: FireRun, writer: Writer): Promise<void> {
  await fire.progress(writer, fire.int(1, 20));
  await writer.kill();
}
