// What every command is made of, and what many of them share.
import { lstatSync, readdirSync } from "node:fs";
import { userInfo } from "node:os";
import { createInterface } from "node:readline/promises";
import type { AddHelpTextContext, Command } from "commander";
import { filesOf, isInProcess } from "../../engines/stores.js";
import type { Fault } from "../../model/fault.js";
import { isStoreFileName } from "../../model/store-location.js";
import { openForQuestion, openRecorder, type RecorderOptions } from "../../recorder/open-recorder.js";
import type { Recorder } from "../../recorder/recorder.js";
import { type ExitStatus, WrongUse } from "./failures.js";
import type { Settings } from "./settings.js";
import { wrapText } from "./text/table.js";
import { cleanLine, documentText, type Pane, ProgressLine, type Screen } from "./text/terminal.js";

/** One call of a command: its arguments, and where to write. */
export interface Invocation {
  readonly operands: readonly string[];
  readonly options: { readonly [name: string]: unknown };
  readonly settings: Settings;
  readonly screen: Screen;
  /** Whether to print the JSON document and nothing else. */
  readonly json: boolean;
}

export interface CommandModule {
  /** Declares arguments, options and help. */
  define(command: Command): void;
  run(invocation: Invocation): Promise<ExitStatus>;
}

/** The folder of a store that outlives the command. */
export function keptFolder({ data }: Settings): string {
  if (!isInProcess(data)) return data;
  throw new WrongUse({
    code: "setting_invalid",
    field: "--data",
    message: "memory: keeps nothing after the command ends",
    hint: "Name a folder with --data. memory: is for `hansard serve`.",
  });
}

/** The folder of a store, for commands that work on its files. */
export function storeFolder(settings: Settings, command: string): string {
  const data = keptFolder(settings);
  if (filesOf(data) !== undefined) return data;
  throw new WrongUse({
    code: "setting_invalid",
    field: "--data",
    message: `\`${command}\` works on a folder only`,
    hint: "For PostgreSQL use pg_dump. For a server, run it on the server's machine. `hansard export` works with any store.",
  });
}

/** A command asks only once, so it waits for a complete answer instead of a partial one. */
const REBUILD_WAIT_MS = 30_000;

/** Notes on stderr that an answer may be incomplete; a JSON document says so itself. */
export function notePartial(
  answer: { readonly partial?: true },
  { screen, json }: Pick<Invocation, "screen" | "json">,
): void {
  if (answer.partial && !json) screen.err.write("The index is being rebuilt; older entries may be missing.\n");
}

/** Notes on stderr that the command waits for a database. */
export function waitingNote({ screen, json }: Pick<Invocation, "screen" | "json">): (fault: Fault) => void {
  const { err } = screen;
  return ({ message }) => {
    const text = `${cleanLine(message)}; retrying for up to 30 seconds …`;
    // Overwrites a progress line.
    const clear = err.isTerminal ? "\r\u001b[2K" : "";
    if (!json) err.write(`${clear}${wrapText(text, err.columns).join("\n")}\n`);
  };
}

type Store = Pick<Invocation, "settings" | "screen" | "json">;

/** Opens the store for one task and closes it in any case. */
export async function withRecorder<T>(
  invocation: Store,
  { create }: { readonly create: boolean },
  work: (recorder: Recorder) => Promise<T>,
): Promise<T> {
  return withOpened(await openRecorder(openingOf(invocation, { create })), work);
}

function openingOf(invocation: Store, given: Pick<RecorderOptions, "create" | "prices">): RecorderOptions {
  const { settings } = invocation;
  const { mask, redact, seal_key, key } = settings;
  const waiting = { rebuild: { wait_ms: REBUILD_WAIT_MS }, onWait: waitingNote(invocation) };
  return { data: keptFolder(settings), key, mask, redact, seal_key, ...given, ...waiting };
}

async function withOpened<T>(recorder: Recorder, work: (recorder: Recorder) => Promise<T>): Promise<T> {
  try {
    return await work(recorder);
  } finally {
    await recorder.close();
  }
}

/**
 * The same for a command that only reads. If the default place holds no record yet, it answers as an empty store would, with
 * a note on how to create one, and writes nothing to disk. A place named with --data must hold a record, or it is an error.
 */
export async function withQuestion<T>(
  asking: Store & { readonly prices?: string | undefined },
  work: (recorder: Recorder) => Promise<T>,
): Promise<T> {
  const { settings, screen, json, prices } = asking;
  if (!isUnbegun(settings))
    return withOpened(await openForQuestion(openingOf(asking, { create: false, prices })), work);
  if (!json) {
    const { columns } = screen.err;
    const note = `No record in ${settings.data} yet. \`hansard record\`, \`hansard import\` and \`hansard serve\` create one.`;
    screen.err.write(`${wrapText(note, columns).join("\n")}\n`);
  }
  return withOpened(await openForQuestion({ data: "memory:", prices }), work);
}

/** Whether there is a record, as far as can be told without opening it. */
export function hasStore(settings: Settings): boolean {
  const { data } = settings;
  if (filesOf(data) === undefined) return !isInProcess(data);
  try {
    return readdirSync(data).some(isStoreFileName);
  } catch {
    return false;
  }
}

