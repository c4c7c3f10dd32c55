// `hansard context`: what a model was given for an answer, for people or as the document of GET /entries/{id}/context.
import type { Command } from "commander";
import { type CommandModule, helpText, type Invocation, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { ofNamedEntry } from "../named-entry.js";
import { defineQuestion, readQuestion } from "../question-options.js";
import { contextText } from "../text/context-text.js";
import { documentText } from "../text/terminal.js";

export const contextCommand: CommandModule = {
  define(command: Command): void {
    command.argument("<id|position>", "the answer: an interaction, an assistant's message, a tool call or an error");
    defineQuestion(command, "context")
      .option("--json", "print the HTTP document")
      .addHelpText(
        "after",
        helpText(
          ["Exact where the request was recorded, else the session's history as it was then."],
          [
            ["what the model had before it", "hansard context 12"],
            ["the messages that were new", "hansard context 12 --json | jq '.messages[.previous.added[]]'"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { operands, options, screen, json } = invocation;
    const wanted = operands[0] as string;
    const asked = readQuestion(options, "context");
    const context = await ofNamedEntry(wanted, () =>
      withQuestion(invocation, (recorder) => recorder.context(wanted, asked)),
    );
    screen.out.write(json ? documentText(context, screen.out) : contextText(context, screen.out));
    return exitStatus.done;
  },
};
