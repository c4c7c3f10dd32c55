// Routes of operations: each parses its request, carries its operation out and describes itself, as the operation says.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isJsonObject } from "../../../model/json.js";
import { type Noun, notFound, RecorderError } from "../../../model/rejection.js";
import { operationList } from "../../../operations/index.js";
import { type AnyOperation, type Body, pathParametersOf } from "../../../operations/operation.js";
import type { Options } from "../../../recorder/operable.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { describeRoute } from "../describe/describe-route.js";
import { acceptEmptyBodies, acceptJsonLines, bodyOf, optionalBodyOf } from "../door/bodies.js";
import { callerOf, recordingOf, requireScope } from "../door/doorkeeper.js";
import { readQuery } from "../door/query.js";
import { sendJson } from "../send-json.js";

export function operationRoutes(app: FastifyInstance, recorder: Recorder): void {
  const addRoutes = (scope: FastifyInstance, form: Body["form"]): void => {
    acceptMore[form](scope);
    const operations = operationList.filter(({ body }) => (body?.form ?? "json") === form);
    for (const operation of operations) addRoute(scope, operation, recorder);
  };
  addRoutes(app, "json");
  // In scopes of their own: what a route takes beside JSON holds for all routes of its scope.
  for (const form of ["json_or_empty", "json_or_lines"] as const) {
    app.register((scope, _, done) => {
      addRoutes(scope, form);
      done();
    });
  }
}

/** What routes take beside one JSON document. */
const acceptMore: { readonly [F in Body["form"]]: (app: FastifyInstance) => void } = {
  json: () => undefined,
  json_or_empty: acceptEmptyBodies,
  json_or_lines: acceptJsonLines,
};

function addRoute(app: FastifyInstance, operation: AnyOperation, recorder: Recorder): void {
  const [method = "", url = ""] = operation.route.split(" ");
  const inQuery = Object.keys(operation.input).filter((name) => !pathParametersOf(operation).includes(name));
  app.route({
    method,
    url,
    ...(operation.note === undefined
      ? { config: { operation: describeRoute(operation) } }
      : { config: { operation: describeRoute(operation), is_audited: true }, exposeHeadRoute: false }),
    async handler(request, reply) {
      const asked = { ...readQuery(request, inQuery), ...(request.params as Options) };
      const options = operation.body === undefined ? asked : { ...asked, body: sentWith(request, reply, operation) };
      const answer = await recordingOf(request, recorder).operate(operation, options);
      if (answer === undefined && operation.missing !== undefined) throw notThere(operation, options);
      return send(reply, operation, answer as never);
    },
  });
}

/** The body as it was sent, and whose doing it is. */
function sentWith(request: FastifyRequest, reply: FastifyReply, { body, scopes }: AnyOperation): unknown {
  const sent = body?.is_required === false ? optionalBodyOf(request) : bodyOf(request);
  const needed = scopes?.(sent);
  if (needed !== undefined) requireScope(request, reply, needed);
  if (body?.actor === undefined) return sent;
  const given = sent === undefined ? {} : sent;
  if (!isJsonObject(given)) return given;
  if (body.actor === "sender" && Object.hasOwn(given, "actor")) throw actorGiven();
  return { ...given, actor: given.actor ?? callerOf(request).actor };
}

function actorGiven(): RecorderError {
  return new RecorderError({ code: "field_invalid", field: "actor", message: "actor is not known here" });
}

async function send(reply: FastifyReply, { recorded, toJson }: AnyOperation, answer: never): Promise<unknown> {
  if (recorded !== undefined) reply.code(recorded.is_new(answer) ? 201 : 200);
  return toJson === undefined ? answer : sendJson(reply, await toJson(answer));
}

function notThere(operation: AnyOperation, options: Options): RecorderError {
  const { missing = "entry" } = operation;
  const [name = ""] = pathParametersOf(operation);
  return new RecorderError(notFound(missing, String(options[name]), moreByNoun[missing]));
}

/** What else is said of something that is not there. */
const moreByNoun: { readonly [N in Noun]?: { readonly field?: string; readonly hint?: string } } = {
  memory: { field: "id" },
  session: { hint: "GET /sessions lists them. Ids are kept exactly, and percent-encoded in addresses." },
};
