// The door for usage: what it is split by and which calls count, as it comes in from any surface.
import { Rejection, reject } from "../model/rejection.js";
import { type Given, parseFilters } from "../search/filters.js";
import { isGiven } from "../search/parameters.js";
import { type FilterOptions, type QuestionFilter, questionRules, usageDivisions } from "../search/question-rules.js";
import type { PriceFile } from "./price-file.js";

export type UsageDivision = (typeof usageDivisions)[number];

/** Filters as in lists. */
export interface UsageOptions extends FilterOptions<"usage"> {
  /** One or more of day (of UTC), model, project, client and session; day and model by default. */
  readonly by?: readonly UsageDivision[] | string | undefined;
}

export interface UsageQuery {
  readonly by: readonly UsageDivision[];
  readonly filter: QuestionFilter<"usage">;
  readonly given: Given;
  /** In the place of the prices that come with the program. */
  readonly prices?: PriceFile;
}

export function parseUsageQuery(options: UsageOptions, nowMs: number): UsageQuery | Rejection {
  const by = parseBy(options.by);
  if (by instanceof Rejection) return by;
  const asked = parseFilters(questionRules.usage.filters, options, nowMs);
  return asked instanceof Rejection ? asked : { by, ...asked };
}

/** In the order in which they are given, each once. */
function parseBy(by: unknown): readonly UsageDivision[] | Rejection {
  if (!isGiven(by)) return ["day", "model"];
  const names: readonly unknown[] = Array.isArray(by) ? by : typeof by === "string" ? by.split(",") : [by];
  const trimmed = names.map((name) => (typeof name === "string" ? name.trim() : name));
  const unknown = trimmed.find((name) => !(usageDivisions as readonly unknown[]).includes(name));
  if (trimmed.length > 0 && unknown === undefined) return [...new Set(trimmed as readonly UsageDivision[])];
  return reject({
    code: "field_invalid",
    field: "by",
    message: trimmed.length === 0 ? "by is empty" : `by ${JSON.stringify(String(unknown).slice(0, 40))} is not known`,
    hint: `It is one or more of ${usageDivisions.join(", ")}, with commas between them.`,
  });
}
