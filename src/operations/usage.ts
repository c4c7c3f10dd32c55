// Usage: tokens and cost of calls to models, each call counted once.
import { type Rejection, reject } from "../model/rejection.js";
import { parseClock, WallClock } from "../model/time.js";
import { filtersNamed } from "../search/filters.js";
import { isGiven, type Parameter } from "../search/parameters.js";
import { type UsageDivision, usageDivisions, usageReport } from "../usage/usage-report.js";
import { operation } from "./operation.js";

const by: Parameter<readonly UsageDivision[] | string, readonly UsageDivision[]> = {
  description: `What to split it by, one or more with commas between them: ${usageDivisions.join(", ")}.`,
  schema: { type: "string", default: "day,model" },
  example: "day,model",
  flag: {
    name: "by",
    value: "names",
    says: `split by ${usageDivisions.join(", ")}; one or more, with commas (day,model)`,
  },
  refusals: ["field_invalid"],
  parse: parseDivisions,
};

const timezone: Parameter<string, string> = {
  description: "Time zone of the days, weeks and months: an IANA name.",
  schema: { type: "string", default: "UTC" },
  example: "Europe/Berlin",
  flag: { name: "timezone", value: "zone", says: "time zone of the days (this machine's)" },
  refusals: ["field_invalid"],
  parse: (value) => {
    const clock = isGiven(value) ? parseClock(value as string) : "UTC";
    return clock instanceof WallClock ? clock.zone : clock;
  },
};

export const usage = operation({
  name: "usage",
  tag: "Usage",
  summary: "Sum tokens and cost of model calls",
  description:
    "From interactions, their responses and assistants' messages (`extra.usage`). Each call counts once, even if a " +
    "transcript, its copies and the provider's bodies report it: `extra.message_id` and `extra.request_id` identify " +
    "it. Tokens mean the same for every provider: `input_tokens` is all input, cached parts included, `output_tokens` all " +
    "output, and the others are parts of these. A subagent's calls are in its parent's row of `by=session`. " +
    "Weeks are named by their Monday; `by=turn` also splits by session.",
  scope: "read",
  route: "GET /usage",
  tools: [],
  command: {
    prose: "Input includes what came from a cache. Costs are in US dollars.",
    examples: [
      ["a week, by day and model", "hansard usage --since 7d"],
      ["which project costs most", "hansard usage --by project"],
      ["the most expensive sessions of a project", "hansard usage --by session --project web"],
      ["the turns of a session", "hansard usage --by turn --session cli:anna"],
      ["the total cost", "hansard usage --json | jq .total.cost"],
    ],
  },
  input: { by, timezone, ...filtersNamed("project", "session_id", "client", "user_id", "model", "since", "until") },
  positional: [],
  output: usageReport,
  missing: undefined,
  refusals: [],
  uses_prices: true,
  // Sums without the older calls would be wrong, and the error would go unnoticed.
  needs: "index_at_head",
  answer: ({ usage }, query) => usage.read(query),
});

/** In the order in which they are given, each once. */
function parseDivisions(by: unknown): readonly UsageDivision[] | Rejection {
  if (!isGiven(by)) return ["day", "model"];
  const names: readonly unknown[] = Array.isArray(by) ? by : typeof by === "string" ? by.split(",") : [by];
  const trimmed = names.map((name) => (typeof name === "string" ? name.trim() : name));
  const unknown = trimmed.find((name) => !(usageDivisions as readonly unknown[]).includes(name));
  if (trimmed.length > 0 && unknown === undefined) return [...new Set(trimmed as readonly UsageDivision[])];
  return reject({
    code: "field_invalid",
    field: "by",
    message: trimmed.length === 0 ? "by is empty" : `unknown by ${JSON.stringify(String(unknown).slice(0, 40))}`,
    hint: `It is one or more of ${usageDivisions.join(", ")}, with commas between them.`,
  });
}
