// The tools with which an agent is given what was learned, and proposes more of it; only a person accepts.
import { RecorderError } from "../../model/rejection.js";
import { operations } from "../../operations/index.js";
import { TOKENS_DEFAULT } from "../../operations/recall.js";
import type { Recorder } from "../../recorder/recorder.js";
import { answerOutput, entryInput, operationInput } from "./schemas.js";
import { type JsonSchema, recordedAnswer, type Tool } from "./tool.js";

type Proposal = Parameters<Recorder["memories"]["propose"]>[0];

export const memoryTools = {
  propose_memory: {
    title: "Propose a memory",
    description:
      "Proposes one statement worth knowing next time, with evidence: words of recorded entries, exactly as they stand " +
      "there. It waits for a person's verdict, or the answer says which gate dropped it and why.",
    route: "POST /memories",
    scopes: ["capture", "review"],
    input(schemas) {
      const { properties, required } = entryInput(schemas, "NewMemory") as {
        readonly properties: { readonly [name: string]: JsonSchema };
        readonly required: readonly string[];
      };
      const { status: _, source: __, actor: ___, ...given } = properties;
      const evidence = { type: "array", items: schemas.Evidence as JsonSchema, description: "What it rests on." };
      return { type: "object", properties: { ...given, evidence }, required, additionalProperties: false };
    },
    output: () => ({
      type: "object",
      properties: {
        status: { type: "string", enum: ["candidate", "dropped"] },
        id: { type: "string" },
        similar_to: { type: "array", items: { type: "string" } },
        conflicts_with: { type: "array", items: { type: "string" } },
        dropped: { type: "string", description: "The gate that it did not pass." },
        reason: { type: "string" },
      },
      required: ["status"],
    }),
    async call(recorder, args) {
      for (const field of ["status", "source", "actor"]) {
        if (args[field] !== undefined) throw notForAgents(field);
      }
      const answer = await recorder.memories.propose(args as unknown as Proposal);
      if ("dropped" in answer) {
        const { dropped, reason } = answer;
        return { structured: { status: "dropped", dropped, reason }, text: `Dropped by ${dropped}: ${reason}` };
      }
      const { id, similar_to, conflicts_with } = answer;
      const text = `Proposed as ${id}; a person decides.`;
      return { structured: { status: "candidate", id, similar_to, conflicts_with }, text };
    },
  },
  recall: {
    title: "Recall what matters now",
    description:
      "Gives active memories of a project and those that hold everywhere, within a budget of tokens. Hand the answer to " +
      "record_interaction as it is, so that it is known what was given.",
    route: "GET /recall",
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

function notForAgents(field: string): RecorderError {
  const message = `${field} is not for an agent to say`;
  return new RecorderError({ code: "field_invalid", field, message, hint: "Leave it out; a person decides." });
}
