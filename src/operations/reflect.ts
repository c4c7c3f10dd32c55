// Reflection: a report on the newest entries of conversations.
import { Type } from "typebox";
import { count, each, named, oneOf, pageEnd, text, time } from "../model/schema.js";
import { reflectionQuery } from "../reflect/read/reflection-query.js";
import { limited } from "../search/parameters.js";
import { entryFilters } from "./list-entries.js";
import { operation } from "./operation.js";
import { PARTIAL_NOTE } from "./session-history.js";

const number = Type.Number();
const counted = (description: string) => Type.Integer({ minimum: 0, description });
const entry_ids = Type.Array(text, { description: "The entries that are its evidence, at most 100." });
const measures = ["errors", "low_confidence", "failed_tool_calls"] as const;
const placed = { id: text, position: Type.Integer({ minimum: 1 }), session_id: text, created_at: time };

const reflection = named(
  "Reflection",
  Type.Object({
    reviewed: counted("Number of reviewed entries."),
    users: counted("What users said: their messages, and interactions."),
    responses: counted("Messages of assistants, and interactions with a response."),
    errors: counted("Entries of kind `error`, and interactions that failed."),
    passed_over: counted("Entries of other kinds among them."),
    low_confidence: Type.Object({
      count,
      items: Type.Array(Type.Object({ ...placed, confidence: number, text, entry_ids })),
    }),
    confidence: Type.Object({
      rated: counted("Messages of assistants that have one."),
      tenths: Type.Array(count, { description: "Counts per tenth: below 0.1, below 0.2, and so on." }),
    }),
    error_groups: Type.Array(Type.Object({ fingerprint: text, text, count, first_at: time, last_at: time, entry_ids })),
    topics: Type.Array(Type.Object({ word: text, count, entry_ids })),
    tools: Type.Array(
      Type.Object({
        tool: text,
        ...each(["calls", "failures"] as const, count),
        failure_rate: number,
        ...each(["median_ms", "p95_ms"] as const, Type.Optional(number)),
        ...each(["is_failing", "is_slow"] as const, Type.Boolean()),
        entry_ids,
      }),
    ),
    commands: Type.Array(
      Type.Object({
        command: Type.String({ description: "Program and subcommand: `npm run build`, `git push`, `ls`." }),
        ...each(["calls", "failures"] as const, count),
        error: Type.String({ description: "The line that ended its errors most often." }),
        entry_ids,
      }),
      { description: "Shell commands that failed, most failures first; at most 100." },
    ),
    disliked: Type.Object({
      count,
      items: Type.Array(Type.Object({ ...placed, text, comment: text, label: text, score: number, entry_ids })),
    }),
    decisions: Type.Array(Type.Object({ ...placed, decision: text, errors: count, entry_ids })),
    trend: Type.Object({
      before: Type.Object(each(["reviewed", "users", "responses", ...measures] as const, count)),
      changes: Type.Array(
        Type.Object({
          measure: oneOf(measures),
          ...each(["now", "before"] as const, count),
          direction: oneOf(["up", "down", "same"]),
          entry_ids,
        }),
      ),
      timeline: Type.Array(
        Type.Object({
          ...each(["from", "to"] as const, time),
          ...each(["entries", "errors"] as const, count),
          confidence: Type.Optional(number),
        }),
      ),
    }),
    insights: Type.Array(Type.Object({ text, entry_ids })),
    markdown: Type.String({ description: "The report as text." }),
    partial: pageEnd.partial,
  }),
);

export const reflect = operation({
  name: "reflect",
  tag: "Reflection",
  summary: "Report on the newest entries of conversations",
  description:
    "Interactions, messages, tool calls, errors and decisions: low confidence, errors by what they have in common, " +
    "topics of users, failing and slow tools, failing commands, decisions followed by errors, and a comparison with as many " +
    "earlier entries. Every finding cites its entries. With `Accept: text/markdown` the answer is the report's Markdown.",
  scope: "read",
  route: "GET /reflection",
  tools: [
    {
      name: "self_reflect",
      title: "Reflect on recent work",
      description:
        "Reports on the newest entries: answers of low confidence, errors by what they have in common, recurring topics, " +
        "failing tools and commands, slow tools, disliked answers, decisions followed by errors, the trend, and insights.",
      text: "markdown",
    },
  ],
  command: {
    prose:
      "Without --since, --until and --limit it looks at the last 7 days. On a terminal the report includes plots; piped, it is " +
      "plain Markdown.",
    examples: [
      ["the last 7 days", "hansard reflect"],
      ["the last thirty entries", "hansard reflect --limit 30"],
      ["a week of one project", "hansard reflect --project web --since 30d --limit 100000"],
      ["as Markdown, for example for an agent", "hansard reflect --session cli:anna | cat"],
      ["which errors recur", "hansard reflect --limit 1000 --json | jq .error_groups"],
    ],
  },
  input: {
    ...entryFilters,
    limit: limited({ default: 30, max: 100_000, says: "how many of the newest entries" }),
  },
  positional: [],
  output: reflection,
  markdown: "markdown",
  missing: undefined,
  refusals: [],
  needs: "several",
  async answer({ index, mask }, query) {
    const report = await index.read(async ({ reflections }) => {
      // Loaded when it is first needed: with its lists of words it takes longer than a command may take to start.
      const { Reflection } = await import("../reflect/reflection.js");
      const reflection = new Reflection({ mask: (text) => mask.text(text) });
      await reflections.read(reflectionQuery(query), reflection);
      return reflection.finish();
    });
    return report.partial ? { ...report, markdown: `${report.markdown}\n\n${PARTIAL_NOTE}` } : report;
  },
});
