// Runs the real command as a child process, on a folder of its own, and hands back what it printed.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { type EntryInput, openRecorder } from "../../src/index.js";
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
  /** Whether it may do no more than the modes of files allow, also where the test runs as root. */
  readonly unprivileged?: boolean;
  /** A program that is to run the command, with its arguments before it. */
  readonly through?: readonly string[];
}

export interface CliResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function startCli(args: readonly string[], options: CliOptions = {}): ChildProcess {
  const { PATH = "" } = process.env;
  const data = options.data === undefined ? {} : { HANSARD_DATA: options.data };
  const own = [process.execPath, mainFile, ...args] as const;
  const command = options.unprivileged === true ? withoutPrivilege(own) : own;
  const [program = process.execPath, ...rest] = [...(options.through ?? []), ...command];
  return spawn(program, rest, {
    env: { PATH, HOME: "/nonexistent", XDG_CONFIG_HOME: configHome, ...data, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    stdio: "pipe",
  });
}

export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
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
