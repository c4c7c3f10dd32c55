// Entries of every kind over HTTP: list, get.
import type { FastifyInstance } from "fastify";
import { RecorderError } from "../../../model/rejection.js";
import type { Recorder } from "../../../recorder/recorder.js";
import type { EntryPage } from "../contract.js";
import { entryIdParameter, entryNotFound } from "../describe/entry-address.js";
import { addressRefusals, jsonContent, type Operation, refusals, schemaNamed } from "../describe/operation.js";
import { describeQuestion } from "../describe/question.js";
import { readQuery } from "../door/query.js";
import { sendJson } from "../send-json.js";

export function entryRoutes(app: FastifyInstance, recorder: Recorder): void {
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

function isOn(masked: string | undefined): boolean {
  if (masked === "1" || masked === "true") return true;
  if (masked === undefined || masked === "" || masked === "0" || masked === "false") return false;
  throw new RecorderError({ code: "field_invalid", field: "masked", message: "masked must be 1 or 0" });
}

const tags = ["Entries"];

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
