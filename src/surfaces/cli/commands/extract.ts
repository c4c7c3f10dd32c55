// `hansard extract`: proposes what rules find in what was recorded. It can be stopped and run again.
import type { Command } from "commander";
import type { Extraction } from "../../../index.js";
import { type CommandModule, examplesText, type Invocation } from "../command.js";
import { exitStatus } from "../failures.js";
import { modelOf, modelOptions } from "../model-options.js";
import { definePass, runPass } from "../pass-options.js";
import { countOf, formatCount, wrapText } from "../text/table.js";
import { cleanLine, documentText, type Pane } from "../text/terminal.js";

export const extractCommand: CommandModule = {
  define(command: Command): void {
    modelOptions(definePass(command))
      .option("--explain", "show what was read, passed over and dropped, and why")
      .addHelpText(
        "after",
        examplesText([
          ["propose what the whole record says is worth remembering", "hansard extract"],
          ["ask a model too, about sessions that nobody goes on with", "hansard extract --via 'claude -p'"],
          ["see why something was not proposed", "hansard extract --session cli:anna --explain"],
        ]),
      );
  },

  async run(invocation: Invocation) {
    const { options, screen, json } = invocation;
    const model = modelOf(invocation);
    const extraction = await runPass(invocation, "Looking for what to remember", (recorder, pass) =>
      recorder.memories.extract({ ...pass, ...model }),
    );
    screen.out.write(
      json ? documentText(extraction, screen.out) : extractionText(extraction, screen.out, options.explain === true),
    );
    return exitStatus.done;
  },
};

const NOTHING_FOUND =
  "No rule matched. Rules look for sentences of users that begin with " +
  '"always", "never", "I prefer", "remember that" or "from now on", for decisions with a rationale, for headings such as ' +
  '"## Decision: …" in answers, and for commands that failed and later worked; --via or --model-url has a model read the ' +
  "rest, and hansard memories add takes your word.";

function extractionText(extraction: Extraction, pane: Pane, explain: boolean): string {
  const { colours, columns } = pane;
  const indented = (text: string, indent: number): string =>
    wrapText(cleanLine(text), columns === undefined ? undefined : columns - indent).join(`\n${" ".repeat(indent)}`);
  const { candidates, dropped, dropped_by_gate, looked_at, passed_over } = extraction;
  const gates = Object.entries(dropped_by_gate).map(([gate, count]) => `${formatCount(count)} by ${gate}`);
  const head = `${countOf(candidates.length, "candidate", "candidates")} proposed${gates.length === 0 ? "" : `; dropped ${gates.join(", ")}`}.\n`;
  const lines = candidates.map(
    ({ type, content }) => `  ${colours.green("+")} ${indented(`${type}: ${content}`, 4)}\n`,
  );
  const ended =
    extraction.stopped === undefined ? "" : `Stopped: ${cleanLine(extraction.stopped)}. Run it again to go on.\n`;
  // Most sessions say nothing that a rule knows; without a word about it that looks like a failure.
  const nothing = candidates.length + dropped.length === 0 ? `${indented(NOTHING_FOUND, 0)}\n` : "";
  if (!explain) return `${head}${lines.join("")}${nothing}${ended}`;
  const reasons = dropped.map(
    ({ dropped: gate, reason, content, entry_ids }) =>
      `  ${colours.red("-")} ${indented(`${gate}: ${content}`, 4)}\n    ${colours.dim(indented(`${reason} (${entry_ids.join(", ")})`, 4))}\n`,
  );
  const passed = passed_over.map(
    ({ reason, content, entry_id }) =>
      `  ${colours.dim("·")} ${indented(`passed over: ${content}`, 4)}\n    ${colours.dim(indented(`${reason} (${entry_id})`, 4))}\n`,
  );
  const read = `${indented(readText(looked_at), 0)}\n`;
  return `${head}${read}${lines.join("")}${nothing}${reasons.join("")}${passed.join("")}${ended}`;
}

function readText({ entries, users, assistants, decisions, tool_calls }: Extraction["looked_at"]): string {
  const parts = [
    countOf(users, "user message", "user messages"),
    countOf(assistants, "answer", "answers"),
    countOf(decisions, "decision", "decisions"),
    countOf(tool_calls, "tool call", "tool calls"),
  ];
  return `Rules read ${countOf(entries, "entry", "entries")}: ${parts.join(", ")}.`;
}
