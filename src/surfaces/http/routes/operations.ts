// Routes of operations: each parses its address, carries its operation out and describes itself, as the operation says.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { notFound } from "../../../model/not-found.js";
import { RecorderError } from "../../../model/rejection.js";
import { operationList } from "../../../operations/index.js";
import { type AnyOperation, pathParametersOf } from "../../../operations/operation.js";
import type { Options } from "../../../recorder/operable.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { describeRoute } from "../describe/describe-route.js";
import { readQuery } from "../door/query.js";

export function operationRoutes(app: FastifyInstance, recorder: Recorder): void {
  for (const operation of operationList) {
    const [method = "", url = ""] = operation.route.split(" ");
    const inQuery = Object.keys(operation.input).filter((name) => !pathParametersOf(operation).includes(name));
    app.route({
      method,
      url,
      config: { operation: describeRoute(operation) },
      handler: (request) => answerTo(operation, optionsOf(request, inQuery), recorder),
    });
  }
}

async function answerTo(operation: AnyOperation, options: Options, recorder: Recorder): Promise<unknown> {
  const answer = await recorder.operate(operation, options);
  if (answer !== undefined || operation.missing === undefined) return answer;
  const [name = ""] = pathParametersOf(operation);
  throw new RecorderError(notFound(operation.missing, String(options[name])));
}

function optionsOf(request: FastifyRequest, inQuery: readonly string[]): Options {
  return { ...readQuery(request, inQuery), ...(request.params as Options) };
}
