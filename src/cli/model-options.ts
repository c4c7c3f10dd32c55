// How a model that proposes memories is named on the command line.
import type { Command } from "commander";

export function modelOptions(command: Command): Command {
  return command
    .option(
      "--model-url <url>",
      "ask a model too, behind an endpoint that speaks as OpenAI's does (HANSARD_MODEL_URL); its key is HANSARD_MODEL_KEY",
    )
    .option("--model <name>", "which model, with --model-url (HANSARD_MODEL)")
    .option("--via <command>", "ask a command that reads and writes JSON, such as 'claude -p' (HANSARD_VIA)")
    .option("--daily-tokens <n>", "how many tokens a model is sent in a day (HANSARD_DAILY_TOKENS, or 200000)");
}
