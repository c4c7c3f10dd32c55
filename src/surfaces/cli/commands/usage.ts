// `hansard usage`: tokens and cost as a table with plots, or as the document of GET /usage.
import type { Command } from "commander";
import { type CommandModule, helpText, type Invocation, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { defineQuestion, readQuestion } from "../question-options.js";
import { documentText } from "../text/terminal.js";
import { usagePlot } from "../text/usage-plot.js";
import { usageText } from "../text/usage-text.js";

export const usageCommand: CommandModule = {
  define(command: Command): void {
    defineQuestion(command, "usage")
      .option("--prices <file>", "prices in LiteLLM's form, in place of the known ones (HANSARD_PRICES)")
      .option("--json", "print the HTTP document")
      .addHelpText(
        "after",
        helpText(
          ["Tokens are summed up as providers count them; costs are in US dollars, days are those of UTC."],
          [
            ["a week, by day and model", "hansard usage --since 7d"],
            ["which project costs most", "hansard usage --by project"],
            ["the dearest sessions of one project", "hansard usage --by session --project web"],
            ["what it cost in all", "hansard usage --json | jq .total.cost"],
          ],
        ),
      );
  },

  async run({ options, settings, screen, json }: Invocation) {
    const { prices } = settings;
    const report = await withQuestion({ settings, screen, json, prices }, (recorder) =>
      recorder.usage(readQuestion(options, "usage")),
    );
    const { out } = screen;
    if (json) out.write(documentText(report, out));
    else out.write(usageText(report, out) + (out.isTerminal ? await usagePlot(report, out) : ""));
    return exitStatus.done;
  },
};
