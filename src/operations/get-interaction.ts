// One interaction, whole.
import type { ErasedInteraction, Interaction } from "../model/entry.js";
import { referenceTo, schemaOf } from "../model/schema.js";
import type { EntryRef } from "../search/lists/entry-reader.js";
import type { Parameter } from "../search/parameters.js";
import { entryRef } from "./ids.js";
import { operation } from "./operation.js";

const id: Parameter<string, EntryRef> = {
  description: "The interaction's id.",
  schema: { type: "string" },
  example: "turn-1",
  refusals: [],
  parse: entryRef.parse,
};

export const getInteraction = operation({
  name: "getInteraction",
  tag: "Interactions",
  summary: "Get one interaction, whole",
  description: "With its response once it exists. For an erased interaction: what is left.",
  scope: "read",
  route: "GET /interactions/:id",
  tools: [],
  command: undefined,
  input: { id },
  positional: ["id"],
  output: schemaOf<Interaction | ErasedInteraction>({
    oneOf: [referenceTo("InteractionEntry"), referenceTo("ErasedEntry")],
  }),
  missing: "interaction",
  refusals: [],
  needs: "log",
  async answer({ entries }, query) {
    const entry = await entries.get(query.id);
    return entry?.kind === "interaction" ? (entry as Interaction | ErasedInteraction) : undefined;
  },
});
