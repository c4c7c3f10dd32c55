// Starts the programs of these tests as processes of their own, and collects what they say.
import { type ChildProcess, fork, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { WriterOptions } from "./writer.js";

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** How a program is started: with a command before it, and more in its environment. */
export interface Start {
  readonly through?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

export interface Acknowledged {
  readonly id: string;
  readonly position: number;
}

export class Writer {
  readonly #child: ChildProcess;
  readonly #entries: Acknowledged[] = [];
  readonly #refused: { readonly id: string; readonly code: string }[] = [];
  #rest = "";
  #stderr = "";
  readonly ended: Promise<Ended>;
  /** Resolves with the first acknowledgement, or when the program has ended without one. */
  readonly started: Promise<void>;

  constructor(options: WriterOptions, { through = [], env = {} }: Start = {}) {
    const own = [process.execPath, programFile("writer"), JSON.stringify(options)];
    const [program = "", ...args] = [...through, ...own];
    this.#child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
    this.ended = new Promise((resolve) => {
      this.#child.on("close", (status, signal) => resolve({ status, signal, stderr: this.#stderr }));
    });
    const first = new Promise<void>((resolve) => this.#child.stdout?.once("data", () => resolve()));
    this.started = Promise.race([first, this.ended.then(() => {})]);
    this.#child.stdout?.setEncoding("utf8").on("data", (chunk: string) => this.#read(chunk));
    this.#child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr += chunk;
    });
    onTestFinished(() => {
      this.#child.kill("SIGKILL");
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** Everything acknowledged so far, as far as it was read, in order of acknowledgement. */
  get entries(): readonly Acknowledged[] {
    return this.#entries;
  }

  get acknowledged(): readonly string[] {
    return this.#entries.map(({ id }) => id);
  }

  get refused(): readonly { readonly id: string; readonly code: string }[] {
    return this.#refused;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<Ended> {
    this.#child.kill("SIGKILL");
    return this.ended;
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() as string;
    for (const line of lines) {
      const [sign, id = "", rest = ""] = line.split(" ");
      if (sign === "+") this.#entries.push({ id, position: Number(rest) });
      else this.#refused.push({ id, code: rest });
    }
  }
}

export interface Follower {
  /** Asks it to look once more and to end; answers with how far it came. */
  stop(): Promise<Ended & { readonly followed: number; readonly rounds: number }>;
}

export function startFollower(data: string): Follower {
  const child = fork(programFile("follower"), [data], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let stderr = "";
  let report = { followed: 0, rounds: 0 };
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  child.on("message", (message) => {
    report = message as typeof report;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (status, signal) => resolve({ status, signal, stderr }));
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return {
    stop: async () => {
      if (child.connected) child.send("stop");
      return { ...(await ended), ...report };
    },
  };
}

function programFile(name: string): string {
  return fileURLToPath(new URL(`./${name}.js`, import.meta.url));
}
