// How a model that proposes memories is named on the command line.
import type { Command } from "commander";
import type { Invocation } from "./command.js";
import { WrongUse } from "./failures.js";

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

/** Which model is asked, if any; other commands have a --model of their own, which is none. */
export function modelOf({
  options,
  settings,
}: Pick<Invocation, "options" | "settings">): Invocation["settings"]["model"] {
  if (options.model === undefined || settings.model !== undefined) return settings.model;
  const message = "--model needs --model-url, where that model is";
  throw new WrongUse({ code: "setting_invalid", field: "--model", message });
}
