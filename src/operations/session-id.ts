// How an operation names one session.
import { parseSessionId } from "../model/ids.js";
import type { Parameter } from "../search/parameters.js";

export const sessionId: Parameter<string, string> = {
  description: "The session's id, percent-encoded: `a/b` is written `a%2Fb`. It is not changed.",
  schema: { type: "string" },
  example: "cli:anna",
  refusals: ["session_id_invalid"],
  parse: (value) => parseSessionId(value),
};
