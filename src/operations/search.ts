// Search: entries by what they say.
import { Type } from "typebox";
import { optInKinds } from "../model/kinds.js";
import { limits } from "../model/limits.js";
import { memoryStatuses } from "../model/memory.js";
import { count, named, oneOf, pageEnd, referenceTo, schemaOf, text } from "../model/schema.js";
import { filters, filtersNamed, typedFilterNames } from "../search/filters.js";
import { placeCursor } from "../search/lists/list-query.js";
import { limited, listLimit, type Parameter, switchParameter } from "../search/parameters.js";
import { parseTypedQuery, type TypedQuery, toSearchQuery, withTypedFilters } from "../search/search-query.js";
import type { SearchPage } from "../search/searcher.js";
import { entryFilters } from "./list-entries.js";
import { operation } from "./operation.js";

const q: Parameter<string, TypedQuery> = {
  description:
    'Terms that must all occur, `"a phrase"`, `-word` and `-"a phrase"` to exclude, and filters as in `kind:error` and ' +
    `\`since:7d\`: ${typedFilterNames.map((name) => `\`${name}:\``).join(", ")} (\`user:\` for short). Everything else is plain text.`,
  schema: { type: "string" },
  example: "build green",
  refusals: [
    ...(["query_empty", "query_too_long", "field_invalid"] as const),
    ...typedFilterNames.flatMap((name) => filters[name].refusals),
  ],
  is_optional: true,
  parse: (value, { name }) => parseTypedQuery(value, name),
  bound: ({ text }) => text.trim(),
};

const countsOf = (name: string) => Type.Array(Type.Object({ [name]: text, count }));

const searchHit = {
  title: "SearchHit",
  allOf: [
    referenceTo("ListedEntry"),
    Type.Object({
      field: Type.String({
        description: "The field with the first term; empty if only filters were given, or the entry was altered.",
      }),
      snippet: Type.String({ description: "Excerpt of that field's text, as recorded." }),
      matches: Type.Array(Type.Array(count, { minItems: 2, maxItems: 2 }), {
        description: "Matches in the snippet: start and end in UTF-16 units, in order, never overlapping.",
      }),
      session_title: Type.Optional(
        Type.String({ description: "What its session is called: its title, or the first words of its first prompt." }),
      ),
      given: Type.Optional(
        Type.Integer({ minimum: 0, description: "With `in:context`: how often the text was given in its session." }),
      ),
      status: Type.Optional(oneOf(memoryStatuses, { description: "For memory kinds: the memory's current status." })),
    }),
  ],
};

const facets = named(
  "Facets",
  Type.Object({
    kinds: countsOf("kind"),
    projects: countsOf("project"),
    sessions: countsOf("session_id"),
    counted: Type.Integer({
      minimum: 0,
      description: `Number of counted hits: at most the newest ${limits.facet_hits.toLocaleString("en-US")}.`,
    }),
    complete: Type.Boolean({ description: "Whether all hits were counted and every value is named." }),
  }),
);

const elsewhere = Type.Object(Object.fromEntries(Object.keys(optInKinds).map((name) => [name, Type.Optional(count)])), {
  description:
    "On the first page of a search without `kind`: how many matches only `kind:raw`, `kind:memory`, " +
    "`kind:audit` and `kind:session_info` find, by that name. Absent where there are none.",
});

export const search = operation({
  name: "search",
  tag: "Search",
  summary: "Find entries by their text, newest first",
  description:
    "Case-insensitive substrings in any language. All filters must match, whether typed into `q` or passed as " +
    "parameters; without terms, all matching entries are listed. Without `kind`, only the conversation is searched: " +
    "interactions, responses, messages, tool calls, errors, decisions, summaries of consolidations, feedback. `elsewhere` " +
    "counts matches of other kinds.",
  scope: "read",
  route: "GET /search",
  tools: [
    {
      name: "search",
      title: "Search the record",
      description:
        "Finds entries of the conversation that contain all terms, newest first. Raw records, memories, audits and notes about " +
        "sessions are found with kind; elsewhere counts the matches there. Long fields are shortened; get_entry " +
        "gives them whole.",
      list: "results",
      aliases: { query: "q" },
    },
  ],
  command: {
    operands: [
      {
        name: "[query...]",
        parameter: "q",
        description: 'terms, "a phrase", -without, and filters such as role:user kind:error since:7d',
      },
    ],
    examples: [
      ["entries with both words", "hansard search timeout postgres"],
      ["a phrase, in errors of the last week", "hansard search '\"connection reset\" kind:error since:7d'"],
      ["entries without a word", "hansard search 'timeout -retry'"],
      ["memories, with their status", "hansard search 'port kind:memory'"],
    ],
  },
  input: {
    q,
    facets: switchParameter({
      description: "`1` counts all hits by kind, project and session.",
      flag: { name: "facets", says: "count all hits by kind, project and session" },
      is_view: true,
    }),
    ...entryFilters,
    ...filtersNamed("in"),
    limit: limited(listLimit(10)),
    cursor: placeCursor,
  },
  refine: (query) => withTypedFilters(query, query.q, "q"),
  positional: ["q"],
  output: schemaOf<SearchPage>(
    named(
      "SearchPage",
      Type.Object({
        results: Type.Array(searchHit),
        facets: Type.Optional(facets),
        elsewhere: Type.Optional(elsewhere),
        elsewhere_at_least: Type.Optional(
          Type.Literal(true, {
            description: "Not everything was searched; there may be more matches elsewhere.",
          }),
        ),
        notice: Type.Optional(
          Type.String({ description: "A word whose name is one letter away from a filter's was searched as text." }),
        ),
        ...pageEnd,
      }),
    ),
  ),
  missing: undefined,
  refusals: [],
  scans_texts: true,
  needs: "texts_at_checkpoint",
  answer: async ({ searches }, query) => {
    const { notice } = query.q;
    const page = await searches.search(toSearchQuery(query, query.q));
    return notice === undefined ? page : { ...page, notice };
  },
});