/** Files of a store without its log are not a new store; opening it says so. */
function isUnbegun({ data, given_data }: Settings): boolean {
  if ((given_data ?? "") !== "" || filesOf(data) === undefined) return false;
  try {
    return !readdirSync(data).some(isStoreFileName);
  } catch (error) {
    // A broken link is not a place for a record; opening it says so.
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return isMissing && lstatSync(data, { throwIfNoEntry: false }) === undefined;
  }
}

/** Rejects what is not an HTTP address. */
export function requireAddress(field: string, address: string | undefined, example: string): void {
  if (address === undefined || (URL.canParse(address) && /^https?:\/\/./.test(address))) return;
  const message = `${field} must be an http:// or https:// address`;
  throw new WrongUse({ code: "option_invalid", field, message, hint: `For example ${field} ${example}.` });
}

/** Those of the named options that have a text value. */
export function textOptions<N extends string>(
  options: { readonly [name: string]: unknown },
  names: readonly N[],
): { readonly [name in N]?: string } {
  const texts: { [name in N]?: string } = {};
  for (const name of names) {
    const value = options[name];
    if (typeof value === "string") texts[name] = value;
  }
  return texts;
}

/** The width of piped help; Commander's own default. */
const HELP_WIDTH = 80;

/** The text below the options in help: paragraphs wrapped to the terminal, then examples. A paragraph that begins with a space stays as it is. */
export function helpText(
  prose: readonly string[],
  examples: readonly (readonly [says: string, line: string])[],
): (context: AddHelpTextContext) => string {
  return ({ command }) => {
    const width = command.configureOutput().getOutHelpWidth?.() ?? HELP_WIDTH;
    const lines = prose.flatMap((one) => (one.startsWith(" ") ? [one] : wrapText(one.replace(/\s+/g, " "), width)));
    return `${lines.length === 0 ? "" : `\n${lines.join("\n")}\n`}${examplesText(examples)}`;
  };
}

/** Examples for the end of a help text: the line to type, and what it does. */
export function examplesText(examples: readonly (readonly [says: string, line: string])[]): string {
  return `\nExamples:\n${examples.map(([says, line]) => `  ${line}\n      ${says}\n`).join("")}`;
}

/** Shows progress during a task, and clears the line in any case. */
export async function withProgress<T>(
  { screen }: Pick<Invocation, "screen">,
  work: (progress: ProgressLine) => Promise<T>,
): Promise<T> {
  const progress = new ProgressLine(screen.err);
  try {
    return await work(progress);
  } finally {
    progress.clear();
  }
}

/** Prints a result: as JSON for programs, as text for people. */
export function printResult<T>(
  { screen, json }: Pick<Invocation, "screen" | "json">,
  result: T,
  toText: (result: T, out: Pane) => string,
): void {
  screen.out.write(json ? documentText(result, screen.out) : toText(result, screen.out));
}

/** Calls back on Ctrl-C and other signals, and when the reader of the output has gone (`| head`). */
export function onStop(stop: () => void): { forget(): void } {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.once(signal, stop);
  process.stdout.once("error", stop);
  return {
    forget: () => {
      for (const signal of signals) process.off(signal, stop);
      process.stdout.off("error", stop);
    },
  };
}

/** The name of the user who runs this process, for audit entries. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // Many containers have no name for their user.
    return `user ${process.getuid?.() ?? "unknown"}`;
  }
}

interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Asks a yes-or-no question on the terminal. Ctrl-C and Ctrl-D mean no. */
export async function confirm(
  question: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<boolean> {
  const asking = createInterface({ input, output, terminal: true });
  const ended = new AbortController();
  asking.once("close", () => ended.abort());
  try {
    return /^y(es)?$/i.test((await asking.question(question, { signal: ended.signal })).trim());
  } catch (error) {
    if ((error as Error).name !== "AbortError") throw error;
    output.write("\n");
    return false;
  } finally {
    asking.close();
  }
}

/** The flags for a model that proposes memories. */
export function modelOptions(command: Command): Command {
  return command
    .option(
      "--model-url <url>",
      "also propose memories with a model at this OpenAI-compatible endpoint (HANSARD_MODEL_URL; key: HANSARD_MODEL_KEY)",
    )
    .option("--model <name>", "the name of that model (HANSARD_MODEL)")
    .option(
      "--via <command>",
      "propose memories with a command that answers on its standard output, such as 'claude -p' (HANSARD_VIA)",
    )
    .option(
      "--daily-tokens <n>",
      "maximum number of tokens sent to the model per day (HANSARD_DAILY_TOKENS, or 200000)",
    );
}

/** The model, if one is configured. */
export function modelOf({
  options,
  settings,
}: Pick<Invocation, "options" | "settings">): Invocation["settings"]["model"] {
  if (options.model === undefined || settings.model !== undefined) return settings.model;
  const message = "--model needs --model-url, the address of the model";
  throw new WrongUse({ code: "setting_invalid", field: "--model", message });
}
