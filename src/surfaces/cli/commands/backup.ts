// `hansard backup` and `hansard restore`: the whole log as one file, and a store made from it.
import { resolve } from "node:path";
import type { Command } from "commander";
import { itemAt } from "../../../model/item-at.js";
import { backUpStore, restoreStore, type StoreCopy } from "../../../recorder/back-up-store.js";
import { type CommandModule, helpText, type Invocation, printResult, storeFolder, withProgress } from "../command.js";
import { exitStatus } from "../failures.js";
import { keysText } from "../text/keys-text.js";
import { countOf, formatCount } from "../text/table.js";
import { cleanText, type Pane } from "../text/terminal.js";

export const backupCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("<path>", "the file to write")
      .option("--force", "replace the file if it exists")
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        helpText(
          [
            `The store may be in use meanwhile. The file appears only when it is complete and its hash chain is verified. It
contains the whole record, so protect it as well as the record itself.`,
          ],
          [
            ["every night, one file per day", "hansard backup /backups/record-$(date +%F).db"],
            ["restore it", "hansard restore /backups/record-2026-11-15.db --data ./restored"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { operands, options, settings } = invocation;
    const copy = await withProgress(invocation, (progress) =>
      backUpStore({
        data: storeFolder(settings, "backup"),
        path: resolve(itemAt(operands, 0)),
        replaces: options.force === true,
        onStep: (says) => progress.show(says),
      }),
    );
    printResult(invocation, copy, copyText);
    return exitStatus.done;
  },
};

export const restoreCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("<from>", "a file written by `hansard backup`, or the folder of a store")
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        helpText(
          [
            `Nothing is overwritten: --data must name a folder without a log. If this folder's log was lost, restoring also
discards what its old index and seal expected; its keys stay. In a new place there are no keys: create them before you
serve it beyond this machine. The next command that reads rebuilds the index.`,
          ],
          [["into a new folder", "hansard restore record-2026-11-15.db --data ./restored"]],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { operands, settings } = invocation;
    const copy = await withProgress(invocation, (progress) =>
      restoreStore({
        from: resolve(itemAt(operands, 0)),
        data: storeFolder(settings, "restore"),
        seal_key: settings.seal_key,
        onStep: (says) => progress.show(says),
      }),
    );
    printResult(invocation, copy, (restored, pane) => {
      return `${copyText(restored, pane)}${keysText({ ...restored, data: settings.data }, pane)}`;
    });
    return exitStatus.done;
  },
};

function copyText({ path, bytes, entries, erased, hash, set_aside = [] }: StoreCopy, pane: Pane): string {
  const { bold, green, dim } = pane.colours;
  const gone = erased === 0 ? "" : ` (${formatCount(erased)} erased)`;
  const size = `${formatCount(Math.ceil(bytes / 1024))} KiB`;
  const aside = set_aside.map((file) => `The remains of the lost log were moved to ${cleanText(file)}.\n`).join("");
  return `${bold(green("ok:"))} ${countOf(entries, "entry", "entries")}${gone}, verified, ${size} in ${cleanText(path)}\n${dim(`head hash ${hash}`)}\n${aside}`;
}
