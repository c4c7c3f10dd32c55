// `hansard forget`: removes an entry, a session or a project for good; without --yes it only says what would go.
import type { Command } from "commander";
import { type CommandModule, helpText, type Invocation, textOptions, withRecorder } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { systemUser } from "../system-user.js";
import { forgottenText } from "../text/forgotten-text.js";
import { documentText, ProgressLine } from "../text/terminal.js";

export const forgetCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--entry <id>", "an entry, by its id or position, with the response that completed it")
      .option("--session <id>", "everything of a session")
      .option("--project <name>", "everything of a project")
      .option("--reason <text>", "why; it is kept, and so must not repeat what is to be forgotten")
      .option("--yes", "do it; without this, only what would go is shown")
      .option("--json", "print the HTTP document")
      .addHelpText(
        "after",
        helpText(
          [
            `Bodies are gone for good, from the files' unused pages too; the chain of hashes stays, and an entry of the kind
redaction says which positions went. Copies that were made before (backups, exports) are not touched.`,
          ],
          [
            ["what would go", 'hansard forget --session cli:anna --reason "Anna asked us to"'],
            ["do it", 'hansard forget --session cli:anna --reason "Anna asked us to" --yes'],
          ],
        ),
      );
  },

  async run({ options, operands, settings, screen, json }: Invocation) {
    const { entry, session: session_id, project, reason = "" } = textOptions(options, OPTION_NAMES);
    if (operands[0] !== undefined || [entry, session_id, project].filter((one) => one !== undefined).length !== 1) {
      throw targetMissing();
    }
    if (reason.trim() === "") throw reasonMissing();
    const dry_run = options.yes !== true;
    const progress = new ProgressLine(screen.err);
    if (!dry_run) progress.show("Forgetting …");
    try {
      const forgotten = await withRecorder({ settings, screen, json }, { create: false }, (recorder) =>
        recorder.forget({ entry, session_id, project, reason, dry_run, actor: systemUser() }),
      );
      progress.clear();
      screen.out.write(json ? documentText(forgotten, screen.out) : forgottenText(forgotten, screen.out));
      return exitStatus.done;
    } finally {
      progress.clear();
    }
  },
};

const OPTION_NAMES = ["entry", "session", "project", "reason"] as const;

function targetMissing(): WrongUse {
  return new WrongUse({
    code: "option_invalid",
    field: "--entry",
    message: "one of --entry, --session and --project is needed, and only one",
  });
}

function reasonMissing(): WrongUse {
  return new WrongUse({
    code: "option_invalid",
    field: "--reason",
    message: "--reason is needed",
    hint: "Say why, without repeating what is to be forgotten: the reason stays in the log.",
  });
}
