// Session history: search as text for an agent.
import { Type } from "typebox";
import { limited, listLimit, type Parameter } from "../search/parameters.js";
import { parsePhraseQuery, type TypedQuery, toSearchQuery, withTypedFilters } from "../search/search-query.js";
import { entryFilters } from "./list-entries.js";
import { operation } from "./operation.js";

/** What an answer in words says where others say `partial`. */
export const PARTIAL_NOTE = "The index is being rebuilt; older entries may be missing.";

const query: Parameter<string, TypedQuery> = {
  description: "Searched as one phrase.",
  schema: { type: "string" },
  refusals: ["query_empty", "query_too_long", "field_invalid"],
  parse: (value, { name }) => parsePhraseQuery(value, name),
};

export const sessionHistory = operation({
  name: "sessionHistory",
  tag: "Search",
  summary: "Find a phrase, as text for an agent",
  description:
    "The query is one phrase, whatever it contains; a line for each entry, newest first. Without `kind` only the " +
    "conversation is searched, which excludes memories that nobody accepted.",
  scope: "read",
  route: "GET /session-history",
  tools: [
    {
      name: "session_history",
      title: "Find a phrase in the record",
      description:
        "Finds a phrase in the recorded conversation, newest first, one line per entry: what users and assistants said, tools " +
        "returned, failed and was decided. For exact terms, exclusions and filters use search.",
      text: "text",
      in_parts: true,
      aliases: { q: "query" },
    },
  ],
  command: {
    operands: [{ name: "[query...]", parameter: "query", description: "with --text: one phrase" }],
    examples: [["output of the tool session_history", "hansard search deploy --text --role user"]],
  },
  input: { query, ...entryFilters, limit: limited(listLimit(10)) },
  refine: (given) => withTypedFilters(given, given.query, "query"),
  positional: ["query"],
  output: Type.Object({ text: Type.String({ description: "The lines." }) }),
  missing: undefined,
  refusals: [],
  scans_texts: true,
  needs: "several",
  async answer({ index }, { query, ...given }) {
    const found = await index.read(
      async ({ searches }) => ({
        text: await searches.sessionHistory({ query: toSearchQuery(given, query), phrase: query.text }),
      }),
      { texts: true },
    );
    return { text: found.partial ? `${found.text}\n(${PARTIAL_NOTE})` : found.text };
  },
});
