// `hansard seal`: prints a signed statement of what the log holds now, to be kept where the log is not.
import type { Command } from "commander";
import { type CommandModule, helpText, type Invocation, withRecorder } from "../command.js";
import { exitStatus } from "../failures.js";

export const sealCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--seal-key <path>", "the key to sign with, made on first use (HANSARD_SEAL_KEY)")
      .option("--json", "print the seal and nothing else, which is what it does anyway")
      .addHelpText(
        "after",
        helpText(
          [
            "Keep seals where whoever can change the record cannot reach them. The key lies outside of the data folder.",
          ],
          [
            ["a seal every night, on another machine", "hansard seal | ssh vault 'cat >> seals.ndjson'"],
            ["has anything that was sealed gone since?", "hansard verify --against seal.json"],
          ],
        ),
      );
  },

  async run({ settings, screen, json }: Invocation) {
    const seal = await withRecorder({ settings, screen, json }, { create: false }, (recorder) => recorder.seal());
    screen.out.write(`${JSON.stringify(seal)}\n`);
    return exitStatus.done;
  },
};
