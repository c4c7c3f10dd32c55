// How much there is, by kind and project.
import { Type } from "typebox";
import { memoryCalls } from "../memories/memory-calls.js";
import { Fault } from "../model/fault.js";
import { type AnswerOf, count as number, pageEnd, text } from "../model/schema.js";
import { operation } from "./operation.js";

const timeOrNull = Type.Unsafe<string | null>({ type: ["string", "null"], format: "date-time" });

export type EntryCounts = AnswerOf<typeof entryCounts>;
const entryCounts = Type.Object({
  entries: number,
  sessions: number,
  by_kind: Type.Unsafe<{ readonly [kind: string]: number }>({ type: "object", additionalProperties: number }),
  projects: Type.Array(Type.Object({ project: text, entries: number })),
  pending: Type.Optional(Type.Integer({ minimum: 0, description: "How many memories wait for review." })),
  first_at: timeOrNull,
  last_at: timeOrNull,
  partial: pageEnd.partial,
});

export const count = operation({
  name: "count",
  tag: "Store",
  summary: "Count entries by kind and project",
  description: "With the times of the first and the last entry; null if there are none.",
  scope: "read",
  route: "GET /stats",
  tools: [],
  command: { examples: [["how many interactions there are", "hansard stats --json | jq .by_kind.interaction"]] },
  input: {},
  positional: [],
  output: entryCounts,
  missing: undefined,
  refusals: [],
  needs: "several",
  async answer(parts) {
    const counts = await parts.index.read(({ entries }) => entries.count());
    // Counts of entries are worth having while memories cannot be read.
    const pending = await memoryCalls.pendingMemories(parts).catch((error: unknown) => {
      if (error instanceof Fault) return undefined;
      throw error;
    });
    return pending === undefined ? counts : { ...counts, pending };
  },
});
