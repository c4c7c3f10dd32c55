// Forgetting: the bodies of an entry, a session or a project are erased.
import { forgotten, newForgetting, parseForgetOptions } from "../log/forgetting/forget-requests.js";
import { body, operation } from "./operation.js";

export const forget = operation({
  name: "forget",
  tag: "Store",
  summary: "Erase the bodies of an entry, a session or a project",
  description:
    "With everything that belongs to them: the response of an interaction, all entries with the session's or the " +
    "project's name. Positions, times and the hash chain stay, and a `redaction` entry names what was erased and why. " +
    "`dry_run` changes nothing. Entries recorded after the redaction stay.",
  scope: "admin",
  route: "POST /forget",
  tools: [],
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
  answer_is: "What was erased.",
  missing: undefined,
  refusals: [
    ...(["kind_reserved", "session_id_invalid", "label_invalid", "entry_not_found", "session_not_found"] as const),
    "project_not_found",
  ],
  reads_all: true,
  erases: true,
  needs: "store",
  answer: (store, { body }) => store.forget(body),
});
