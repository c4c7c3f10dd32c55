// Consolidating a session: the older part is left out of its history, and a summary stands in its place.
import { Type } from "typebox";
import { type JsonObject, jsonObjectOf } from "../model/json.js";
import { Rejection, reject } from "../model/rejection.js";
import { count, type GivenIn, named } from "../model/schema.js";
import { sessionId, sessionOperand } from "./ids.js";
import { body, operation } from "./operation.js";

const newConsolidation = named(
  "NewConsolidation",
  Type.Object(
    {
      through: Type.Integer({ minimum: 1, description: "Position of one of the session's entries." }),
      summary: optionalOrNull<string>("string", "What the consolidated part said; history gives it to the model."),
      trigger: optionalOrNull<string>("string", "Why it is consolidated."),
      tokens_before: optionalOrNull<number>("integer", "How many tokens the context had before.", { minimum: 0 }),
    },
    { additionalProperties: false },
  ),
);

/** The position is that of the answer, where the examples are run in order on an empty store. */
const example: GivenIn<typeof newConsolidation> = { through: 5, summary: "The build is green." };

export const consolidateSession = operation({
  name: "consolidateSession",
  tag: "Sessions",
  summary: "Replace the older part of a session's history with a summary",
  description:
    "`through` is the position of one of its entries. It is lowered to the end of a complete turn; the answer " +
    "has the result. If nothing would change, no entry is added. Everything stays in the log; history gives the model the " +
    "summary instead.",
  scope: "capture",
  route: "POST /sessions/:id/consolidate",
  tools: [],
  command: {
    operands: [sessionOperand],
    examples: [
      [
        "replace the history up to a position with a summary",
        'hansard sessions cli:anna --consolidate 120 --summary "Port chosen."',
      ],
    ],
  },
  input: { id: sessionId },
  positional: ["id"],
  body: body({
    schema: newConsolidation,
    example,
    is_required: true,
    form: "json_or_empty",
    parse: parseConsolidation,
  }),
  output: named("Consolidation", Type.Object({ through: count })),
  example: { through: example.through },
  answer_is: "Position through which the session is consolidated; 0 if no turn is complete yet.",
  missing: undefined,
  refusals: ["session_id_invalid", "consolidation_backwards"],
  needs: "recorder",
  answer: (recorder, { id, body: { through, ...options } }) => recorder.session(id).consolidate(through, options),
});

/** The values are checked by the session; an unknown field is refused, because it would be lost. */
function parseConsolidation(given: unknown): (JsonObject & { readonly through: number }) | Rejection {
  const sent = jsonObjectOf(given, "the consolidation");
  if (sent instanceof Rejection) return sent;
  const unknown = Object.keys(sent).find((name) => !(name in newConsolidation.properties));
  if (unknown !== undefined) return fieldUnknown(unknown.slice(0, 100));
  if ((sent.through ?? undefined) !== undefined) return sent as JsonObject & { readonly through: number };
  return reject({
    code: "field_missing",
    field: "through",
    message: "through is missing",
    hint: "Give the position of one of the session's entries.",
  });
}

function fieldUnknown(field: string): Rejection {
  return reject({
    code: "field_invalid",
    field,
    message: `unknown field ${JSON.stringify(field)}`,
    hint: "Fields are through, summary, trigger and tokens_before. POST /entries takes a consolidation with labels.",
  });
}

function optionalOrNull<T>(type: string, description: string, more: object = {}) {
  return Type.Optional(Type.Unsafe<T | null>({ type: [type, "null"], ...more, description }));
}
