// What usage answers: schema and types in one.
import { Type } from "typebox";
import { type AnswerOf, type count, date, each, named, oneOf, text } from "../model/schema.js";
import { tokenNames } from "../model/usage.js";

/** What usage can be split by. */
export const usageDivisions = [
  ...(["day", "week", "month", "model", "project", "client", "session", "user", "turn", "tool"] as const),
] as const;

export type UsageDivision = (typeof usageDivisions)[number];

const descriptions: { readonly [N in (typeof tokenNames)[number]]: string } = {
  input_tokens: "All that models were given, cached parts included.",
  output_tokens: "All that models wrote, thoughts included.",
  cache_read_tokens: "The part of the input that was read from a cache.",
  cache_write_tokens: "The part of the input that was written to a cache.",
  reasoning_tokens: "The part of the output that was thought.",
};

const sums = {
  calls: Type.Integer({ minimum: 0, description: "Calls with reported tokens." }),
  ...(Object.fromEntries(
    tokenNames.map((name) => [name, Type.Integer({ minimum: 0, description: descriptions[name] })]),
  ) as { readonly [N in (typeof tokenNames)[number]]: typeof count }),
  cost: Type.Optional(
    Type.Number({ description: "In US dollars, for calls with known prices; absent if there are none." }),
  ),
  implausible: Type.Optional(
    Type.Literal(true, {
      description: "Some of its calls report more than 100 million tokens each; they are not summed.",
    }),
  ),
};

/** Tokens with the same meaning for every provider; see docs/reference/reports.md. */
export type UsageTotal = AnswerOf<typeof total>;
const total = Type.Object(sums);

/** What it was split by, each under its own name, and the sums. */
export type UsageRow = AnswerOf<typeof row>;
const row = Type.Object({
  day: Type.Optional(date),
  week: Type.Optional(Type.String({ format: "date", description: "Its Monday." })),
  month: Type.Optional(Type.String({ description: "Such as `2026-11`." })),
  ...each(["model", "project", "client", "user"] as const, Type.Optional(text)),
  session: Type.Optional(
    Type.String({ description: "The outermost session: calls of subagents are in their parent's row." }),
  ),
  title: Type.Optional(Type.String({ description: "Of the session, if it is split by sessions." })),
  turn: Type.Optional(
    Type.Integer({ minimum: 0, description: "Its number in the session; 0 before the first prompt." }),
  ),
  prompt: Type.Optional(Type.String({ description: "The first words of the turn." })),
  tool: Type.Optional(Type.String({ description: "The first tool that the answer calls; empty if it calls none." })),
  ...sums,
});

export const usageReport = named(
  "Usage",
  Type.Object({
    by: Type.Array(oneOf(usageDivisions)),
    rows: Type.Array(row),
    total,
    unpriced: Type.Array(text, { description: 'Models without a known price; `""` stands for calls without a model.' }),
    prices: Type.Object({ source: text, version: Type.Optional(text), date }),
    timezone: Type.String({ description: "Time zone of the days." }),
  }),
);

export type UsageReport = AnswerOf<typeof usageReport>;
