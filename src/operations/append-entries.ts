// Appending entries of any kind, one or many.

import { Type } from "typebox";
import { type AppendResult, appendResult, receipt } from "../log/capture/capture.js";
import type { CaptureKind, EntryInput } from "../model/entry.js";
import { itemAt } from "../model/item-at.js";
import { mapInSlices } from "../model/scheduling.js";
import { schemaNamed } from "../model/schema.js";
import { exampleReceipt } from "./entry-body.js";
import { body, operation, type Tool } from "./operation.js";

const session_id = "cli:anna";
const newEntry = schemaNamed<EntryInput>("NewEntry");

export const appendEntries = operation({
  name: "appendEntries",
  tag: "Entries",
  summary: "Append entries of any kind",
  description:
    "One entry, a list, or one entry per line as `application/x-ndjson`. All of them are recorded or none; an error " +
    "names the refused one by its `index`, from 0.",
  scope: "capture",
  route: "POST /entries",
  tools: [
    recording("message", "NewMessageEntry", {
      title: "Record a message",
      description: "Records a message of a conversation, as part of the session's history.",
    }),
    recording("tool_call", "NewToolCallEntry", {
      title: "Record a tool call",
      description: "Records a tool that was run, with its arguments and its whole result.",
    }),
    recording("error", "NewErrorEntry", {
      title: "Record an error",
      description: "Records what went wrong, and where.",
    }),
    recording("decision", "NewDecisionEntry", {
      title: "Record a decision",
      description: "Records what was decided, why, and how sure the decision was.",
    }),
    recording("interaction", "NewInteractionEntry", {
      title: "Record a round-trip with a model",
      description: "Records a prompt with its response, the model, and what else the model was given.",
    }),
  ],
  command: undefined,
  input: {},
  positional: [],
  body: body({
    schema: Type.Unsafe<EntryInput | readonly EntryInput[]>({
      oneOf: [newEntry, { type: "array", items: newEntry, minItems: 1 }],
    }),
    example: [
      { kind: "message", session_id, role: "user", content: "Is the build green?" },
      { kind: "tool_call", session_id, tool: "run", args: { command: "npm test" }, result: "412 passed" },
      { kind: "message", session_id, role: "assistant", content: "Yes, all 412 tests pass." },
      { kind: "decision", session_id, decision: "Release today", rationale: "Everything is green" },
    ] satisfies readonly EntryInput[],
    is_required: true,
    form: "json_or_lines",
    // Not checked yet: the recorder parses it.
    parse: (given) => given as EntryInput | readonly EntryInput[],
  }),
  output: appendResult,
  recorded: {
    outcome: ({ status }) => (status === "recorded" ? 201 : 200),
    outcomes: {
      201: {
        description: "Recorded; at least one of them was new.",
        example: { status: "recorded", entries: [exampleReceipt] } satisfies AppendResult,
      },
      200: { description: "All of them were recorded before." },
    },
  },
  toJson: receiptsJson,
  missing: undefined,
  refusals: [
    ...(["entries_missing", "kind_unknown", "kind_reserved", "prompt_blank", "role_unknown"] as const),
    ...(["confidence_out_of_range", "id_invalid", "label_invalid", "session_id_invalid", "time_invalid"] as const),
    ...(["interaction_not_found", "already_completed", "entry_not_found"] as const),
  ],
  needs: "recorder",
  answer: (recorder, { body }) => recorder.append(body),
});

/** A tool with which an agent records entries of one kind. */
function recording(
  kind: CaptureKind,
  schema: string,
  words: { readonly title: string; readonly description: string },
): Tool<AppendResult> {
  return {
    name: `record_${kind}`,
    ...words,
    body: { schema, fixed: { kind }, hint: "Leave kind out; each kind has a tool of its own." },
    answer: {
      schema: receipt,
      document: ({ entries }) => itemAt(entries, 0),
      text({ entries }) {
        const { status, position, id, unknown_fields } = itemAt(entries, 0);
        const unknown = unknown_fields === undefined ? "" : ` Unknown fields: ${unknown_fields.join(", ")}.`;
        return `${status === "recorded" ? "Recorded" : "Was recorded before"} at position ${position}, id ${id}.${unknown}`;
      },
    },
  };
}

/** The receipts of a hundred thousand entries have 12 MB. */
async function receiptsJson({ status, entries }: AppendResult): Promise<Uint8Array> {
  const receipts = await mapInSlices(entries, (one) => JSON.stringify(one));
  return Buffer.from(`{"status":${JSON.stringify(status)},"entries":[${receipts.join(",")}]}`);
}
