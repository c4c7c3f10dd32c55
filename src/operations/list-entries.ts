// The list of entries of all kinds.
import { filtersNamed } from "../search/filters.js";
import { entryPage } from "../search/lists/entry-pages.js";
import { placeCursor } from "../search/lists/list-query.js";
import { limited, listLimit } from "../search/parameters.js";
import { operation } from "./operation.js";

/** What entries of all kinds can be chosen by. */
export const entryFilters = filtersNamed(
  ...([
    "project",
    "session_id",
    "client",
    "user_id",
    "tag",
    "parent_id",
    "kind",
    "role",
    "tool",
    "file",
    "model",
    "is",
    "since",
    "until",
  ] as const),
);

export const listEntries = operation({
  name: "listEntries",
  tag: "Entries",
  summary: "List entries of all kinds, newest first",
  description: "Rows of interactions and responses leave out the long texts, and have `response_chars` instead.",
  scope: "read",
  route: "GET /entries",
  tools: [],
  command: {
    examples: [
      ["the newest entries of all kinds", "hansard list"],
      ["today's errors of one project", "hansard list --kind error --project web --since 24h"],
    ],
  },
  input: { ...entryFilters, limit: limited(listLimit(50)), cursor: placeCursor },
  positional: [],
  output: entryPage,
  missing: undefined,
  refusals: [],
  needs: "index_at_checkpoint",
  answer: ({ entries }, query) => entries.listEntries(query),
});
