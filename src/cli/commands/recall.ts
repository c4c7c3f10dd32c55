// `hansard recall`: what a model should be given, as text or as the document that can be recorded with the interaction.
import type { Command } from "commander";
import type { RecallOptions } from "../../index.js";
import { type CommandModule, examplesText, type Invocation, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { defineQuestion, readQuestion } from "../question-options.js";
import { cleanLine, cleanText, documentText } from "../text/terminal.js";

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
    const { out, err } = screen;
    const recalled = await withQuestion(invocation, async (recorder) => {
      const query: RecallOptions = { ...readQuestion(options, "recall"), ...q };
      const { session_id = "" } = query;
      const isNew = session_id !== "" && (await recorder.session(session_id).summary()) === undefined;
      const found = await recorder.memories.recall(query);
      // A name that was mistyped would begin a session without a word.
      if (isNew && found.memories_used.length > 0)
        err.write(`Session ${cleanLine(session_id)} begins with this: nothing was recorded in it before.\n`);
      return found;
    });
    if (json) out.write(documentText(recalled, out));
    else if (recalled.memories_used.length === 0) err.write("Nothing to recall.\n");
    else out.write(cleanText(recalled.context_pack.text));
    return exitStatus.done;
  },
};
