// Proposes the statements of a memory file.
import { memoryImport } from "../memories/review/memory-answers.js";
import { newAudit, parseFileText } from "../memories/review/memory-input.js";
import { body, operation } from "./operation.js";

export const importMemoryFile = operation({
  name: "importMemoryFile",
  tag: "Memories",
  summary: "Propose the statements of a memory file",
  description:
    "Each with its source in the record; a person decides. Statements without a source, and known ones, are " +
    "dropped, and say why.",
  scope: "review",
  route: "POST /memories/import",
  tools: [],
  command: undefined,
  input: {},
  positional: [],
  body: body({
    schema: newAudit,
    example: { text: "- Answers come in German" },
    is_required: true,
    form: "json_or_empty",
    parse: parseFileText,
  }),
  output: memoryImport,
  answer_is: "The result for each.",
  missing: undefined,
  refusals: ["label_invalid"],
  reads_all: true,
  needs: "store",
  answer: async ({ memories }, { body }) => ({ statements: await memories.proposeFile(body) }),
});
