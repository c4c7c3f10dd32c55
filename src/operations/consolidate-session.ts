// Consolidating a session: the older part is left out of its history, and a summary stands in its place.
import { Type } from "typebox";
import { type JsonObject, jsonObjectOf } from "../model/json.js";
import { Rejection, reject } from "../model/rejection.js";
import { count, type GivenIn, named } from "../model/schema.js";
import { body, operation } from "./operation.js";
import { sessionId } from "./session-id.js";

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
  summary: "Leave the older part of a session out of its history",
  description:
    "`through` is the position of one of its entries. It moves down to the end of a complete turn, and the answer " +
    "has where that is. What would move nothing adds no entry. Everything stays in the log, and history gives the model " +
    "the summary in its place.",
  scope: "capture",
  route: "POST /sessions/:id/consolidate",
  tool: undefined,
  command: undefined,
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
  answer_is: "Through where the session is consolidated now; 0 where no turn is complete yet.",
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
    message: `there is no field ${JSON.stringify(field)} here`,
    hint: "Fields are through, summary, trigger and tokens_before. POST /entries takes a consolidation with labels.",
  });
}

function optionalOrNull<T>(type: string, description: string, more: object = {}) {
  return Type.Optional(Type.Unsafe<T | null>({ type: [type, "null"], ...more, description }));
}
