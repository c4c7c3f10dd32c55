// `hansard recall`: the memories for a prompt, as text or as JSON that can be recorded with the interaction.
import type { Recalled, RecallOptions, Recorder } from "../../../index.js";
import { operations } from "../../../operations/index.js";
import { type CommandModule, type Invocation, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { answerOf, defineCommand, flagsGiven } from "../operation-command.js";
import { wrapText } from "../text/table.js";
import { cleanLine, cleanText, documentText } from "../text/terminal.js";

export const recallCommand: CommandModule = {
  define: (command) => defineCommand(command, [operations.recall]),

  async run(invocation: Invocation) {
    const { options, screen, json } = invocation;
    const { out, err } = screen;
    let nothing = "Nothing to recall.";
    const recalled = await withQuestion(invocation, async (recorder) => {
      const query = flagsGiven(options, operations.recall);
      const { session_id = "" } = query;
      const isNew = session_id !== "" && (await recorder.session(session_id).summary()) === undefined;
      const found = await answerOf<Recalled>(recorder, operations.recall, invocation);
      // Names a session that a typing error may have created.
      if (isNew && found.memories_used.length > 0) err.write(`Created session ${cleanLine(session_id)}.\n`);
      if (found.memories_used.length === 0) nothing = await nothingText(recorder, query);
      return found;
    });
    if (json) out.write(documentText(recalled, out));
    else if (recalled.memories_used.length === 0) err.write(`${wrapText(nothing, err.columns).join("\n")}\n`);
    else out.write(cleanText(recalled.context_pack.text));
    return exitStatus.done;
  },
};

/** How many projects are suggested. */
const PROJECTS_SHOWN = 5;
const LOOKED_AT = 100;

/** Without memories for the given project, suggests others. */
async function nothingText(recorder: Recorder, { project = "", budget_tokens }: RecallOptions): Promise<string> {
  const { memories } = await recorder.memories.list({ status: "active", limit: LOOKED_AT });
  const projects = [...new Set(memories.map((memory) => memory.project))].filter((name) => name !== "");
  if (projects.length === 0 || projects.includes(project) || budget_tokens !== undefined) return "Nothing to recall.";
  const named = projects.slice(0, PROJECTS_SHOWN).map((name) => cleanLine(name));
  const more = projects.length > named.length ? " and others" : "";
  const where = project === "" ? "without --project" : `for ${cleanLine(project)}`;
  return `Nothing to recall ${where}. Projects with memories: ${named.join(", ")}${more}.`;
}
