// `hansard reflect`: the report as text with plots, as Markdown where it is piped, or as the document of GET /reflection.
import type { Command } from "commander";
import { conversationKinds } from "../../model/kinds.js";
import { type CommandModule, examplesText, type Invocation, textOptions, withRecorder } from "../command.js";
import { exitStatus } from "../failures.js";
import { kindHelp } from "../kind-help.js";
import { plotsText } from "../text/reflection-plots.js";
import { reflectionText } from "../text/reflection-text.js";
import { cleanText, documentText } from "../text/terminal.js";

export const reflectCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--limit <n>", "how many of the newest entries, up to 100,000 (30)")
      .option("--project <name>", "only this project; - for entries without one")
      .option("--session <id>", "only this session; - for entries without one")
      .option("--client <name>", "only this client; - for entries without one")
      .option("--kind <kind>", kindHelp(conversationKinds))
      .option("--role <role>", "only messages of this role: user, assistant, system, tool")
      .option("--since <time>", "from then on: 2026-11-15, 2026-11-15T06:39Z, or 30m, 12h, 7d, 2w ago")
      .option("--until <time>", "up to then, inclusive; a date alone means its end")
      .option("--json", "print the HTTP document")
      .addHelpText(
        "after",
        `\nOn a terminal it draws plots as well; piped, the report is plain Markdown.\n${examplesText([
          ["the last thirty entries", "hansard reflect"],
          ["a week of one project", "hansard reflect --project web --since 7d --limit 100000"],
          ["for an agent to read", "hansard reflect --session cli:anna | cat"],
          ["which errors recur", "hansard reflect --limit 1000 --json | jq .error_groups"],
        ])}`,
      );
  },

  async run({ options, settings, screen, json }: Invocation) {
    const { session: session_id, ...filters } = textOptions(options, OPTION_NAMES);
    const report = await withRecorder({ settings, create: false }, (recorder) =>
      recorder.reflect({ ...filters, session_id }),
    );
    const { out } = screen;
    if (json) out.write(documentText(report, out));
    else if (!out.isTerminal) out.write(`${cleanText(report.markdown)}\n`);
    else out.write(reflectionText(report, out) + (await plotsText(report.trend.timeline, out)));
    return exitStatus.done;
  },
};

const OPTION_NAMES = ["limit", "project", "session", "client", "kind", "role", "since", "until"] as const;
