// `hansard restore`: a store from a backup, in a folder that has none yet.

import { resolve } from "node:path";
import type { Command } from "commander";
import { itemAt } from "../../../model/item-at.js";
import { restoreStore } from "../../../recorder/back-up-store.js";
import { type CommandModule, helpText, type Invocation, storeFolder } from "../command.js";
import { exitStatus } from "../failures.js";
import { copyText } from "../text/copy-text.js";
import { documentText, ProgressLine } from "../text/terminal.js";

export const restoreCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("<from>", "a file that `hansard backup` wrote, or the folder of a store")
      .option("--json", "print what was restored as a document")
      .addHelpText(
        "after",
        helpText(
          [
            `Nothing that is there is overwritten: --data must name a folder without a log. Where one was lost, what its index and
its newest seal remember of it is let go with this, and keys stay. The index is built anew by the first command that
reads.`,
          ],
          [["into a folder of its own", "hansard restore record-2026-11-15.db --data ./restored"]],
        ),
      );
  },

  async run({ operands, settings, screen, json }: Invocation) {
    const progress = new ProgressLine(screen.err);
    try {
      const copy = await restoreStore({
        from: resolve(itemAt(operands, 0)),
        data: storeFolder(settings, "restore"),
        seal_key: settings.seal_key,
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
