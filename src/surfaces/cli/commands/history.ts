// `hansard history`: a session as model messages, as a transcript or as JSON.
import type { AnthropicHistory, OpenAiMessage, Session } from "../../../index.js";
import { messageParts } from "../../../model/content-parts.js";
import { operations } from "../../../operations/index.js";
import { hintText } from "../hints.js";
import { type Given, operationCommand } from "../operation-command.js";
import { type Paragraph, paragraphLines, pieceParagraphs, roleColour } from "../text/paragraphs.js";
import { cleanLine, type Pane } from "../text/terminal.js";

type Document = AnthropicHistory | { readonly messages: readonly OpenAiMessage[] };

const INDENT = "  ";
/** How much of a tool result a transcript shows; --json has all. */
const RESULT_LINES = 12;

export const historyCommand = operationCommand<Document>(
  [operations.getHistory],
  async (document, out, { given, invocation, recorder }) =>
    document.messages.length > 0
      ? transcriptText(document, out)
      : hintText(await whyEmpty(recorder.session(given.id ?? ""), given), invocation.settings),
);

/** Why the history is empty. */
async function whyEmpty(session: Session, { max_messages = "" }: Given): Promise<string> {
  if ((await session.summary()) === undefined) {
    return `No history: no entries in session ${JSON.stringify(cleanLine(session.id))}.\n`;
  }
  if ((await session.history()).length === 0) return EMPTY;
  return `No history: --max-messages ${cleanLine(max_messages)} leaves no messages.\n`;
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
