// What the outline of a session answers: schema and types in one. Turns are lists of values, because there may be thousands.
import { Type } from "typebox";
import { outlineBins } from "../index/outline-marks.js";
import { type AnswerOf, count, counts, named, oneOf, text, time } from "../model/schema.js";

/** The values of a turn, in this order. */
export const turnColumns = [
  ...(["position", "ms", "prompt", "tool_calls", "failures", "tokens", "cost", "active_ms"] as const),
] as const;

type TurnRow = readonly [
  position: number,
  ms: number,
  prompt: string,
  tool_calls: number,
  failures: number,
  tokens: number,
  cost: number | null,
  active_ms: number,
];

const turnRow = Type.Unsafe<TurnRow>({
  type: "array",
  minItems: turnColumns.length,
  maxItems: turnColumns.length,
  items: { type: ["integer", "number", "string", "null"] },
});

export type SessionOutline = AnswerOf<typeof sessionOutline>;
export const sessionOutline = named(
  "SessionOutline",
  Type.Object({
    session_id: text,
    first_at: time,
    last_at: time,
    turns: Type.Object(
      { columns: Type.Array(oneOf(turnColumns)), rows: Type.Array(turnRow) },
      {
        description:
          "Turns in order; the first is turn 1. `ms` is the time since `first_at`, `prompt` its first words, `tokens` input " +
          "and output of the session itself, `cost` in US dollars or null where no price is known.",
      },
    ),
    breaks: Type.Array(
      Type.Object({
        kind: oneOf(["consolidation", "clear"] as const),
        position: count,
        at: time,
        tokens_before: Type.Optional(Type.Number()),
      }),
      { description: "Where the model's context was compacted or cleared; at most 1,000." },
    ),
    children: Type.Array(
      Type.Object({
        session_id: text,
        title: text,
        first_at: time,
        first_position: count,
        entries: count,
        failures: count,
        active_ms: count,
        cost_total: Type.Optional(Type.Number()),
      }),
      { description: "Sessions below this one, in order of their first entry; at most 500." },
    ),
    children_count: count,
    files: Type.Array(Type.Object({ path: text, reads: count, writes: count, last_position: count }), {
      description: "Files that tool calls changed or read, those changed most first; at most 500.",
    }),
    files_count: count,
    by_kind: counts,
    bins: Type.Object(
      {
        first_position: count,
        positions: Type.Integer({ minimum: 1, description: "How many positions a bin has." }),
        columns: Type.Array(oneOf(outlineBins)),
        rows: Type.Array(Type.Array(count)),
      },
      { description: "Up to 200 ranges of positions, with how many entries of each sort lie in them." },
    ),
  }),
);
