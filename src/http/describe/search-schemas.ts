// JSON schemas of what a search answers.
import { type Schema, schemaNamed } from "./operation.js";
import { count, listOf, object, pageEnd, text } from "./shapes.js";

export function searchSchemas(): { readonly [name: string]: Schema } {
  const countsOf = (name: string): Schema => listOf(object({ [name]: text, count }));
  return {
    SearchPage: object({ results: listOf(schemaNamed("SearchHit")), facets: schemaNamed("Facets"), ...pageEnd }, [
      "facets",
      "partial",
    ]),
    SearchHit: {
      allOf: [
        schemaNamed("ListedEntry"),
        object(
          {
            field: {
              ...text,
              description: "The field that holds the first term; empty where only filters were given, or the entry was altered.",
            },
            snippet: { ...text, description: "A piece of that field's text, as it was recorded." },
            matches: {
              ...listOf({ ...listOf(count), minItems: 2, maxItems: 2 }),
              description:
                "Where terms stand in the snippet: start and end in UTF-16 units, in order, never overlapping.",
            },
            given: { ...count, description: "With `in:context`: how often the text was given in its session." },
          },
          ["given"],
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
