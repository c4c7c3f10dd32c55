// `hansard reinforce`: counts which memories were given, used and confirmed in what was recorded; each turn once.
import type { Command } from "commander";
import { type CommandModule, examplesText, type Invocation } from "../command.js";
import { exitStatus } from "../failures.js";
import { definePass, runPass } from "../pass-options.js";
import { countOf, formatCount } from "../text/table.js";
import { documentText } from "../text/terminal.js";

export const reinforceCommand: CommandModule = {
  define(command: Command): void {
    definePass(command).addHelpText(
      "after",
      examplesText([["count the uses of memories in the whole record", "hansard reinforce"]]),
    );
  },

  async run(invocation: Invocation) {
    const { screen, json } = invocation;
    const done = await runPass(invocation, "Looking for uses of memories", (recorder, pass) =>
      recorder.memories.reinforce(pass),
    );
    const count = (use: "given" | "used" | "confirmed"): string =>
      `${formatCount(done.reinforced.filter((one) => one[use]).length)} ${use}`;
    const turns = new Set(done.reinforced.map(({ turn_id }) => turn_id)).size;
    const said = `${countOf(turns, "turn", "turns")}: ${count("given")}, ${count("used")}, ${count("confirmed")}.\n`;
    screen.out.write(json ? documentText(done, screen.out) : said);
    return exitStatus.done;
  },
};
