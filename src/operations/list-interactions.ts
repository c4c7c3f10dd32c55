// The list of interactions.
import type { Interaction } from "../model/entry.js";
import { filtersNamed, type OptionsOf } from "../search/filters.js";
import { type InteractionList, interactionPage } from "../search/lists/entry-pages.js";
import { placeCursor } from "../search/lists/list-query.js";
import { limited, listLimit, switchParameter } from "../search/parameters.js";
import { type AnswerTo, operation } from "./operation.js";

export const listInteractions = operation({
  name: "listInteractions",
  tag: "Interactions",
  summary: "List interactions, newest first",
  description:
    "Rows leave out `response` and `context_pack`, and have `response_chars` instead; with `full=1` they are whole " +
    "interactions, masked. `next_cursor` leads to the next page and is null on the last one.",
  scope: "read",
  route: "GET /interactions",
  tools: [],
  command: { examples: [["which interactions used a memory", "hansard list --memory m-17 --json"]] },
  input: {
    ...filtersNamed(
      "project",
      "session_id",
      "client",
      "user_id",
      "tag",
      "parent_id",
      "model",
      "is",
      "since",
      "until",
      "memory",
      "chunk",
    ),
    full: switchParameter({
      description:
        "`1` lists whole interactions, with `response` and `context_pack`, masked. A page of much text ends early.",
      flag: { name: "full", says: "with --json: whole interactions, with their responses and context packs" },
      is_view: true,
    }),
    limit: limited(listLimit(50)),
    cursor: placeCursor,
  },
  positional: [],
  output: interactionPage,
  missing: undefined,
  refusals: [],
  needs: "index_at_checkpoint",
  answer: ({ entries }, query) => entries.listInteractions(query),
});

type Options = OptionsOf<typeof listInteractions.input>;

/** The library's method: whether rows are whole is known from what was asked. */
export interface ListInteractions {
  (options: Options & { readonly full: true }): Promise<InteractionList<Interaction>>;
  (options?: Options & { readonly full?: false | undefined }): Promise<InteractionList>;
  (options: Options): Promise<AnswerTo<typeof listInteractions>>;
}
