// `hansard copy`: copies a record between folders and PostgreSQL, with its positions and hashes.
import type { Command } from "commander";
import { displayLocation } from "../../../model/store-location.js";
import { copyStore, type StoreCopied } from "../../../recorder/copy-store.js";
import { type CommandModule, helpText, type Invocation, printResult, waitingNote, withProgress } from "../command.js";
import { exitStatus, Failed, WrongUse } from "../failures.js";
import { resolvePlace } from "../settings.js";
import { keysText } from "../text/keys-text.js";
import { bar } from "../text/plot.js";
import { countOf, formatCount, wrapText } from "../text/table.js";
import { cleanLine, type Pane } from "../text/terminal.js";

const NOT_COPIED = "API keys, seals and their signing key, and the progress of watched files";

export const copyCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--from <place>", "the folder or postgres:// address to read")
      .option("--to <place>", "the folder or postgres:// address to write to; empty, or with an interrupted copy")
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        helpText(
          [
            `Copies the whole log with the same positions, times and hashes. The source is not changed. Run an interrupted copy
again to continue it.`,
            `Not copied: ${NOT_COPIED}. The copy builds its own index. Create keys before you serve it.`,
          ],
          [
            ["from a folder to a database", "hansard copy --from ~/.hansard --to postgres://hansard@db/hansard"],
            ["from a database to a folder", "hansard copy --from postgres://hansard@db/hansard --to ./record"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { options } = invocation;
    const [from, to] = [place(options.from, "--from"), place(options.to, "--to")];
    if (from === to) throw samePlace();
    const outcome = await withProgress(invocation, (progress) =>
      copyStore({
        from,
        to,
        onWait: waitingNote(invocation),
        onProgress: ({ position, end }) =>
          progress.show(
            `${bar(position, end)} ${Math.floor((position / end) * 100)} %, ${formatCount(position)} of ${formatCount(end)}`,
          ),
      }),
    );
    if ("differs_at" in outcome) throw otherLog(to, outcome.differs_at);
    printResult(invocation, outcome, (copied, pane) => copyText(copied, { from, to, pane }));
    return exitStatus.done;
  },
};

function copyText(
  outcome: Exclude<StoreCopied, { readonly differs_at: number }>,
  { from, to, pane }: { readonly from: string; readonly to: string; readonly pane: Pane },
): string {
  const note = `${cleanLine(displayLocation(from))} is unchanged. Not copied: ${NOT_COPIED}.`;
  const before = outcome.existing === 0 ? "" : `, ${formatCount(outcome.existing)} were copied before`;
  const left = outcome.left === undefined ? "" : `Remaining: ${outcome.left}\n`;
  return `Copied ${countOf(outcome.copied, "entry", "entries")}${before}\nhead hash ${outcome.hash}\n${wrapText(note, pane.columns).join("\n")}\n${left}${keysText({ ...outcome, data: to }, pane)}`;
}

function place(given: unknown, flag: string): string {
  if (typeof given === "string" && given !== "" && given !== "memory:") return resolvePlace(given, flag);
  const message = `${flag} must name a folder or a postgres:// address`;
  throw new WrongUse({ code: "option_invalid", field: flag, message });
}

function samePlace(): WrongUse {
  return new WrongUse({ code: "option_invalid", field: "--to", message: "--from and --to name the same place" });
}

function otherLog(to: string, position: number): Failed {
  return new Failed({
    code: "copy_target_differs",
    field: "--to",
    message: `${displayLocation(to)} contains other entries (up to position ${position}); nothing was changed`,
    hint: "Copy into an empty place. To add one record to another, use `hansard export` and `hansard import`.",
  });
}
