// `hansard extract`: proposes what rules find in what was recorded. It can be stopped and run again.
import type { Command } from "commander";
import type { Extraction, ExtractOptions } from "../../index.js";
import { type CommandModule, examplesText, type Invocation, textOptions } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { definePass, runPass } from "../pass-options.js";
import { countOf, formatCount } from "../text/table.js";
import { cleanLine, documentText, type Pane } from "../text/terminal.js";

export const extractCommand: CommandModule = {
  define(command: Command): void {
    definePass(command)
      .option(
        "--model-url <url>",
        "ask a model behind an endpoint that speaks as OpenAI's does; its key is HANSARD_MODEL_KEY",
      )
      .option("--model <name>", "which model, with --model-url")
      .option("--via <command>", "ask a command that reads JSON and writes JSON, such as 'claude -p'")
      .option("--daily-tokens <n>", "how many tokens a model is sent in a day (200000)")
      .option("--explain", "show what was dropped, by which gate and why")
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
    const extraction = await runPass(invocation, "Looking for what to remember", (recorder, pass) =>
      recorder.memories.extract({ ...pass, ...modelOf(options) }),
    );
    screen.out.write(
      json ? documentText(extraction, screen.out) : extractionText(extraction, screen.out, options.explain === true),
    );
    return exitStatus.done;
  },
};

function modelOf(options: Invocation["options"]): ExtractOptions {
  const { modelUrl: url, model, via, dailyTokens } = textOptions(options, ["modelUrl", "model", "via", "dailyTokens"]);
  if (url === undefined && via === undefined) return {};
  if (dailyTokens !== undefined && !/^\d{1,12}$/.test(dailyTokens)) throw wrong("--daily-tokens must be a number");
  const daily_tokens = dailyTokens === undefined ? {} : { daily_tokens: Number(dailyTokens) };
  if (via !== undefined) return { model: { via }, ...daily_tokens };
  if (url === undefined || model === undefined) throw wrong("--model-url needs --model");
  return { model: { url, model, key: process.env.HANSARD_MODEL_KEY }, ...daily_tokens };
}

function wrong(message: string): WrongUse {
  return new WrongUse({ code: "option_invalid", message });
}

function extractionText(extraction: Extraction, { colours }: Pane, explain: boolean): string {
  const { candidates, dropped, dropped_by_gate } = extraction;
  const gates = Object.entries(dropped_by_gate).map(([gate, count]) => `${formatCount(count)} by ${gate}`);
  const head = `${countOf(candidates.length, "candidate", "candidates")} proposed${gates.length === 0 ? "" : `; dropped ${gates.join(", ")}`}.\n`;
  const lines = candidates.map(({ type, content }) => `  ${colours.green("+")} ${type}: ${cleanLine(content)}\n`);
  const ended =
    extraction.stopped === undefined ? "" : `Stopped: ${cleanLine(extraction.stopped)}. Run it again to go on.\n`;
  if (!explain) return `${head}${lines.join("")}${ended}`;
  const reasons = dropped.map(
    ({ dropped: gate, reason, content, entry_ids }) =>
      `  ${colours.red("-")} ${gate}: ${cleanLine(content)}\n    ${colours.dim(cleanLine(`${reason} (${entry_ids.join(", ")})`))}\n`,
  );
  return `${head}${lines.join("")}${reasons.join("")}${ended}`;
}
