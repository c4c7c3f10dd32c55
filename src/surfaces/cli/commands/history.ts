// `hansard history`: a session as model messages, as a transcript or as JSON.
import type { Command } from "commander";
import type { AnthropicHistory, OpenAiMessage, Session } from "../../../index.js";
import { messageParts } from "../../../model/content-parts.js";
import { itemAt } from "../../../model/item-at.js";
import { operations } from "../../../operations/index.js";
import { type CommandModule, helpText, type Invocation, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { hintText } from "../hints.js";
import { openSession } from "../named-session.js";
import { defineFlags, flagsGiven } from "../operation-command.js";
import { type Paragraph, paragraphLines, pieceParagraphs, roleColour } from "../text/paragraphs.js";
import { cleanLine, documentText, type Pane } from "../text/terminal.js";

type Document = AnthropicHistory | { readonly messages: readonly OpenAiMessage[] };

const INDENT = "  ";
/** How much of a tool result a transcript shows; --json has all. */
const RESULT_LINES = 12;

export const historyCommand: CommandModule = {
  define(command: Command): void {
    command.argument("<id>", "the session's id");
    defineFlags(command, operations.getHistory)
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        helpText(
          ["Cleared and consolidated messages are left out. Messages that a provider would reject are repaired."],
          [
            ["the messages for a model", "hansard history cli:anna"],
            ["the same for a program", "hansard history cli:anna --max-tokens 8000 --json | jq .messages"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { operands, options, settings, screen, json } = invocation;
    const id = itemAt(operands, 0);
    const { document, emptiness } = await withQuestion({ settings, screen, json }, async (recorder) => {
      const session = openSession(recorder, id);
      const asked = flagsGiven(options, operations.getHistory);
      const history = await session.history(asked);
      const read: Document = "messages" in history ? history : { messages: history };
      return { document: read, emptiness: read.messages.length > 0 ? "" : await whyEmpty(session, asked) };
    });
    const { out } = screen;
    if (json) out.write(documentText(document, out));
    else if (document.messages.length > 0) out.write(transcriptText(document, out));
    else out.write(hintText(emptiness, settings));
    return exitStatus.done;
  },
};

/** Why the history is empty. */
async function whyEmpty(session: Session, asked: { readonly max_messages?: string }): Promise<string> {
  if ((await session.summary()) === undefined) {
    return `No history: no entries in session ${JSON.stringify(cleanLine(session.id))}.\n`;
  }
  if ((await session.history()).length === 0) return EMPTY;
  return `No history: --max-messages ${cleanLine(asked.max_messages ?? "")} leaves no messages.\n`;
}

const EMPTY =
  "No history: the session has no messages, or was cleared.\n" + "`hansard sessions ID` shows all its entries.\n";

interface TranscriptMessage {
  readonly role: string;
  readonly name?: string;
  readonly paragraphs: readonly Paragraph[];
}

function transcriptText(document: Document, pane: Pane): string {
  const { colours } = pane;
  const system = "system" in document ? document.system : "";
  const turns: readonly TranscriptMessage[] = [
    ...(system === "" ? [] : [{ role: "system", paragraphs: [{ text: system }] }]),
    ...document.messages.map((message) => toTurn(message, pane)),
  ];
  const width = pane.columns === undefined ? undefined : pane.columns - INDENT.length;
  return turns
    .map(({ role, name = "", paragraphs }) => {
      const head = `${colours.bold(roleColour(role, colours)(role))}${name === "" ? "" : ` ${cleanLine(name)}`}\n`;
      const lines = paragraphLines(paragraphs, width, pane);
      // Recorded lines are indented: none can be mistaken for a role.
      return head + lines.map((line) => `${INDENT}${line}`.trimEnd().concat("\n")).join("");
    })
    .join("\n");
}

function toTurn(message: Document["messages"][number], { colours }: Pane): TranscriptMessage {
  const isResult = "tool_call_id" in message;
  const saidLinesMax = isResult ? RESULT_LINES : Number.POSITIVE_INFINITY;
  const pieces = pieceParagraphs(messageParts(message), { colours, saidLinesMax, resultLinesMax: RESULT_LINES });
  const name = "name" in message ? (message.name ?? "") : "";
  return { role: message.role, name, paragraphs: pieces.filter(({ text }) => text.trim() !== "") };
}
