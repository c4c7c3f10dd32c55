// The table of tools. No row can promote a memory: only a person does that.

import type { CaptureKind, EntryInput } from "../../model/entry.js";
import { itemAt } from "../../model/item-at.js";
import { RecorderError } from "../../model/rejection.js";
import { operations } from "../../operations/index.js";
import { TOKENS_DEFAULT } from "../../operations/recall.js";
import type { Recorder } from "../../recorder/recorder.js";
import { operationTools } from "./operation-tools.js";
import { answerOutput, entryInput, operationInput } from "./schemas.js";
import type { Tool } from "./tool.js";
import { type JsonSchema, recordedAnswer } from "./tool.js";

/** With these an agent records what happens. */
const recordingTools = {
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
    scopes: ["capture"],
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

type Proposal = Parameters<Recorder["memories"]["propose"]>[0];

/** With these an agent is given what was learned, and proposes more of it; only a person accepts. */
const memoryTools = {
  propose_memory: {
    title: "Propose a memory",
    description:
      "Proposes one statement worth knowing next time, with evidence: words of recorded entries, exactly as they stand " +
      "there. It waits for a person's verdict, or the answer says which gate dropped it and why. With a key that may not read, " +
      "it only says that it was taken.",
    route: "POST /memories",
    scopes: ["capture", "review"],
    input(schemas) {
      const { properties, required } = entryInput(schemas, "NewMemory") as {
        readonly properties: { readonly [name: string]: JsonSchema };
        readonly required: readonly string[];
      };
      const { status: _, source: __, actor: ___, ...given } = properties;
      const evidence = { type: "array", items: schemas.Evidence as JsonSchema, description: "Its evidence." };
      return { type: "object", properties: { ...given, evidence }, required, additionalProperties: false };
    },
    output: () => ({
      type: "object",
      properties: {
        status: { type: "string", enum: ["candidate", "dropped", "taken"] },
        id: { type: "string" },
        similar_to: { type: "array", items: { type: "string" } },
        conflicts_with: { type: "array", items: { type: "string" } },
        dropped: { type: "string", description: "The gate that dropped it." },
        reason: { type: "string" },
      },
      required: ["status"],
    }),
    async call(recorder, args, { actor, key_id }) {
      for (const field of ["status", "source", "actor"]) {
        if (args[field] !== undefined) throw notForAgents(field);
      }
      const answer = await recorder.memories.propose({
        ...args,
        // Without a key here, the store behind the recorder decides who it was.
        ...(key_id === "" ? {} : { actor }),
      } as unknown as Proposal);
      if ("dropped" in answer) {
        const { dropped, reason } = answer;
        return { structured: { status: "dropped", dropped, reason }, text: `Dropped by ${dropped}: ${reason}` };
      }
      if (!("id" in answer)) return { structured: { ...answer }, text: "Taken; a person decides." };
      const { id, similar_to, conflicts_with } = answer;
      const text = `Proposed as ${id}; a person decides.`;
      return { structured: { status: "candidate", id, similar_to, conflicts_with }, text };
    },
  },
  recall: {
    title: "Recall what matters now",
    description:
      "Returns a project's active memories and global ones, within a budget of tokens. Pass the answer to " +
      "record_interaction unchanged, to record what was given.",
    route: "GET /recall",
    scopes: ["read"],
    input: () => operationInput(operations.recall),
    output: (schemas) => answerOutput(schemas, "Recalled"),
    async call(recorder, options) {
      const recalled = await recorder.memories.recall({
        ...options,
        // More than an answer may hold would be cut, and a statement never is: so many fit, and are given anyway.
        budget_tokens: Math.min(Number(options.budget_tokens ?? TOKENS_DEFAULT), TOKENS_DEFAULT),
      } as Parameters<Recorder["memories"]["recall"]>[0]);
      return recordedAnswer({ ...recalled }, recalled.context_pack.text);
    },
  },
} satisfies { readonly [name: string]: Tool };

export const tools: { readonly [name: string]: Tool } = {
  ...operationTools(),
  ...recordingTools,
  ...memoryTools,
};

function notForAgents(field: string): RecorderError {
  const message = `an agent cannot set ${field}`;
  return new RecorderError({ code: "field_invalid", field, message, hint: "Leave it out; a person decides." });
}
