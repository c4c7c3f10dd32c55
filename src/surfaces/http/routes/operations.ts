// Routes of operations: each parses its address, carries its operation out and describes itself, as the operation says.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Noun, notFound, RecorderError } from "../../../model/rejection.js";
import { operationList } from "../../../operations/index.js";
import { type AnyOperation, pathParametersOf } from "../../../operations/operation.js";
import type { Options } from "../../../recorder/operable.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { describeRoute } from "../describe/describe-route.js";
import { recordingOf } from "../door/doorkeeper.js";
import { readQuery } from "../door/query.js";

export function operationRoutes(app: FastifyInstance, recorder: Recorder): void {
  for (const operation of operationList) {
    const [method = "", url = ""] = operation.route.split(" ");
    const inQuery = Object.keys(operation.input).filter((name) => !pathParametersOf(operation).includes(name));
    app.route({
      method,
      url,
      ...(operation.is_recorded === true
        ? { config: { operation: describeRoute(operation), is_audited: true }, exposeHeadRoute: false }
        : { config: { operation: describeRoute(operation) } }),
      handler: (request) => answerTo(operation, optionsOf(request, inQuery), recordingOf(request, recorder)),
    });
  }
}

async function answerTo(operation: AnyOperation, options: Options, recorder: Recorder): Promise<unknown> {
  const answer = await recorder.operate(operation, options);
  if (answer !== undefined || operation.missing === undefined) return answer;
  const [name = ""] = pathParametersOf(operation);
  throw new RecorderError(notFound(operation.missing, String(options[name]), moreByNoun[operation.missing]));
}

/** What else is said of something that is not there. */
const moreByNoun: { readonly [N in Noun]?: { readonly field?: string; readonly hint?: string } } = {
  memory: { field: "id" },
  session: { hint: "GET /sessions lists them. Ids are kept exactly, and percent-encoded in addresses." },
};

function optionsOf(request: FastifyRequest, inQuery: readonly string[]): Options {
  return { ...readQuery(request, inQuery), ...(request.params as Options) };
}
