// What usage answers: schema and types in one.
import { Type } from "typebox";
import { type AnswerOf, count, date, each, named, oneOf, text } from "../model/schema.js";
import { tokenNames } from "../model/usage.js";

/** What usage can be split by. */
export const usageDivisions = ["day", "model", "project", "client", "session"] as const;

export type UsageDivision = (typeof usageDivisions)[number];

const sums = {
  calls: Type.Integer({ minimum: 0, description: "Calls with reported tokens." }),
  ...each(tokenNames, count),
  cost: Type.Optional(
    Type.Number({ description: "In US dollars, for calls with known prices; absent if there are none." }),
  ),
};

/** Tokens as their providers count them; see docs/reference/reports.md. */
export type UsageTotal = AnswerOf<typeof total>;
const total = Type.Object(sums);

/** What it was split by, each under its own name, and the sums. */
export type UsageRow = AnswerOf<typeof row>;
const row = Type.Object({
  ...each(["model", "project", "client", "session"] as const, Type.Optional(text)),
  day: Type.Optional(date),
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
    timezone: Type.Literal("UTC", { description: "Time zone of the days." }),
  }),
);

export type UsageReport = AnswerOf<typeof usageReport>;
