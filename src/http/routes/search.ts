// Search over HTTP.
import type { FastifyInstance } from "fastify";
import type { Recorder } from "../../recorder.js";
import type { SearchAnswer } from "../contract.js";
import { describeParameters } from "../describe/list-parameters.js";
import { jsonContent, type Operation, refusals, type Schema, schemaNamed } from "../describe/operation.js";
import { readQuery } from "../door/query.js";

export function searchRoutes(app: FastifyInstance, recorder: Recorder): void {
  app.get("/search", { config: { operation: searchOperation } }, (request): Promise<SearchAnswer> => {
    const { q = "", ...filters } = readQuery(request, searchNames);
    return recorder.search(q, filters);
  });
}

const searchNames = [
  ...(["q", "role", "kind", "project", "session_id", "client", "since", "until", "limit", "cursor", "facets"] as const),
] as const;

const LIMIT_DEFAULT = 10;

const searchOperation: Operation = {
  operationId: "search",
  tags: ["Search"],
  summary: "Find entries by what they say, newest first",
  description:
    "Case-insensitive substrings in any language. Filters, typed into `q` or given beside it, must all hold; without " +
    "terms they list. Raw records are searched only with `kind:raw`.",
  parameters: describeParameters(searchNames, LIMIT_DEFAULT),
  responses: {
    200: { description: "A page of hits.", content: jsonContent(schemaNamed("SearchPage")) },
    ...refusals(
      ...(["query_empty", "query_too_long", "kind_unknown", "role_unknown", "time_invalid", "label_invalid"] as const),
      ...(["session_id_invalid", "limit_invalid", "cursor_invalid", "field_invalid"] as const),
      ...(["parameter_unknown", "parameter_repeated", "request_invalid"] as const),
    ),
  },
};

export function searchSchemas(): { readonly [name: string]: Schema } {
  const text = { type: "string" };
  const count = { type: "integer", minimum: 0 };
  const countsOf = (name: string): Schema => listOf(object({ [name]: text, count }));
  return {
    SearchPage: object(
      {
        results: listOf(schemaNamed("SearchHit")),
        next_cursor: { type: ["string", "null"], description: "Leads to the next page; null on the last one." },
        facets: schemaNamed("Facets"),
        partial: { const: true, description: "The index is being rebuilt, and older entries may be missing." },
      },
      ["results", "next_cursor"],
    ),
    SearchHit: {
      allOf: [
        schemaNamed("EntrySummary"),
        object({
          field: { ...text, description: "The field that holds the first term; empty where only filters were given." },
          snippet: { ...text, description: "A piece of that field's text, as it was recorded." },
          matches: {
            ...listOf({ ...listOf(count), minItems: 2, maxItems: 2 }),
            description:
              "Where terms stand in the snippet: start and end in UTF-16 units, in order, never overlapping.",
          },
        }),
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

function listOf(items: Schema): Schema {
  return { type: "array", items };
}

function object(properties: { readonly [name: string]: Schema }, required = Object.keys(properties)): Schema {
  return { type: "object", properties, required };
}
