// Forgetting: the bodies of an entry, a session or a project are removed for good.
import { forgotten, newForgetting, parseForgetOptions } from "../log/forgetting/forget-requests.js";
import { body, operation } from "./operation.js";

export const forget = operation({
  name: "forget",
  tag: "Store",
  summary: "Remove the bodies of an entry, a session or a project for good",
  description:
    "With all that belongs to them: the response of an interaction, everything that carries the session's or the " +
    "project's name. Positions, times and the chain of hashes stay, and a `redaction` entry names what went, with the " +
    "reason. With `dry_run` nothing is done. What arrives after the redaction stays.",
  scope: "admin",
  route: "POST /forget",
  tool: undefined,
  command: undefined,
  input: {},
  positional: [],
  body: body({
    schema: newForgetting,
    example: { session_id: "cli:anna", reason: "Anna asked us to.", dry_run: true },
    is_required: true,
    form: "json",
    actor: "sender",
    parse: parseForgetOptions,
  }),
  output: forgotten,
  answer_is: "What went.",
  missing: undefined,
  refusals: [
    ...(["kind_reserved", "session_id_invalid", "label_invalid", "entry_not_found", "session_not_found"] as const),
    "project_not_found",
  ],
  needs: "writers",
  answer: (writers, { body }) => writers.forget(body),
});
