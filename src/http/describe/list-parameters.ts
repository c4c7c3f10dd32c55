// The query parameters of lists: their names, which are checked, and what the documentation says about them.

import { readKinds } from "../../model/kinds.js";
import { limits } from "../../model/limits.js";
import type { Parameter, Schema } from "./operation.js";

const text: Schema = { type: "string" };
const labelled = "An empty value filters nothing; `-` selects entries without one.";

const parametersByName = {
  project: { description: `Entries of this project. ${labelled}`, schema: text },
  session_id: { description: `Entries of this session. ${labelled}`, schema: text },
  client: { description: `Entries of this client. ${labelled}`, schema: text },
  kind: { description: `Entries of this kind: ${readKinds.join(", ")}.`, schema: text },
  role: { description: "Messages of this role: user, assistant, system or tool.", schema: text },
  since: {
    description:
      "Inclusive, by `created_at`: `2026-11-15`, `2026-11-15T06:39:37Z`, or relative: `30m`, `12h`, `7d`, `2w`.",
    schema: text,
    example: "7d",
  },
  until: { description: "Inclusive, as `since`; a bare date means its end.", schema: text },
  q: {
    description:
      'Terms that must all occur, `"a phrase"`, `-word` and `-"a phrase"` to exclude, and filters: `role:user`, ' +
      "`kind:error`, `project:`, `session_id:`, `client:`, `since:7d`, `until:`. All else is plain text.",
    schema: text,
    example: "build green",
  },
  facets: {
    description: "`1` counts all hits by kind, project and session.",
    schema: { type: "string", enum: ["0", "1", "false", "true"] },
  },
  after: {
    description: "Entries after this position; only those that are still to come when it is left out.",
    schema: { type: "integer", minimum: 0 },
  },
  masked: {
    description: "`1` masks secrets, as lists do.",
    schema: { type: "string", enum: ["0", "1", "false", "true"] },
  },
  memory: { description: "Interactions that used this memory.", schema: text },
  chunk: { description: "Interactions that used this chunk.", schema: text },
  limit: {
    description: `At most ${limits.list_max}; a larger one is treated as that, and zero or less gives an empty list.`,
    schema: { type: "number" },
  },
  cursor: { description: "`next_cursor` of the page before, with the same filters.", schema: text },
} satisfies { readonly [name: string]: Omit<Parameter, "name" | "in"> };

export type ListParameter = keyof typeof parametersByName;

export function describeParameters(names: readonly ListParameter[], limitDefault = 50): readonly Parameter[] {
  return names.map((name) => {
    const parameter: Parameter = { name, in: "query", ...parametersByName[name] };
    return name === "limit" ? { ...parameter, schema: { ...parameter.schema, default: limitDefault } } : parameter;
  });
}
