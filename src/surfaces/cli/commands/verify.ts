// `hansard verify` and `hansard seal`: whether every entry is as it was recorded, and a signed statement to check that against.
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import type { Command } from "commander";
import { PAGE_BYTES_MAX } from "../../../export/share/check.js";
import { verifyFile } from "../../../import/export-check.js";
import type { PageVerification, Recorder, Verification } from "../../../index.js";
import { isSealFlaw } from "../../../model/verification.js";
import { type CommandModule, helpText, type Invocation, printResult, withProgress, withRecorder } from "../command.js";
import { type ExitStatus, exitStatus, Failed, WrongUse } from "../failures.js";
import { hintText } from "../hints.js";
import { countOf, formatCount } from "../text/table.js";
import { cleanText, type Pane } from "../text/terminal.js";

const PAGE_BEGIN = "<!doctype html>";
const WARNING = "triggers that protect the log were missing; the next command that writes restores them";

export const verifyCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("[file]", "a file written by `hansard export`, or a page by `hansard share`; without it, the store")
      .option("--against <file>", "check the newest of these seals, printed by `hansard seal`, one per line")
      .option("--seal-key <path>", "the key that must have signed them (HANSARD_SEAL_KEY)")
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        helpText(
          [
            `The exit status is 1 if an entry was changed, removed, inserted or swapped, and if the log is shorter than its index or
its last seal says.`,
          ],
          [
            ["check an export", "hansard verify record.ndjson"],
            ["compare a shared page with the store that it came from", "hansard verify session.html"],
            ["check that nothing sealed is missing", "hansard verify --against seals.ndjson"],
            ["check the record every night", "hansard verify || echo 'the record was tampered with'"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { operands, settings, options } = invocation;
    const [file] = operands;
    if (file !== undefined && options.against !== undefined) throw sealOfStore();
    if (file !== undefined && isPage(file)) return checkPage(invocation, file);
    const against = typeof options.against === "string" ? readSeal(options.against) : undefined;
    const result = await withProgress(invocation, (progress) => {
      progress.show("Checking the hash chain …");
      const check = (recorder: Recorder): Promise<Verification> => recorder.verify({ against });
      return file === undefined ? withRecorder(invocation, { create: false }, check) : checkFile(file);
    });
    printResult(invocation, result, (_, out) => hintText(verificationText(result, out, file), settings));
    return result.ok ? exitStatus.done : exitStatus.failed;
  },
};

export const sealCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--seal-key <path>", "the key to sign with, made on first use (HANSARD_SEAL_KEY)")
      .option("--json", "has no effect: a seal is always JSON")
      .addHelpText(
        "after",
        helpText(
          [
            "Keep seals where people who can change the record cannot change them. The key is stored outside the data folder.",
          ],
          [
            ["keep a seal per night on another machine", "hansard seal | ssh vault 'cat >> seals.ndjson'"],
            ["check that nothing sealed is missing", "hansard verify --against seals.ndjson"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const seal = await withRecorder(invocation, { create: false }, (recorder) => recorder.seal());
    invocation.screen.out.write(`${JSON.stringify(seal)}\n`);
    return exitStatus.done;
  },
};

/** Pages are HTML; exports begin with a brace. */
function isPage(path: string): boolean {
  const begin = Buffer.alloc(PAGE_BEGIN.length);
  try {
    // A pipe is read once, as an export.
    if (!statSync(path).isFile()) return false;
    const file = openSync(path, "r");
    try {
      readSync(file, begin, 0, begin.length, 0);
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
  return begin.toString("latin1").toLowerCase() === PAGE_BEGIN;
}

async function checkPage(invocation: Invocation, path: string): Promise<ExitStatus> {
  const { size } = statSync(path);
  if (size > PAGE_BYTES_MAX) {
    const message = `the page cannot be read: it has more than ${PAGE_BYTES_MAX / 1024 / 1024} MB`;
    throw new Failed({ code: "file_not_read", field: "file", message });
  }
  const result = await withProgress(invocation, (progress) => {
    progress.show("Comparing the page with the store …");
    return withRecorder(invocation, { create: false }, (recorder) => recorder.verifyPage(readFileSync(path, "utf8")));
  });
  printResult(invocation, result, pageText);
  return result.ok ? exitStatus.done : exitStatus.failed;
}

function pageText(result: PageVerification, { colours }: Pane): string {
  const { green, red, bold, dim } = colours;
  if (!result.ok) {
    const where = result.position === 0 ? "the page" : `entry ${result.position}`;
    return `${bold(red(`${where}:`))} ${cleanText(result.reason)}\n`;
  }
  const { session_id, entries, erased, articles, seal } = result;
  const gone = erased === 0 ? "" : ` (${formatCount(erased)} erased or replaced since)`;
  const shown =
    articles === undefined
      ? "the session went on, so the text was not compared"
      : `the text of ${countOf(articles, "article", "articles")} is what this store shows, with secrets masked`;
  const sealed =
    seal === undefined
      ? "no seal was checked"
      : `the seal of ${seal.sealed_at} holds, made with key ${seal.public_key}`;
  const lines = [`session ${cleanText(session_id)}`, shown, sealed].map((line) => `    ${dim(line)}\n`).join("");
  return `${bold(green("ok:"))} ${countOf(entries, "entry has", "entries have")} the hash that the page says${gone}\n${lines}`;
}

async function checkFile(path: string): Promise<Verification> {
  const result = await verifyFile(path);
  if (!("unreadable" in result)) return result;
  throw new Failed({
    code: "file_not_read",
    field: "file",
    message: `the export cannot be read: ${result.unreadable}`,
  });
}

function sealOfStore(): WrongUse {
  return new WrongUse({
    code: "option_misplaced",
    field: "--against",
    message: "--against checks a store, not a file",
    hint: "Import the file into an empty store and verify that.",
  });
}

function readSeal(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { message } = error as NodeJS.ErrnoException;
    throw new Failed({ code: "file_not_read", field: "--against", message: `the seal cannot be read: ${message}` });
  }
}

function verificationText(result: Verification, pane: Pane, file: string | undefined): string {
  const { green, red, yellow, bold, dim } = pane.colours;
  if (!result.ok) {
    const advice = adviceOn(result, file);
    const { known } = result;
    const reason =
      known === undefined
        ? cleanText(result.reason)
        : `the log was truncated or replaced: its ${known.by} expects entries up to ${known.position}`;
    const shared = result.holders === undefined ? "" : `; shared by entries ${result.holders.join(", ")}`;
    return `${bold(red(`position ${result.position}:`))} ${reason}${shared}\n${dim(advice)}\n`;
  }
  const erased = result.erased === 0 ? "" : ` (${formatCount(result.erased)} erased)`;
  // A hash is easier to copy from a line of its own.
  const head = result.entries === 0 ? "" : `,${pane.isTerminal ? "\n    " : " "}head hash ${result.hash}`;
  const sealed = result.seal === undefined ? "" : `\n${sealText(result.seal)}`;
  const warned = result.warnings === undefined ? "" : `\n${bold(yellow("warning:"))} ${WARNING}`;
  return `${bold(green("ok:"))} ${countOf(result.entries, "entry", "entries")}${erased}${head}${sealed}${warned}\n`;
}

function adviceOn({ position, reason }: { readonly position: number; readonly reason: string }, file?: string): string {
  // The chain is checked before the seal.
  if (isSealFlaw(reason)) return "The log itself is unchanged; the seal does not belong to it.";
  const before = position === 0 ? "" : "Everything before it is unchanged. ";
  const next = "The file is not as it was exported. Export it again, or import it with --as-new.";
  return `${before}${file === undefined ? "Run `hansard doctor`." : next}`;
}

function sealText({
  position,
  sealed_at,
  public_key,
}: {
  position: number;
  sealed_at: string;
  public_key: string;
}): string {
  return `    contains all ${formatCount(position)} entries sealed at ${sealed_at}\n    with key ${public_key}`;
}
