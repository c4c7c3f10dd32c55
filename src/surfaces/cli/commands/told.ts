// `hansard told`: whether a text lay before the model when it answered, or as the document of GET /entries/{id}/told.
import type { Command } from "commander";
import { RecorderError } from "../../../model/rejection.js";
import { type CommandModule, helpText, type Invocation, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { ofNamedEntry } from "../named-entry.js";
import { toldText } from "../text/context-text.js";
import { documentText } from "../text/terminal.js";

export const toldCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("<id|position>", "the answer: an interaction, an assistant's message, a tool call or an error")
      .argument("<text...>", "what is looked for, as one phrase")
      .option("--json", "print the HTTP document")
      .addHelpText(
        "after",
        helpText(
          ["Given, fallen out (with when and why), or never given in the session."],
          [
            ["was the rule there?", 'hansard told 12 "never push to main"'],
            ["from an error to the first answer that knew", "hansard told 40 --json /etc/app.conf | jq .first_given"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { operands, screen, json } = invocation;
    const [wanted = "", ...words] = operands;
    const phrase = words.join(" ");
    if (phrase.trim() === "") throw nothingAsked();
    const told = await ofNamedEntry(wanted, () =>
      withQuestion(invocation, (recorder) => recorder.told(wanted, phrase)),
    );
    screen.out.write(json ? documentText(told, screen.out) : toldText(told, phrase, screen.out));
    return exitStatus.done;
  },
};

/** The text is no option, so that what is refused about it is told without one. */
function nothingAsked(): RecorderError {
  const hint = 'Give a word or a phrase, for example: hansard told 12 "never push to main".';
  return new RecorderError({ code: "query_empty", message: "there is no text to look for", hint });
}
