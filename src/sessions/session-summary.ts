// Answers about sessions: schemas and types.
import { Type } from "typebox";
import type { ListedEntry } from "../model/entry.js";
import type { JsonObject } from "../model/json.js";
import { type AnswerOf, count, each, named, oneOf, pageEnd, text, time } from "../model/schema.js";
import { tokenNames } from "../model/usage.js";

const labels = Type.Array(text);

/** How the last turn of a session ended. */
const sessionOutcomes = ["running", "failed", "stopped", "done"] as const;
export type SessionOutcome = (typeof sessionOutcomes)[number];

const cost = (description: string) => Type.Optional(Type.Number({ description }));

export type SessionSummary = AnswerOf<typeof sessionSummary>;
export const sessionSummary = named(
  "SessionSummary",
  Type.Object({
    session_id: text,
    title: Type.String({ description: "As it was given, else the first words of the first prompt." }),
    title_source: oneOf(["given", "first_prompt", "none"] as const),
    metadata: Type.Unsafe<JsonObject>({ type: "object" }),
    parent: Type.String({ description: "The session that this one came from." }),
    children: Type.Integer({ minimum: 0, description: "Sessions that name this one as their parent." }),
    first_at: time,
    last_at: time,
    projects: labels,
    project: Type.String({ description: "The first project recorded, or that of its outermost parent." }),
    clients: labels,
    users: labels,
    tags: labels,
    entries: Type.Integer({ minimum: 0, description: "Entries of every kind." }),
    ...each(["messages", "tool_calls", "errors", "decisions", "interactions"] as const, count),
    failures: Type.Integer({ minimum: 0, description: "Errors, failed tool calls and failed interactions." }),
    turns: Type.Integer({ minimum: 0, description: "Prompts, each with what followed." }),
    files: Type.Integer({ minimum: 0, description: "Distinct files that tool calls read or changed, up to 2,000." }),
    usage: Type.Object({
      calls: Type.Integer({ minimum: 0, description: "Model calls with reported tokens." }),
      ...each(tokenNames, count),
    }),
    cost: cost("In US dollars, of calls with known prices; absent if there are none."),
    cost_total: cost("The same with all sessions below this one."),
    active_ms: Type.Integer({ minimum: 0, description: "Time between entries, without pauses over 10 minutes." }),
    outcome: oneOf(sessionOutcomes, {
      description:
        "`running`: an entry within the last 5 minutes and no answer yet; `failed`: the last turn ended with a failure; " +
        "`stopped`: interrupted, or without an answer; else `done`.",
    }),
    last_answer: Type.String({ description: "The first 200 characters of the last answer." }),
    consolidated_through: Type.Integer({ minimum: 0, description: "0 without a consolidation." }),
  }),
);

export type SessionList = AnswerOf<typeof sessionPage>;
export const sessionPage = named("SessionPage", Type.Object({ sessions: Type.Array(sessionSummary), ...pageEnd }));

/** Rows by kind: the schema of each is made from the table of kinds. */
const listedEntry = Type.Unsafe<ListedEntry>({ $ref: "#/components/schemas/ListedEntry" });

export interface Timeline extends Omit<AnswerOf<typeof sessionEntryPage>, "entries"> {
  readonly entries: readonly ListedEntry[];
}
export const sessionEntryPage = named("EntryPage", Type.Object({ entries: Type.Array(listedEntry), ...pageEnd }));
