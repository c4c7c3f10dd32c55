// `hansard recall`: what a model should be given, as text or as the document that can be recorded with the interaction.
import type { Command } from "commander";
import { type CommandModule, examplesText, type Invocation, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { defineQuestion, readQuestion } from "../question-options.js";
import { cleanText, documentText } from "../text/terminal.js";

export const recallCommand: CommandModule = {
  define(command: Command): void {
    command.argument("[q...]", "what the model is about to be asked; what matches it comes first");
    defineQuestion(command, "recall")
      .option("--json", "print the HTTP document")
      .addHelpText(
        "after",
        examplesText([
          ["what a model should know before it answers", 'hansard recall "which port?" --project atlas'],
          ["no more than 500 tokens of it", "hansard recall --project atlas --budget-tokens 500 --json"],
        ]),
      );
  },

  async run(invocation: Invocation) {
    const { operands, options, screen, json } = invocation;
    const q = operands.length === 0 ? {} : { q: operands.join(" ") };
    const recalled = await withQuestion(invocation, (recorder) =>
      recorder.memories.recall({ ...readQuestion(options, "recall"), ...q }),
    );
    const { out, err } = screen;
    if (json) out.write(documentText(recalled, out));
    else if (recalled.memories_used.length === 0) err.write("Nothing to recall.\n");
    else out.write(cleanText(recalled.context_pack.text));
    return exitStatus.done;
  },
};
