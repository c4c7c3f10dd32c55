// `hansard scrub`: lists stored entries that hold secrets; with --yes it forgets them.
import type { Command } from "commander";
import type { Scrubbed } from "../../../index.js";
import { type CommandModule, helpText, type Invocation, textOptions, withRecorder } from "../command.js";
import { exitStatus } from "../failures.js";
import { systemUser } from "../system-user.js";
import { forgottenText } from "../text/forgotten-text.js";
import { cleanLine, documentText, type Pane, ProgressLine } from "../text/terminal.js";

export const scrubCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--reason <text>", "why they go; it is kept")
      .option("--yes", "forget them; without this, they are only listed")
      .option("--json", "print a JSON document")
      .addHelpText(
        "after",
        helpText(
          [
            `Secrets are well-known tokens and the values given with --mask-file. None of them is printed, except where it is part
of the id that its entry is known by. A secret that was recorded is no longer one: revoke it too.`,
          ],
          [
            ["which entries hold secrets", "hansard scrub"],
            ["forget them", "hansard scrub --yes"],
          ],
        ),
      );
  },

  async run({ options, settings, screen, json }: Invocation) {
    const { reason } = textOptions(options, ["reason"] as const);
    const dry_run = options.yes !== true;
    const progress = new ProgressLine(screen.err);
    progress.show("Looking for secrets …");
    try {
      const scrubbed = await withRecorder({ settings, screen, json }, { create: false }, (recorder) =>
        recorder.scrub({ dry_run, actor: systemUser(), ...(reason === undefined ? {} : { reason }) }),
      );
      progress.clear();
      screen.out.write(json ? documentText(scrubbed, screen.out) : scrubbedText(scrubbed, screen.out));
      return exitStatus.done;
    } finally {
      progress.clear();
    }
  },
};

function scrubbedText(scrubbed: Scrubbed, pane: Pane): string {
  const { bold, dim } = pane.colours;
  if (scrubbed.findings.length === 0) return "No secret was found.\n";
  const lines = scrubbed.findings.map(({ position, kind, id, secrets }) => {
    return `${bold(`#${position}`)}  ${kind}  ${cleanLine(id)}  ${dim(secrets.join(", "))}\n`;
  });
  return `${lines.join("")}${forgottenText(scrubbed, pane)}`;
}
