// The tools with which an agent records what happens.

import type { CaptureKind, EntryInput } from "../../model/entry.js";
import { itemAt } from "../../model/item-at.js";
import { RecorderError } from "../../model/rejection.js";
import { answerOutput, entryInput } from "./schemas.js";
import type { Tool } from "./tool.js";

export const recordingTools = {
  record_message: recording("message", "NewMessageEntry", {
    title: "Record a message",
    description: "Records a message of a conversation, as part of the session's history.",
  }),
  record_tool_call: recording("tool_call", "NewToolCallEntry", {
    title: "Record a tool call",
    description: "Records a tool that was run, with its arguments and its whole result.",
  }),
  record_error: recording("error", "NewErrorEntry", {
    title: "Record an error",
    description: "Records what went wrong, and where.",
  }),
  record_decision: recording("decision", "NewDecisionEntry", {
    title: "Record a decision",
    description: "Records what was decided, why, and how sure the decision was.",
  }),
  record_interaction: recording("interaction", "NewInteractionEntry", {
    title: "Record a round-trip with a model",
    description: "Records a prompt with its response, the model, and what else the model was given.",
  }),
} satisfies { readonly [name: string]: Tool };

function recording(kind: CaptureKind, schemaName: string, words: Pick<Tool, "title" | "description">): Tool {
  return {
    ...words,
    route: "POST /entries",
    input: (schemas) => entryInput(schemas, schemaName),
    output: (schemas) => answerOutput(schemas, "Receipt"),
    async call(recorder, args) {
      if ((args.kind ?? kind) !== kind) {
        const hint = "Leave kind out; each kind has a tool of its own.";
        throw new RecorderError({ code: "field_invalid", field: "kind", message: `kind must be ${kind} here`, hint });
      }
      const { entries } = await recorder.append({ ...args, kind } as unknown as EntryInput);
      const receipt = itemAt(entries, 0);
      const unknown =
        receipt.unknown_fields === undefined ? "" : ` Unknown fields: ${receipt.unknown_fields.join(", ")}.`;
      const text = receipt.status === "recorded" ? "Recorded" : "Was recorded before";
      return {
        structured: { ...receipt },
        text: `${text} at position ${receipt.position}, id ${receipt.id}.${unknown}`,
      };
    },
  };
}
