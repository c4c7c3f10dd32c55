// Appending entries of any kind, one or many.

import { Type } from "typebox";
import { type AppendResult, appendResult } from "../log/capture/capture.js";
import type { EntryInput } from "../model/entry.js";
import { mapInSlices } from "../model/scheduling.js";
import { schemaNamed } from "../model/schema.js";
import { exampleReceipt } from "./entry-body.js";
import { body, operation } from "./operation.js";

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
  tool: undefined,
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

/** The receipts of a hundred thousand entries have 12 MB. */
async function receiptsJson({ status, entries }: AppendResult): Promise<Uint8Array> {
  const receipts = await mapInSlices(entries, (one) => JSON.stringify(one));
  return Buffer.from(`{"status":${JSON.stringify(status)},"entries":[${receipts.join(",")}]}`);
}
