// JSON schemas of what a search answers.
import { optInKinds } from "../../../model/kinds.js";
import { memoryStatuses } from "../../../model/memory.js";
import { type Schema, schemaNamed } from "./operation.js";
import { count, listOf, object, pageEnd, text } from "./shapes.js";

const elsewhereNames = Object.keys(optInKinds);

export function searchSchemas(): { readonly [name: string]: Schema } {
  const countsOf = (name: string): Schema => listOf(object({ [name]: text, count }));
  return {
    SearchPage: object(
      {
        results: listOf(schemaNamed("SearchHit")),
        facets: schemaNamed("Facets"),
        elsewhere: {
          ...object(Object.fromEntries(elsewhereNames.map((name) => [name, count])), elsewhereNames),
          description:
            "On the first page of a search without `kind`: how many matches there are that only `kind:raw`, `kind:memory`, " +
            "`kind:audit` and `kind:session_info` find, by that name. Absent where there are none.",
        },
        elsewhere_at_least: {
          type: "boolean",
          const: true,
          description: "Not everything was looked at, so there may be more matches elsewhere than are counted.",
        },
        ...pageEnd,
      },
      ["facets", "elsewhere", "elsewhere_at_least", "partial"],
    ),
    SearchHit: {
      allOf: [
        schemaNamed("ListedEntry"),
        object(
          {
            field: {
              ...text,
              description:
                "The field that holds the first term; empty where only filters were given, or the entry was altered.",
            },
            snippet: { ...text, description: "A piece of that field's text, as it was recorded." },
            matches: {
              ...listOf({ ...listOf(count), minItems: 2, maxItems: 2 }),
              description:
                "Where terms stand in the snippet: start and end in UTF-16 units, in order, never overlapping.",
            },
            given: { ...count, description: "With `in:context`: how often the text was given in its session." },
            status: {
              type: "string",
              enum: memoryStatuses,
              description: "Of a hit of a memory kind: what the memory's status is now.",
            },
          },
          ["given", "status"],
        ),
      ],
    },
    Facets: object({
      kinds: countsOf("kind"),
      projects: countsOf("project"),
      sessions: countsOf("session_id"),
      counted: { ...count, description: "How many hits were counted: the newest 10,000 at most." },
      complete: { type: "boolean", description: "Whether all hits were counted and every value is named." },
    }),
  };
}
