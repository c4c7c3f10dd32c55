// Recall: what a model should be given, within a budget of tokens.
import { recalled } from "../memories/review/memory-answers.js";
import { parseProject } from "../memories/review/memory-query.js";
import { parseLabel } from "../model/ids.js";
import { limits } from "../model/limits.js";
import { type Rejection, reject } from "../model/rejection.js";
import { type Parameter, parseCount } from "../search/parameters.js";
import { operation } from "./operation.js";

/** How many tokens recall gives at most, where nothing else is asked for. */
const TOKENS_DEFAULT = 2_000;

const project: Parameter<string, string> = {
  description: "Memories of this project and global ones; without it, only global ones.",
  schema: { type: "string" },
  example: "atlas",
  flag: { name: "project", value: "name", says: "include the memories of this project, besides global ones" },
  refusals: ["label_invalid"],
  parse: parseProject,
};

const q: Parameter<string, string> = {
  description: "The prompt; memories that match it come first.",
  schema: { type: "string" },
  example: "Which port does the server listen on?",
  refusals: ["field_invalid", "query_too_long"],
  parse: parseAsked,
};

const session_id: Parameter<string, string> = {
  description:
    "The session they are for; what was given is recorded there, except by a GET or without scope `capture`.",
  schema: { type: "string" },
  flag: { name: "session", value: "id", says: "the session they are for; the recall is recorded there" },
  refusals: ["session_id_invalid"],
  parse: (value) => parseLabel("session_id", value),
};

const budget_tokens: Parameter<number | string, number> = {
  description: "Maximum number of tokens; as many whole statements as fit.",
  schema: { type: "number", default: TOKENS_DEFAULT },
  flag: { name: "budget-tokens", value: "n", says: `at most this many tokens (${TOKENS_DEFAULT})` },
  refusals: ["limit_invalid"],
  parse(value, { name }) {
    const budget = parseCount(name, value) ?? TOKENS_DEFAULT;
    // The answer includes the budget, and JSON cannot represent Infinity.
    return typeof budget === "number" ? Math.min(budget, Number.MAX_SAFE_INTEGER) : budget;
  },
};

export const recall = operation({
  name: "recall",
  tag: "Memories",
  summary: "Get memories for a prompt, within a token budget",
  description:
    "Active memories of the project and global ones: identity and preference at most a tenth, project at " +
    "most a quarter, then knowledge and adaptation. Whole statements, never cut. Pass the answer to " +
    "`POST /interactions` unchanged.",
  scope: "read",
  route: "GET /recall",
  tools: [
    {
      name: "recall",
      title: "Recall what matters now",
      description:
        "Returns a project's active memories and global ones, within a budget of tokens. Pass the answer to " +
        "record_interaction unchanged, to record what was given.",
      text: "context_pack.text",
      // More than an answer may hold would be cut, and a statement never is: so many fit.
      at_most: { budget_tokens: TOKENS_DEFAULT },
    },
  ],
  command: {
    operands: [{ name: "[q...]", parameter: "q", description: "the prompt; memories that match it come first" }],
    examples: [
      ["the memories for a prompt", 'hansard recall "which port?" --project atlas'],
      ["at most 500 tokens", "hansard recall --project atlas --budget-tokens 500 --json"],
    ],
  },
  input: { project, q, session_id, budget_tokens },
  positional: [],
  output: recalled,
  missing: undefined,
  refusals: [],
  needs: "index_at_head",
  answer: async ({ review }, query) => (await review()).recall(query),
  note: {
    name: "recallInSession",
    summary: "Get memories for a prompt, and record that the session was given them",
    description:
      "The same as `GET /recall`; with `session_id` it also records in the session what was recalled, which is then not " +
      "learned there again. The key must be allowed to read and to capture (`admin`).",
    append: ({ memories }, query, recalled) => memories.noteRecall(query, recalled),
  },
});

function parseAsked(value: unknown): string | Rejection {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") return reject({ code: "field_invalid", field: "q", message: "q must be a string" });
  if (value.length <= limits.query_chars) return value;
  return reject({ code: "query_too_long", field: "q", message: `q may have ${limits.query_chars} characters` });
}
