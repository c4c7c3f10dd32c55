// Whose words stand in an entry: what can be quoted of it, and who said it.
import { textsOf } from "../indexing/texts.js";
import { valueText } from "../model/content.js";
import { messagePieces, type Piece } from "../model/content-pieces.js";
import type { Entry } from "../model/entry.js";
import { readRole } from "../model/roles.js";

/** Whose words a text is. What stands in a system message was said by nobody in the conversation. */
type Speaker = "user" | "tool" | "assistant" | "system";

export interface Spoken {
  readonly by: Speaker;
  readonly text: string;
}

/** Who speaks in a field; what is not named here is nobody's word. */
const speakerByField: { readonly [field: string]: Speaker } = {
  "interaction.prompt": "user",
  "interaction.response": "assistant",
  "interaction.response_summary": "assistant",
  "interaction.error": "tool",
  "response.response": "assistant",
  "response.response_summary": "assistant",
  "response.error": "tool",
  "tool_call.tool": "assistant",
  "tool_call.args": "assistant",
  "tool_call.result": "tool",
  "error.error": "tool",
  "error.context": "tool",
  "decision.decision": "assistant",
  "decision.rationale": "assistant",
  "feedback.comment": "user",
};

/** What was said in an entry, each text by itself as it stands there. */
export function spokenIn(entry: Entry): readonly Spoken[] {
  if (entry.kind === "message") {
    const speaker = speakerOf(entry.role);
    return messagePieces(entry)
      .map((piece) => spokenPiece(piece, speaker))
      .filter(({ text }) => text !== "");
  }
  return textsOf(entry.kind, entry).flatMap(({ field, text }) => {
    const speaker = speakerByField[`${entry.kind}.${field}`];
    return speaker === undefined ? [] : [{ by: speaker, text }];
  });
}

/** Some providers have results told by the user; they are a tool's words all the same. */
function spokenPiece(piece: Piece, by: Speaker): Spoken {
  switch (piece.is) {
    case "text":
      return { by, text: piece.text };
    case "result":
      return { by: "tool", text: piece.text };
    case "call":
      return { by: "assistant", text: valueText(piece.given) };
    case "thought":
      return { by: "assistant", text: piece.text };
    case "thing":
      return { by: "system", text: "" };
  }
}

function speakerOf(role: string): Speaker {
  const read = readRole(role);
  return read === "user" || read === "tool" || read === "assistant" ? read : "system";
}
