// `hansard retention`: forgets what is older than rules allow; without --yes it only says what would go.
import type { Command } from "commander";
import type { Retained, RetentionRule } from "../../../index.js";
import { captureKinds } from "../../../model/kinds.js";
import { type CommandModule, helpText, type Invocation, textOptions, withRecorder } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { systemUser } from "../system-user.js";
import { forgottenText } from "../text/forgotten-text.js";
import { documentText, type Pane, ProgressLine } from "../text/terminal.js";

export const retentionCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--older-than <age>", "90d, 12w, or a date: entries that were created before that")
      .option("--kind <kind>", `only this kind: ${captureKinds.join(", ")}; without it, all of these`)
      .option("--yes", "do it; without this, only what would go is shown")
      .option("--json", "print a JSON document")
      .addHelpText(
        "after",
        helpText(
          [
            "Without --older-than the rules of hansard.config.json are shown, and with --yes applied:",
            '  {"retention": [{"kind":"tool_call","older_than":"90d"},{"older_than":"104w"}]}',
            "Nothing runs by itself: put the command into cron or a timer.",
          ],
          [
            ["what would go", "hansard retention --kind tool_call --older-than 90d"],
            ["apply the rules of the configuration every night", "hansard retention --yes"],
          ],
        ),
      );
  },

  async run({ options, operands, settings, screen, json }: Invocation) {
    if (operands[0] !== undefined) throw stray(operands[0]);
    const { kind, olderThan: older_than } = textOptions(options, ["kind", "olderThan"] as const);
    if (kind !== undefined && older_than === undefined) throw ageMissing();
    const rules: readonly RetentionRule[] = older_than === undefined ? settings.retention : [{ kind, older_than }];
    const dry_run = options.yes !== true;
    const progress = new ProgressLine(screen.err);
    progress.show("Looking for what is too old …");
    try {
      const retained = await withRecorder({ settings, screen, json }, { create: false }, (recorder) =>
        recorder.retain({ rules, dry_run, actor: systemUser() }),
      );
      progress.clear();
      screen.out.write(json ? documentText(retained, screen.out) : retainedText(retained, screen.out));
      return exitStatus.done;
    } finally {
      progress.clear();
    }
  },
};

function retainedText({ rules }: Retained, pane: Pane): string {
  if (rules.length === 0) return "There are no rules: name one with --older-than, or in hansard.config.json.\n";
  return rules
    .map((rule) => `${rule.kind ?? "every kind"} older than ${rule.older_than}\n${forgottenText(rule, pane)}`)
    .join("");
}

function ageMissing(): WrongUse {
  return new WrongUse({
    code: "option_invalid",
    field: "--older-than",
    message: "--kind needs --older-than",
    hint: "For example --kind tool_call --older-than 90d.",
  });
}

function stray(argument: string): WrongUse {
  return new WrongUse({
    code: "argument_excess",
    message: `${JSON.stringify(argument.slice(0, 80))} is not an option`,
    hint: "`hansard retention --help` shows what there is.",
  });
}
