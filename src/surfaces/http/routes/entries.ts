// Entries of every kind over HTTP: append one or many, list, get.
import type { FastifyInstance } from "fastify";
import type { EntryInput } from "../../../model/entry.js";
import { RecorderError } from "../../../model/rejection.js";
import { mapInSlices } from "../../../model/scheduling.js";
import type { Recorder } from "../../../recorder/recorder.js";
import type { EntriesRecorded, EntryPage } from "../contract.js";
import { entryIdParameter, entryNotFound } from "../describe/entry-address.js";
import { exampleEntries, exampleReceipt } from "../describe/examples.js";
import {
  addressRefusals,
  bodyRefusals,
  jsonContent,
  type Operation,
  refusals,
  schemaNamed,
} from "../describe/operation.js";
import { describeQuestion } from "../describe/question.js";
import { acceptJsonLines, bodyOf } from "../door/bodies.js";
import { recordingOf } from "../door/doorkeeper.js";
import { readQuery, refuseQuery } from "../door/query.js";
import { sendJson } from "../send-json.js";

export function entryRoutes(app: FastifyInstance, recorder: Recorder): void {
  acceptJsonLines(app);

  app.post("/entries", { config: { operation: appendOperation } }, async (request, reply) => {
    refuseQuery(request);
    // The recorder parses what it is given; until then a body is only claimed to be entries.
    const result = await recordingOf(request, recorder).append(bodyOf(request) as EntryInput | readonly EntryInput[]);
    reply.code(result.status === "recorded" ? 201 : 200);
    return sendJson(reply, await receiptsJson(result));
  });

  app.get("/entries", { config: { operation: listOperation } }, (request): Promise<EntryPage> => {
    return recorder.listEntries(readQuery(request, listQuestion.names));
  });

  app.get<{ Params: { readonly id: string } }>(
    "/entries/:id",
    { config: { operation: getOperation } },
    async (request, reply) => {
      const { masked } = readQuery(request, ["masked"]);
      const { id } = request.params;
      const entry = await recorder.getEntryJson(id, { is_masked: isOn(masked) });
      if (entry === undefined) throw entryNotFound(id);
      return sendJson(reply, entry.json);
    },
  );
}

/** In turns: the receipts of a hundred thousand entries have 12 MB. */
async function receiptsJson({ status, entries }: EntriesRecorded): Promise<Buffer> {
  const receipts = await mapInSlices(entries, (receipt) => JSON.stringify(receipt));
  return Buffer.from(`{"status":${JSON.stringify(status)},"entries":[${receipts.join(",")}]}`);
}

function isOn(masked: string | undefined): boolean {
  if (masked === "1" || masked === "true") return true;
  if (masked === undefined || masked === "" || masked === "0" || masked === "false") return false;
  throw new RecorderError({ code: "field_invalid", field: "masked", message: "masked must be 1 or 0" });
}

const tags = ["Entries"];

const appendOperation: Operation = {
  operationId: "appendEntries",
  tags,
  summary: "Append entries of any kind",
  description:
    "One entry, a list, or one entry per line as `application/x-ndjson`. All of them are recorded or none; an error " +
    "names the refused one by its `index`, from 0.",
  requestBody: {
    required: true,
    content: {
      ...jsonContent(
        { oneOf: [schemaNamed("NewEntry"), { type: "array", items: schemaNamed("NewEntry"), minItems: 1 }] },
        exampleEntries,
      ),
      "application/x-ndjson": { schema: { type: "string", description: "One entry per line." } },
    },
  },
  responses: {
    201: {
      description: "Recorded; at least one of them was new.",
      content: jsonContent(schemaNamed("EntriesRecorded"), { status: "recorded", entries: [exampleReceipt] }),
    },
    200: { description: "All of them were recorded before.", content: jsonContent(schemaNamed("EntriesRecorded")) },
    ...refusals(
      ...(["entries_missing", "kind_unknown", "kind_reserved", "prompt_blank", "role_unknown"] as const),
      ...(["confidence_out_of_range", "id_invalid", "label_invalid", "session_id_invalid", "time_invalid"] as const),
      ...(["interaction_not_found", "already_completed", "entry_not_found"] as const),
      ...bodyRefusals,
    ),
  },
};

const listQuestion = describeQuestion("entries");

const listOperation: Operation = {
  operationId: "listEntries",
  tags,
  summary: "List entries of all kinds, newest first",
  description: "Rows of interactions and responses leave out the long texts, and have `response_chars` instead.",
  parameters: listQuestion.parameters,
  responses: {
    200: { description: "A page of entries.", content: jsonContent(schemaNamed("EntryPage")) },
    ...refusals(...listQuestion.refusals),
  },
};

const getOperation: Operation = {
  operationId: "getEntry",
  tags,
  summary: "Get one entry, whole",
  parameters: [
    entryIdParameter,
    {
      name: "masked",
      in: "query",
      description: "`1` masks secrets, as lists do.",
      schema: { type: "boolean", default: false },
    },
  ],
  responses: {
    200: {
      description: "The entry; of an erased one, what is left.",
      content: jsonContent({ oneOf: [schemaNamed("Entry"), schemaNamed("ErasedEntry")] }),
    },
    ...refusals("entry_not_found", "field_invalid", ...addressRefusals),
  },
};
