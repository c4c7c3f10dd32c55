// `hansard verify`: walks the hash chain and says whether every entry is as it was recorded.
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { verifyFile } from "../../../import/export-check.js";
import type { Recorder, Verification } from "../../../index.js";
import { isSealFlaw } from "../../../model/verification.js";
import { type CommandModule, helpText, type Invocation, withRecorder } from "../command.js";
import { exitStatus, Failed, WrongUse } from "../failures.js";
import { hintText } from "../hints.js";
import { countOf, formatCount } from "../text/table.js";
import { cleanText, documentText, type Pane, ProgressLine } from "../text/terminal.js";

const WARNING =
  "triggers that keep the log from being changed were missing, and are put back by whoever opens it to write";

export const verifyCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("[file]", "a file that `hansard export` wrote; without it, the store")
      .option(
        "--against <file>",
        "seals that `hansard seal` printed, one a line: does the log still contain the newest?",
      )
      .option("--seal-key <path>", "the key that seals must be signed with (HANSARD_SEAL_KEY)")
      .option("--json", "print the HTTP document")
      .addHelpText(
        "after",
        helpText(
          [
            `The exit status is 1 where an entry was changed, removed, inserted or swapped, and where the log no longer holds what its
index was made from or what a server sealed last.`,
          ],
          [
            ["an export is what was exported", "hansard verify record.ndjson"],
            ["nothing that was sealed has gone", "hansard verify --against seal.json"],
            ["check the record every night", "hansard verify || echo 'the record was tampered with'"],
          ],
        ),
      );
  },

  async run({ operands, settings, screen, json, options }: Invocation) {
    const [file] = operands;
    if (file !== undefined && options.against !== undefined) throw sealOfStore();
    const against = typeof options.against === "string" ? readSeal(options.against) : undefined;
    const progress = new ProgressLine(screen.err);
    progress.show("Walking the chain …");
    try {
      const walk = (recorder: Recorder): Promise<Verification> => recorder.verify({ against });
      const result =
        file === undefined
          ? await withRecorder({ settings, screen, json }, { create: false }, walk)
          : await readFile(file);
      progress.clear();
      screen.out.write(
        json ? documentText(result, screen.out) : hintText(verificationText(result, screen.out, file), settings),
      );
      return result.ok ? exitStatus.done : exitStatus.failed;
    } finally {
      progress.clear();
    }
  },
};

async function readFile(path: string): Promise<Verification> {
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
    message: "a seal is held against a store, not against a file",
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
        : `the log was cut off or exchanged: its ${known.by} knows of entries through ${known.position}`;
    const shared = result.holders === undefined ? "" : `; entries that share it: ${result.holders.join(", ")}`;
    return `${bold(red(`position ${result.position}:`))} ${reason}${shared}\n${dim(advice)}\n`;
  }
  const erased = result.erased === 0 ? "" : `, ${formatCount(result.erased)} of them erased`;
  // A hash takes most of a line, and is easier to copy from one of its own.
  const head = result.entries === 0 ? "" : `,${pane.isTerminal ? "\n    " : " "}head hash ${result.hash}`;
  const sealed = result.seal === undefined ? "" : `\n${sealText(result.seal)}`;
  const warned = result.warnings === undefined ? "" : `\n${bold(yellow("warning:"))} ${WARNING}`;
  return `${bold(green("ok:"))} ${countOf(result.entries, "entry", "entries")}${erased}${head}${sealed}${warned}\n`;
}

function adviceOn({ position, reason }: { readonly position: number; readonly reason: string }, file?: string): string {
  // The chain was walked before the seal was looked at.
  if (isSealFlaw(reason)) return "The log itself is as it was recorded; it is the seal that does not belong to it.";
  const before = position === 0 ? "" : "Everything before it fits the chain. ";
  // The doctor looks at stores.
  const next = "This is not the file that was exported: get it anew, or import it with --as-new.";
  return `${before}${file === undefined ? "`hansard doctor` says what to do." : next}`;
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
  return `    holds what was sealed at ${sealed_at} through ${position},\n    with key ${public_key}`;
}
