// What a tail is asked with.
import { Rejection } from "../../model/rejection.js";
import { filtersNamed, type OptionsOf, parseInput, type QueryOf } from "../../search/filters.js";
import { type Parameter, parsePosition } from "../../search/parameters.js";

const after: Parameter<number | string, number | undefined> = {
  description: "Entries after this position; by default only new ones.",
  schema: { type: "integer", minimum: 0 },
  flag: {
    name: "after",
    value: "position",
    says: "start after this position (only new entries); 0: the whole record",
  },
  refusals: ["field_invalid"],
  parse: (value, { name }) => parsePosition(name, value),
};

// None of these filters is a time, so the clock does not matter.
export const tailFilters = filtersNamed(
  "project",
  "session_id",
  "client",
  "user_id",
  "tag",
  "parent_id",
  "kind",
  "role",
  "tool",
  "model",
  "is",
);

/** What a tail is asked with. Filters are as in lists: an empty one filters nothing, and `"-"` selects entries without that label. */
export const tailInput = { after, ...tailFilters };

export type TailOptions = OptionsOf<typeof tailInput>;

export type TailFilter = QueryOf<typeof tailInput>["filter"];

export interface TailQuery {
  /** Undefined means from now on. */
  readonly after: number | undefined;
  /** Undefined lets everything through. */
  readonly filter: TailFilter | undefined;
}

export function parseTailQuery(options: TailOptions): TailQuery | Rejection {
  const asked = parseInput({ name: "tail", input: tailInput }, options, 0);
  if (asked instanceof Rejection) return asked;
  const { after, filter } = asked;
  return { after, filter: Object.keys(filter).length === 0 ? undefined : filter };
}
