// What the passes over the record have in common on the command line: which part of it, and how far they have come.
import type { Command } from "commander";
import type { PassOptions, Recorder } from "../../index.js";
import { type Invocation, textOptions, withRecorder } from "./command.js";
import { WrongUse } from "./failures.js";
import { formatCount } from "./text/table.js";
import { ProgressLine } from "./text/terminal.js";

export function definePass(command: Command): Command {
  return command
    .argument("[id]", "one interaction alone")
    .option("--project <name>", "only entries of this project")
    .option("--session <id>", "only entries of this session")
    .option("--after <position>", "begin after this position; without it, at the beginning")
    .option("--json", "print a JSON document");
}

export async function runPass<T>(
  { operands, options, settings, screen, json }: Invocation,
  doing: string,
  work: (recorder: Recorder, pass: PassOptions) => Promise<T>,
): Promise<T> {
  const { project, session: session_id, after } = textOptions(options, ["project", "session", "after"]);
  const progress = new ProgressLine(screen.err);
  try {
    return await withRecorder({ settings, screen, json }, { create: false }, async (recorder) => {
      const { position: head } = await recorder.health();
      const onProgress = (at: number): void => progress.show(`${doing}: ${formatCount(at)} of ${formatCount(head)} …`);
      return work(recorder, { interaction_id: operands[0], project, session_id, ...parseAfter(after), onProgress });
    });
  } finally {
    progress.clear();
  }
}

function parseAfter(after: string | undefined): { readonly after?: number } {
  if (after === undefined) return {};
  if (/^\d{1,15}$/.test(after)) return { after: Number(after) };
  throw new WrongUse({ code: "option_invalid", field: "--after", message: "--after must be a position" });
}
