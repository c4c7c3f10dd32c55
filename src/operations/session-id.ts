// How an operation names one session.
import { parseSessionId } from "../model/ids.js";
import type { Parameter } from "../search/parameters.js";

export const sessionId: Parameter<string, string> = {
  description: "The session's exact id.",
  schema: { type: "string" },
  example: "cli:anna",
  refusals: ["session_id_invalid"],
  parse: (value) => parseSessionId(value),
};

/** The same on the command line. */
export const sessionOperand = {
  name: "[id]",
  parameter: "id",
  description: "show this session with its timeline",
  hint: "`hansard sessions` lists the ids.",
} as const;
