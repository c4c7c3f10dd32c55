// Answers about sessions: schemas and types.
import { Type } from "typebox";
import type { ListedEntry } from "../model/entry.js";
import type { JsonObject } from "../model/json.js";
import { type AnswerOf, count, each, named, pageEnd, text, time } from "../model/schema.js";

const labels = Type.Array(text);

export type SessionSummary = AnswerOf<typeof sessionSummary>;
export const sessionSummary = named(
  "SessionSummary",
  Type.Object({
    session_id: text,
    title: text,
    metadata: Type.Unsafe<JsonObject>({ type: "object" }),
    parent: Type.String({ description: "The session that this one came from." }),
    first_at: time,
    last_at: time,
    projects: labels,
    clients: labels,
    entries: Type.Integer({ minimum: 0, description: "Entries of every kind." }),
    ...each(["messages", "tool_calls", "errors", "decisions", "interactions"] as const, count),
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
