// Routes of operations: each parses its request, runs its operation and describes itself, all derived from the
// operation.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { isJsonObject } from "../../../model/json.js";
import { type Noun, RecorderError } from "../../../model/rejection.js";
import { operationList } from "../../../operations/index.js";
import {
  type AnyOperation,
  type Body,
  missingFrom,
  type Options,
  pathParametersOf,
} from "../../../operations/operation.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { acceptEmptyBodies, acceptJsonLines, bodyOf, optionalBodyOf } from "../checks/bodies.js";
import { callerOf, recordingOf, requireScope } from "../checks/callers.js";
import { readQuery } from "../checks/query.js";
import { describeNoted, describeRoute, MARKDOWN } from "../describe/describe-route.js";

export function operationRoutes(app: FastifyInstance, recorder: Recorder): void {
  const addRoutes = (scope: FastifyInstance, form: Body["form"]): void => {
    acceptMore[form](scope);
    const operations = operationList.filter(({ body }) => (body?.form ?? "json") === form);
    for (const operation of operations) {
      addRoute(scope, operation, recorder);
      addNotedRoute(scope, operation, recorder);
    }
  };
  addRoutes(app, "json");
  // In separate scopes, because the body types that a route accepts hold for all routes of its scope.
  for (const form of ["json_or_empty", "json_or_lines"] as const) {
    app.register((scope, _, done) => {
      addRoutes(scope, form);
      done();
    });
  }
}

/** Body types that routes accept in addition to JSON. */
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
    config: {
      operation: describeRoute(operation),
      need: operation.scope,
      ...(method === "GET" && operation.reads_all === true ? { gate: "walks" } : {}),
    },
    async handler(request, reply) {
      const asked = { ...readQuery(request, inQuery), ...(request.params as Options) };
      const options = operation.body === undefined ? asked : { ...asked, body: sentWith(request, reply, operation) };
      const { missing, markdown } = operation;
      const store = recordingOf(request, recorder);
      const isMarkdown = markdown !== undefined && wantsMarkdown(request, reply);
      // JSON is written where the answer is read: building a large one here again would hold up other requests.
      const answer = await store.operate(operation, options, { form: isMarkdown ? "value" : "json", is_unnoted: true });
      if (answer === undefined && missing !== undefined) throw missingFrom(operation, options, moreByNoun[missing]);
      if (answer instanceof Uint8Array) return sendJson(reply, answer);
      if (isMarkdown) {
        return reply.type(`${MARKDOWN}; charset=utf-8`).send((answer as Options)[markdown as string]);
      }
      return send(reply, operation, answer as never);
    },
  });
}

/** The only scope that may both read and capture. */
const NOTED_NEED = "admin";

/** The same operation with its parameters in a body: the call is recorded. */
function addNotedRoute(app: FastifyInstance, operation: AnyOperation, recorder: Recorder): void {
  const described = describeNoted(operation);
  if (described === undefined) return;
  app.route({
    method: "POST",
    url: operation.route.slice(operation.route.indexOf("/")),
    config: { operation: described, need: NOTED_NEED, gate: "reads", is_audited: true },
    async handler(request, reply) {
      const options = optionalBodyOf(request) ?? {};
      if (!isJsonObject(options)) throw notAnObject();
      return send(reply, operation, (await recordingOf(request, recorder).operate(operation, options)) as never);
    },
  });
}

function notAnObject(): RecorderError {
  return new RecorderError({ code: "field_invalid", field: "body", message: "the body must be a JSON object" });
}

/** The body as it was sent, with the actor. */
function sentWith(request: FastifyRequest, reply: FastifyReply, { body, scopes }: AnyOperation): unknown {
  const sent = body?.is_required === false ? optionalBodyOf(request) : bodyOf(request);
  const needed = scopes?.(sent);
  if (needed !== undefined) requireScope(request, reply, needed);
  if (body?.actor === undefined) return sent;
  const given = body.is_required ? sent : (sent ?? {});
  if (!isJsonObject(given)) return given;
  if (body.actor === "sender" && Object.hasOwn(given, "actor")) throw actorGiven();
  return { ...given, actor: given.actor ?? callerOf(request).actor };
}

function actorGiven(): RecorderError {
  return new RecorderError({ code: "field_invalid", field: "actor", message: "unknown field actor" });
}

/** Clients that accept neither get JSON, as from every other route. */
function wantsMarkdown(request: FastifyRequest, reply: FastifyReply): boolean {
  reply.header("vary", "Accept");
  return new Negotiator(request.raw).mediaType(["application/json", MARKDOWN]) === MARKDOWN;
}

async function send(reply: FastifyReply, { recorded, toJson }: AnyOperation, answer: never): Promise<unknown> {
  if (recorded !== undefined) reply.code(recorded.outcome(answer));
  return toJson === undefined ? answer : sendJson(reply, await toJson(answer));
}

/** An additional hint if something does not exist. */
const moreByNoun: { readonly [N in Noun]?: { readonly field?: string; readonly hint?: string } } = {
  interaction: { hint: "GET /entries/{id} has entries of every kind." },
  memory: { field: "id" },
  session: { hint: "GET /sessions lists them. Ids are kept exactly, and percent-encoded in paths." },
};

/** JSON that is already serialised. */
function sendJson(reply: FastifyReply, { buffer, byteOffset, byteLength }: Uint8Array): FastifyReply {
  return reply.type("application/json; charset=utf-8").send(Buffer.from(buffer, byteOffset, byteLength));
}
