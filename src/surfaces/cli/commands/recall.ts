// `hansard recall`: what a model should be given, as text or as the document that can be recorded with the interaction.
import type { Command } from "commander";
import type { RecallOptions, Recorder } from "../../../index.js";
import { operations } from "../../../operations/index.js";
import { type CommandModule, examplesText, type Invocation, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { defineFlags, flagsGiven } from "../operation-command.js";
import { wrapText } from "../text/table.js";
import { cleanLine, cleanText, documentText } from "../text/terminal.js";

export const recallCommand: CommandModule = {
  define(command: Command): void {
    command.argument("[q...]", "what the model is about to be asked; what matches it comes first");
    defineFlags(command, operations.recall)
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
    let nothing = "Nothing to recall.";
    const recalled = await withQuestion(invocation, async (recorder) => {
      const query: RecallOptions = { ...flagsGiven(options, operations.recall), ...q };
      const { session_id = "" } = query;
      const isNew = session_id !== "" && (await recorder.session(session_id).summary()) === undefined;
      const found = await recorder.memories.recall(query);
      // A name that was mistyped would begin a session without a word.
      if (isNew && found.memories_used.length > 0)
        err.write(`Session ${cleanLine(session_id)} begins with this: nothing was recorded in it before.\n`);
      if (found.memories_used.length === 0) nothing = await nothingText(recorder, query);
      return found;
    });
    if (json) out.write(documentText(recalled, out));
    else if (recalled.memories_used.length === 0) err.write(`${wrapText(nothing, err.columns).join("\n")}\n`);
    else out.write(cleanText(recalled.context_pack.text));
    return exitStatus.done;
  },
};

/** So many projects are named to somebody who named none. */
const PROJECTS_SHOWN = 5;
const LOOKED_AT = 100;

/** Whoever names no project, or a wrong one, is told which ones there is something to recall of. */
async function nothingText(recorder: Recorder, { project = "", budget_tokens }: RecallOptions): Promise<string> {
  const { memories } = await recorder.memories.list({ status: "active", limit: LOOKED_AT });
  const projects = [...new Set(memories.map((memory) => memory.project))].filter((name) => name !== "");
  if (projects.length === 0 || projects.includes(project) || budget_tokens !== undefined) return "Nothing to recall.";
  const named = projects.slice(0, PROJECTS_SHOWN).map((name) => cleanLine(name));
  const more = projects.length > named.length ? " and others" : "";
  const where = project === "" ? "that holds everywhere" : `of ${cleanLine(project)}`;
  return `Nothing to recall ${where}; with --project there is something of ${named.join(", ")}${more}.`;
}
