// Runs a command in this process through the program's own entry, or as a program of its own, and hands back what it printed.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { type EntryInput, openRecorder } from "../../src/index.js";
import { run } from "../../src/surfaces/cli/program.js";
import { withoutPrivilege } from "../support/without-privilege.js";

export const mainFile = fileURLToPath(new URL("../../bundle/main.js", import.meta.url));

/** Where a server keeps its seals and their key, unless a test says otherwise; gone with the process. */
export const configHome = mkdtempSync(join(tmpdir(), "hansard-config-"));
process.once("exit", () => rmSync(configHome, { recursive: true, force: true }));

export interface CliOptions {
  /** The folder of the store; without one the command is left to find its own. */
  readonly data?: string;
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Whether it runs as a program of its own: for exit codes, real pipes, signals, and commands that run at the same time. */
  readonly asProgram?: boolean;
  /** Whether it may do no more than the modes of files allow, also where the test runs as root; such a program is its own. */
  readonly unprivileged?: boolean;
  /** After so long the command counts as hung: it fails its own test, and the next command runs. */
  readonly limit_ms?: number;
  /** A program that is to run the command, with its arguments before it. */
  readonly through?: readonly string[];
}

export interface CliResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** In this process unless the options ask for more: loading the program takes longer than most commands. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  if (options.asProgram === true || options.unprivileged === true || options.through !== undefined) {
    return runProgram(args, options);
  }
  if (options.env?.NODE_OPTIONS !== undefined)
    throw new Error("NODE_OPTIONS needs a program of its own: pass `asProgram`.");
  // One after the other: the streams, the environment and the folder belong to the process.
  const result = lastRun.then(() => runHere(args, options));
  lastRun = result.catch(() => undefined);
  return result;
}

let lastRun: Promise<unknown> = Promise.resolve();

async function runHere(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const { argv, env, exitCode, exit } = process;
  const folder = process.cwd();
  const streams = (["stdin", "stdout", "stderr"] as const).map(
    (name) => [name, Object.getOwnPropertyDescriptor(process, name) as PropertyDescriptor] as const,
  );
  const [stdout, stderr] = [new Collected(), new Collected()];
  const before = { ...env };
  try {
    Object.defineProperty(process, "stdin", { configurable: true, value: inputStream(options.input) });
    Object.defineProperty(process, "stdout", { configurable: true, value: stdout });
    Object.defineProperty(process, "stderr", { configurable: true, value: stderr });
    replaceEnvironment(environmentOf(options));
    if (options.cwd !== undefined) process.chdir(options.cwd);
    process.argv = [process.execPath, mainFile, ...args];
    process.exitCode = undefined;
    process.exit = () => {
      throw new Error("A command that ends its process is no command for a test's process: pass `asProgram`.");
    };
    const status = await Promise.race([run(args), hung(args, options)]);
    return { status: Number(process.exitCode ?? status), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    for (const [name, descriptor] of streams) Object.defineProperty(process, name, descriptor);
    replaceEnvironment(before);
    process.chdir(folder);
    Object.assign(process, { argv, exitCode, exit });
  }
}

/** Fails in time for the test to say which command it was; what belongs to the process is put back for the next one. */
async function hung(args: readonly string[], { limit_ms = HUNG_MS }: CliOptions): Promise<never> {
  await pause(limit_ms, undefined, { ref: false });
  throw new Error(`\`hansard ${args.join(" ")}\` did not end within ${limit_ms / 1000} seconds`);
}

const HUNG_MS = 120_000;

/** A stream that keeps what is written to it. */
class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}

/** As much at once as a pipe hands on. */
const PIPE_BYTES = 65_536;

function inputStream(input: string | Uint8Array = ""): Readable {
  const bytes = Buffer.from(input as string);
  const pieces = Array.from({ length: Math.ceil(bytes.length / PIPE_BYTES) }, (_, at) =>
    bytes.subarray(at * PIPE_BYTES, (at + 1) * PIPE_BYTES),
  );
  return Readable.from(pieces, { objectMode: false });
}

/** Of the real environment and not of a copy: Node asks it for the home folder. */
function replaceEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
}

function environmentOf(options: CliOptions): NodeJS.ProcessEnv {
  const { PATH = "" } = process.env;
  const data = options.data === undefined ? {} : { HANSARD_DATA: options.data };
  return { PATH, TZ: "UTC", HOME: "/nonexistent", XDG_CONFIG_HOME: configHome, ...data, ...options.env };
}

export function startCli(args: readonly string[], options: CliOptions = {}): ChildProcess {
  const own = [process.execPath, mainFile, ...args] as const;
  const command = options.unprivileged === true ? withoutPrivilege(own) : own;
  const [program = process.execPath, ...rest] = [...(options.through ?? []), ...command];
  return spawn(program, rest, {
    env: environmentOf(options),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    stdio: "pipe",
  });
}

function runProgram(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const child = startCli(args, options);
  // A command that does not read its input to the end closes it on us, which is its good right.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(options.input);
  return resultOf(child);
}

export async function resultOf(child: ChildProcess): Promise<CliResult> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, stdout, stderr }));
  });
}

export interface ServingCli {
  readonly child: ChildProcess;
  readonly address: string;
  /** The line of its log that says where it listens. */
  readonly listening: { readonly address: string; readonly addresses: readonly string[] };
  /** What it has logged until now. */
  readonly log: () => string;
  readonly ended: Promise<CliResult>;
}

/** `hansard serve` on a port of its own, once it listens; killed with the test at the latest. Called inside the test. */
export async function serveCli(options: CliOptions, args: readonly string[] = ["--port", "0"]): Promise<ServingCli> {
  const child = startCli(["serve", ...args], options);
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = resultOf(child);
  let text = "";
  const listening = await new Promise<ServingCli["listening"]>((resolve, reject) => {
    child.stderr?.on("data", (chunk: string) => {
      text += chunk;
      const line = text.split("\n").find((one) => one.includes('"msg":"listening"'));
      if (line !== undefined) resolve(JSON.parse(line));
    });
    void ended.then(({ stderr }) => reject(new Error(`the server did not start: ${stderr}`)));
  });
  return { child, address: listening.address, listening, log: () => text, ended };
}

/** The document of a call that has to succeed and print nothing else. */
// biome-ignore lint/suspicious/noExplicitAny: every document has another shape, and the assertions are the check.
export async function readJson(args: readonly string[], options: CliOptions = {}): Promise<any> {
  const { status, stdout, stderr } = await runCli([...args, "--json"], options);
  if (status !== 0 || stderr !== "") throw new Error(`status ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

/** The error document of a call that has to fail and print nothing on stdout. */
// biome-ignore lint/suspicious/noExplicitAny: as above.
export async function readError(args: readonly string[], options: CliOptions = {}): Promise<any> {
  const { status, stdout, stderr } = await runCli([...args, "--json"], options);
  if (stdout !== "") throw new Error(`unexpected output: ${stdout}`);
  return { status, ...JSON.parse(stderr).error };
}

export async function fillStore(data: string, entries: readonly EntryInput[]): Promise<void> {
  const recorder = await openRecorder({ data });
  try {
    await recorder.append(entries);
  } finally {
    await recorder.close();
  }
}

export function interactions(count: number): readonly EntryInput[] {
  return Array.from({ length: count }, (_, at) => ({ kind: "interaction", prompt: `question ${at + 1}` }));
}
