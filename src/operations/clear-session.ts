// Clearing a session: a marker starts a new history.
import { type Captured, receipt } from "../log/capture/capture.js";
import { jsonObjectOf } from "../model/json.js";
import { RecorderError } from "../model/rejection.js";
import { schemaNamed } from "../model/schema.js";
import { receiptOutcome } from "./entry-body.js";
import { sessionId, sessionOperand } from "./ids.js";
import { body, operation } from "./operation.js";

export const clearSession = operation({
  name: "clearSession",
  tag: "Sessions",
  summary: "Start a new history in a session",
  description: "Adds a marker; everything before it stays in the log. The body may be left out.",
  scope: "capture",
  route: "POST /sessions/:id/clear",
  tools: [],
  command: { operands: [sessionOperand] },
  input: { id: sessionId },
  positional: ["id"],
  body: body({
    schema: schemaNamed<object>("NewClear"),
    is_required: false,
    form: "json_or_empty",
    parse: (given) => (given === undefined ? {} : jsonObjectOf(given, "the body")),
  }),
  output: receipt,
  recorded: {
    outcome: receiptOutcome,
    outcomes: {
      201: {
        description: "Recorded.",
        example: {
          status: "recorded",
          id: "019a85d2-7c1e-7000-8000-000000000008",
          position: 8,
          created_at: "2026-11-15T06:42:00.000Z",
        } satisfies Captured,
      },
      200: { description: "The marker with this id was recorded before." },
    },
  },
  missing: undefined,
  refusals: ["session_id_invalid", "id_invalid", "label_invalid", "time_invalid"],
  needs: "recorder",
  async answer(recorder, { id, body: { kind, session_id, ...envelope } }) {
    if ((kind ?? "clear") !== "clear") {
      throw new RecorderError({ code: "field_invalid", field: "kind", message: "kind must be clear here" });
    }
    if ((session_id ?? id) !== id) {
      throw new RecorderError({
        code: "session_id_invalid",
        field: "session_id",
        message: "session_id does not match the URL",
        hint: "Leave it out of the body.",
      });
    }
    return recorder.session(id).clear(envelope);
  },
});
