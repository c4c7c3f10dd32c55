// `hansard copy`: copies a record between a folder and PostgreSQL, in either direction, with its positions and hashes.
import type { Command } from "commander";
import { displayLocation } from "../../../model/store-location.js";
import { type CopyOutcome, copyStore } from "../../../recorder/copy-store.js";
import { type CommandModule, helpText, type Invocation, waitingNote } from "../command.js";
import { exitStatus, Failed, WrongUse } from "../failures.js";
import { resolvePlace } from "../settings.js";
import { bar, countOf, formatCount, wrapText } from "../text/table.js";
import { cleanLine, documentText, type Pane, ProgressLine } from "../text/terminal.js";

const BAR_TOTAL = 20;
const NOT_COPIED = "API keys, seals and their key, and how far watched files were read";

export const copyCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--from <place>", "the folder or postgres:// address to read")
      .option("--to <place>", "the folder or postgres:// address to write, empty or begun by an earlier copy")
      .option("--json", "print what was done as a JSON document")
      .addHelpText(
        "after",
        helpText(
          [
            `It copies, and changes nothing at the source: the whole log goes over, with the same positions, times and hashes.
An interrupted copy continues where it stopped when it is started again.`,
            `Not copied: ${NOT_COPIED}. The copy builds its own index.`,
          ],
          [
            ["from one machine to a database", "hansard copy --from ~/.hansard --to postgres://hansard@db/hansard"],
            ["and back into a folder", "hansard copy --from postgres://hansard@db/hansard --to ./record"],
          ],
        ),
      );
  },

  async run({ options, screen, json }: Invocation) {
    const [from, to] = [place(options.from, "--from"), place(options.to, "--to")];
    if (from === to) throw samePlace();
    const progress = new ProgressLine(screen.err);
    try {
      const outcome = await copyStore({
        from,
        to,
        onWait: waitingNote({ screen, json }),
        onProgress: ({ position, end }) => {
          const share = position / end;
          progress.show(
            `${bar(share * BAR_TOTAL, BAR_TOTAL)} ${Math.floor(share * 100)} %, ${formatCount(position)} of ${formatCount(end)}`,
          );
        },
      });
      progress.clear();
      if ("differs_at" in outcome) throw otherLog(to, outcome.differs_at);
      screen.out.write(json ? documentText(outcome, screen.out) : copyText(outcome, { from, pane: screen.out }));
      return exitStatus.done;
    } finally {
      progress.clear();
    }
  },
};

function copyText(
  outcome: Exclude<CopyOutcome, { readonly differs_at: number }>,
  { from, pane }: { readonly from: string; readonly pane: Pane },
): string {
  const note = `${cleanLine(displayLocation(from))} is unchanged. Not copied: ${NOT_COPIED}.`;
  const before = outcome.existing === 0 ? "" : `, ${outcome.existing} were there before`;
  const left = outcome.left === undefined ? "" : `Still there: ${outcome.left}\n`;
  return `Copied ${countOf(outcome.copied, "entry", "entries")}${before}\nhead hash ${outcome.hash}\n${wrapText(note, pane.columns).join("\n")}\n${left}`;
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
    message: `${displayLocation(to)} holds entries of its own (through position ${position}); nothing was changed`,
    hint: "Copy into an empty place; to add one record to another, use `hansard export` and `hansard import`.",
  });
}
