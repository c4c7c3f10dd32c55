// `hansard backup`: the whole log as one file, taken while others write, and proven before it counts.

import { resolve } from "node:path";
import type { Command } from "commander";
import { itemAt } from "../../../model/item-at.js";
import { backUpStore } from "../../../recorder/back-up-store.js";
import { type CommandModule, helpText, type Invocation, storeFolder } from "../command.js";
import { exitStatus } from "../failures.js";
import { copyText } from "../text/copy-text.js";
import { documentText, ProgressLine } from "../text/terminal.js";

export const backupCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("<path>", "the file to write")
      .option("--force", "replace the file if it is there already")
      .option("--json", "print what was written as a document")
      .addHelpText(
        "after",
        helpText(
          [
            `Servers and agents may go on writing meanwhile. The copy's chain is walked before the file takes its name, so
that it is whole and verified or not there. It holds what the record holds: keep it as safe.`,
          ],
          [
            ["every night, one file a day", "hansard backup /backups/record-$(date +%F).db"],
            ["and back", "hansard restore /backups/record-2026-11-15.db --data ./restored"],
          ],
        ),
      );
  },

  async run({ operands, options, settings, screen, json }: Invocation) {
    const progress = new ProgressLine(screen.err);
    try {
      const copy = await backUpStore({
        data: storeFolder(settings, "backup"),
        path: resolve(itemAt(operands, 0)),
        replaces: options.force === true,
        onStep: (says) => progress.show(says),
      });
      progress.clear();
      screen.out.write(json ? documentText(copy, screen.out) : copyText(copy, screen.out));
      return exitStatus.done;
    } finally {
      progress.clear();
    }
  },
};
