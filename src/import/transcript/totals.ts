// Tokens of a whole session, where a source has only the sum so far: each time it has grown, the difference counts.
import { isJsonObject, type JsonObject } from "../../model/json.js";
import { type TokenName, tokenNames, type Usage } from "../../model/usage.js";
import type { ImportStep } from "../importer.js";
import type { Origin, TranscriptSession } from "./transcript.js";

/** No session has so many sums. */
const SUMS_MAX = 10_000;

export interface SessionTotal {
  readonly usage: Usage;
  readonly model?: string | undefined;
  readonly cost?: number | undefined;
}

/** What of a total is neither in the answers nor in totals recorded before. */
export function totalStep(
  session: TranscriptSession,
  origin: Origin,
  { usage, model, cost }: SessionTotal,
  inAnswers: Usage = {},
): ImportStep {
  const entryOf = (nth: number, extra?: JsonObject) =>
    session.raw(
      { ...origin, native: `total:${session.id}:${nth}`, extra },
      { type: "total", usage: usage as JsonObject },
    ).entry;
  return {
    line: origin.line,
    deferred: async (find, read) => {
      const known: { [N in TokenName]?: number } = { ...inAnswers };
      for (let nth = 0; nth < SUMS_MAX; nth += 1) {
        const position = await find(entryOf(nth).id);
        if (position === undefined) {
          const rest = beyond(usage, known);
          const more = {
            ...(model === undefined ? {} : { model }),
            ...(cost === undefined ? {} : { cost_so_far: cost }),
          };
          return rest === undefined ? [] : [entryOf(nth, { usage: rest as JsonObject, spent_on: "answers", ...more })];
        }
        const { extra } = (await read(position)) ?? {};
        const before = isJsonObject(extra) && isJsonObject(extra.usage) ? extra.usage : {};
        for (const name of tokenNames) {
          const count = before[name];
          if (typeof count === "number") known[name] = (known[name] ?? 0) + count;
        }
      }
      return [];
    },
  };
}

/** What of a total is not accounted for; undefined where nothing is left. */
export function beyond(total: Usage, accounted: Usage = {}): Usage | undefined {
  const left = tokenNames.flatMap((name): readonly [string, number][] => {
    const more = (total[name] ?? 0) - (accounted[name] ?? 0);
    return more > 0 ? [[name, more]] : [];
  });
  return left.length === 0 ? undefined : (Object.fromEntries(left) as Usage);
}
