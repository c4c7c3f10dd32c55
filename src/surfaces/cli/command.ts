// What every command of the program is made of, and the few things most of them share.
import { lstatSync, readdirSync } from "node:fs";
import type { AddHelpTextContext, Command } from "commander";
import { filesOf, isInProcess } from "../../engines/stores.js";
import type { Fault } from "../../model/fault.js";
import { isStoreFileName } from "../../model/store-location.js";
import { openForQuestion, openRecorder, type RecorderOptions } from "../../recorder/open-recorder.js";
import type { Recorder } from "../../recorder/recorder.js";
import { type ExitStatus, WrongUse } from "./failures.js";
import type { Settings } from "./settings.js";
import { wrapText } from "./text/table.js";
import { cleanLine, type Screen } from "./text/terminal.js";

/** One call of a command: what was given, and where to write. */
export interface Invocation {
  readonly operands: readonly string[];
  readonly options: { readonly [name: string]: unknown };
  readonly settings: Settings;
  readonly screen: Screen;
  /** Whether a program reads the output: then it is the document and nothing else. */
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
    message: "a store in memory is gone when the command ends",
    hint: "Name a folder with --data; memory: is for `hansard serve`.",
  });
}

/** The folder of a store, for commands that work on its files. */
export function storeFolder(settings: Settings, command: string): string {
  const data = keptFolder(settings);
  if (filesOf(data) !== undefined) return data;
  throw new WrongUse({
    code: "setting_invalid",
    field: "--data",
    message: `${command} is for stores in a folder; a database has means of its own, and a server's record lies elsewhere`,
    hint: "Use pg_dump, or `hansard export --out record.ndjson`, which can be imported into any store.",
  });
}

/** A command asks once and is gone, so that it rather waits for a whole answer than for the next one to be better. */
const REBUILD_WAIT_MS = 30_000;

/** Says on the side that an answer may be short; a document says so itself. */
export function notePartial(
  answer: { readonly partial?: true },
  { screen, json }: Pick<Invocation, "screen" | "json">,
): void {
  if (answer.partial && !json) screen.err.write("The index is being rebuilt; older entries may be missing.\n");
}

/** Says, once, that a database is being waited for; a program that reads the output learns it from the outcome. */
export function waitingNote({ screen, json }: Pick<Invocation, "screen" | "json">): (fault: Fault) => void {
  const { err } = screen;
  return ({ message }) => {
    const text = `${cleanLine(message)}; waiting for it, 30 seconds at most …`;
    // On a terminal a line may stand there that says what is going on.
    const clear = err.isTerminal ? "\r\u001b[2K" : "";
    if (!json) err.write(`${clear}${wrapText(text, err.columns).join("\n")}\n`);
  };
}

type Store = Pick<Invocation, "settings" | "screen" | "json">;

/** Opens the store for one piece of work and closes it whatever happens. */
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
 * The same for a question. Where no record was begun yet in the place that is set up for it, nothing is wrong: the answers
 * are those of an empty store, with a note on how to begin, and nothing is written to disk. A place that is named with
 * --data is meant to hold one, so there it is an error.
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
    const begun = `There is no record in ${settings.data} yet. \`hansard record\`, \`hansard import\` and \`hansard serve\` begin one.`;
    screen.err.write(`${wrapText(begun, columns).join("\n")}\n`);
  }
  return withOpened(await openForQuestion({ data: "memory:", prices }), work);
}

/** Files of a store without its log are not a new store; opening it says so. */
function isUnbegun({ data, given_data }: Settings): boolean {
  if ((given_data ?? "") !== "" || filesOf(data) === undefined) return false;
  try {
    return !readdirSync(data).some(isStoreFileName);
  } catch (error) {
    // A link to nothing is no place for a record; opening it says so.
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return isMissing && lstatSync(data, { throwIfNoEntry: false }) === undefined;
  }
}

/** Refuses what a request could not be sent to. */
export function requireAddress(field: string, address: string | undefined, example: string): void {
  if (address === undefined || (URL.canParse(address) && /^https?:\/\/./.test(address))) return;
  const message = `${field} must be an http:// or https:// address`;
  throw new WrongUse({ code: "option_invalid", field, message, hint: `For example ${field} ${example}.` });
}

/** Text options as they were given; absent ones are left out. */
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

/** Where nobody says how wide the help may be, as where it is piped; Commander's own width. */
const HELP_WIDTH = 80;

/**
 * What help says below the options: paragraphs as wide as the terminal, wherever the source breaks its lines, then
 * examples. A paragraph that begins with a space stays as it is.
 */
export function helpText(
  prose: readonly string[],
  examples: readonly (readonly [says: string, line: string])[],
): (context: AddHelpTextContext) => string {
  return ({ command }) => {
    const width = command.configureOutput().getOutHelpWidth?.() ?? HELP_WIDTH;
    const lines = prose.flatMap((one) => (one.startsWith(" ") ? [one] : wrapText(one.replace(/\s+/g, " "), width)));
    return `\n${lines.join("\n")}\n${examplesText(examples)}`;
  };
}

/** Examples for the end of a help text: what it does, then the line to type. */
export function examplesText(examples: readonly (readonly [says: string, line: string])[]): string {
  return `\nExamples:\n${examples.map(([says, line]) => `  ${line}\n      ${says}\n`).join("")}`;
}
