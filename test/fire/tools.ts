// Programs that inject faults into others: where they are, and how a program is started under them.
import { execFile, spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { itemAt } from "../../src/model/item-at.js";

const run = promisify(execFile);
const FIU = ["/usr/lib/fiu/fiu_run_preload.so", "/usr/lib/fiu/fiu_posix_preload.so"];
const FAKETIME = ["x86_64", "aarch64"].map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketime.so.1`);

export function missingFiu(): string | undefined {
  return FIU.every((file) => existsSync(file)) && onPath("fiu-ctrl") ? undefined : "needs the package fiu-utils";
}

export function missingFaketime(): string | undefined {
  return FAKETIME.some((file) => existsSync(file)) ? undefined : "needs the package faketime";
}

export function missingPrlimit(): string | undefined {
  return onPath("prlimit") ? undefined : "needs prlimit of util-linux";
}

/** Mounting a small disk that other programs see too. */
export function missingMount(): string | undefined {
  return process.platform === "linux" && process.getuid?.() === 0
    ? undefined
    : "needs root on Linux to mount a small disk";
}

/** System calls that fail, switched on and off from outside while the program runs. */
export class FailingCalls {
  /** For a program that runs as another user and is told by FIU_ENABLE what fails. */
  static readonly preload = FIU.join(":");
  readonly env: NodeJS.ProcessEnv;
  readonly #control: string;

  constructor(folder: string) {
    this.#control = join(folder, "fiu");
    this.env = { LD_PRELOAD: FailingCalls.preload, FIU_CTRL_FIFO: this.#control };
  }

  /** From now on every call of these names fails with EIO. */
  async start(pid: number, calls: readonly string[]): Promise<void> {
    for (const call of calls) await this.#tell(pid, `enable name=posix/io/${call},failinfo=5`);
  }

  async stop(pid: number, calls: readonly string[]): Promise<void> {
    for (const call of calls) await this.#tell(pid, `disable name=posix/io/${call}`);
  }

  async #tell(pid: number, command: string): Promise<void> {
    await run("fiu-ctrl", ["-f", this.#control, "-c", command, String(pid)], { timeout: 10_000 });
  }
}

/** A clock of a program that jumps; the monotonic clock, which a jump does not touch, goes on. */
export class JumpingClock {
  readonly env: NodeJS.ProcessEnv;
  readonly #file: string;

  constructor(folder: string) {
    this.#file = join(folder, "clock");
    this.jump("+0");
    this.env = {
      LD_PRELOAD: itemAt(
        FAKETIME.filter((file) => existsSync(file)),
        0,
      ),
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
  }

  /** To an offset from the real time, for example `-400d`. */
  jump(to: string): void {
    writeFileSync(this.#file, to);
  }
}

function onPath(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}
