// `hansard verify`: walks the hash chain and says whether every entry is as it was recorded.
import type { Command } from "commander";
import type { Verification } from "../../index.js";
import { type CommandModule, examplesText, type Invocation, withRecorder } from "../command.js";
import { exitStatus } from "../failures.js";
import { countOf } from "../table.js";
import { cleanText, documentText, type Pane, ProgressLine } from "../terminal.js";

export const verifyCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--json", "print the HTTP document")
      .addHelpText(
        "after",
        `\nThe exit status is 1 where an entry was changed, removed, inserted or swapped.\n${examplesText([
          ["check the record every night", "hansard verify || echo 'the record was tampered with'"],
        ])}`,
      );
  },

  async run({ settings, screen, json }: Invocation) {
    const progress = new ProgressLine(screen.err);
    progress.show("Walking the chain …");
    try {
      const result = await withRecorder({ settings, create: false }, (recorder) => recorder.verify());
      progress.clear();
      screen.out.write(json ? documentText(result, screen.out) : verificationText(result, screen.out));
      return result.ok ? exitStatus.done : exitStatus.failed;
    } finally {
      progress.clear();
    }
  },
};

function verificationText(result: Verification, pane: Pane): string {
  const { green, red, bold, dim } = pane.colours;
  if (!result.ok) {
    const advice = "Everything before it is as it was recorded. `hansard doctor` says what to do.";
    return `${bold(red(`position ${result.position}:`))} ${cleanText(result.reason)}\n${dim(advice)}\n`;
  }
  const erased = result.erased === 0 ? "" : `, ${result.erased} of them erased`;
  // A hash takes most of a line, and is easier to copy from one of its own.
  const head = result.entries === 0 ? "" : `,${pane.isTerminal ? "\n    " : " "}head hash ${result.hash}`;
  return `${bold(green("ok:"))} ${countOf(result.entries, "entry", "entries")}${erased}${head}\n`;
}
