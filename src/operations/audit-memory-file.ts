// Compares every statement of a memory file with the record.
import { fileAudit } from "../memories/review/memory-answers.js";
import { newAudit, parseFileText } from "../memories/review/memory-input.js";
import { body, operation } from "./operation.js";

export const auditMemoryFile = operation({
  name: "auditMemoryFile",
  tag: "Memories",
  summary: "Check every statement of a memory file against the record",
  description:
    "`quoted` with who said it; `ran` for a command, with how often it worked and failed; `mentioned` with the nearest passages and " +
    "what differs; `against` where the same sentence has another number, or another command ran in its place; or `not_found`. Nothing is recorded.",
  scope: "review",
  route: "POST /memories/audit",
  tools: [],
  command: {
    examples: [["check a memory file against the record", "hansard memories audit ~/.claude/CLAUDE.md"]],
  },
  input: {},
  positional: [],
  body: body({
    schema: newAudit,
    example: { text: "- Answers come in German" },
    is_required: true,
    form: "json_or_empty",
    parse: parseFileText,
  }),
  output: fileAudit,
  answer_is: "A verdict on each.",
  missing: undefined,
  refusals: ["label_invalid"],
  reads_all: true,
  needs: "index_at_head",
  async answer({ review }, { body }) {
    const statements = await (await review()).audit(body);
    const counts: { [verdict: string]: number } = {};
    for (const { verdict } of statements) counts[verdict] = (counts[verdict] ?? 0) + 1;
    return { statements, counts };
  },
});
