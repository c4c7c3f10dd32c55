// `hansard reflect`: the report as text with plots, as Markdown where it is piped, or as the document of GET /reflection.
import type { Command } from "commander";
import { type CommandModule, helpText, type Invocation, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { defineQuestion, readQuestion } from "../question-options.js";
import { plotsText, reflectionText } from "../text/reflection-text.js";
import { cleanText, documentText } from "../text/terminal.js";

export const reflectCommand: CommandModule = {
  define(command: Command): void {
    defineQuestion(command, "reflection")
      .option("--json", "print the HTTP document")
      .addHelpText(
        "after",
        helpText(
          ["On a terminal it draws plots as well; piped, the report is plain Markdown."],
          [
            ["the last thirty entries", "hansard reflect"],
            ["a week of one project", "hansard reflect --project web --since 7d --limit 100000"],
            ["for an agent to read", "hansard reflect --session cli:anna | cat"],
            ["which errors recur", "hansard reflect --limit 1000 --json | jq .error_groups"],
          ],
        ),
      );
  },

  async run({ options, settings, screen, json }: Invocation) {
    const report = await withQuestion({ settings, screen, json }, (recorder) =>
      recorder.reflect(readQuestion(options, "reflection")),
    );
    const { out } = screen;
    if (json) out.write(documentText(report, out));
    else if (!out.isTerminal) out.write(`${cleanText(report.markdown)}\n`);
    else out.write(reflectionText(report, out) + (await plotsText(report.trend.timeline, out)));
    return exitStatus.done;
  },
};
