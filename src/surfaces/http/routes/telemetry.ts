// OTLP over HTTP: spans and log records of any instrumented program, as JSON or protobuf, answered in kind.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { writeProtobufAnswer, writeProtobufStatus } from "../../../otlp/body/protobuf-body.js";
import type { Signal } from "../../../otlp/body/signals.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { acceptBytes, bodyOf } from "../checks/bodies.js";
import { recordingOf } from "../checks/callers.js";
import { sendError } from "../checks/errors.js";
import { type OpenApiOperation, refusals } from "../describe/openapi-operation.js";

const JSON_TYPE = "application/json";
const PROTOBUF_TYPE = "application/x-protobuf";

interface TelemetryRoute {
  readonly path: string;
  /** Undefined for what is acknowledged and not kept. */
  readonly signal: Signal | undefined;
  readonly takesBasic?: true;
}

const telemetryRouteList: readonly TelemetryRoute[] = [
  { path: "/v1/traces", signal: "traces" },
  { path: "/v1/logs", signal: "logs" },
  { path: "/v1/metrics", signal: undefined },
  // Where Langfuse's SDK sends to; it can only name its keys.
  { path: "/api/public/otel/v1/traces", signal: "traces", takesBasic: true },
];

const METRICS_REASON = "metrics are not kept; set OTEL_METRICS_EXPORTER=none";

export function telemetryRoutes(app: FastifyInstance, recorder: Recorder): void {
  app.removeAllContentTypeParsers();
  acceptBytes(app, [JSON_TYPE, PROTOBUF_TYPE, "application/protobuf"]);
  app.setErrorHandler(sendInKind);
  for (const { path, signal, takesBasic } of telemetryRouteList) {
    const operation = operationOf(path, signal);
    const config = { operation, need: "capture" as const, ...(takesBasic === true ? { takesBasic } : {}) };
    app.post(path, { config }, async (request, reply) => {
      const bytes = bodyOf(request) as Buffer;
      if (signal === undefined) return answer(request, reply, { rejected: 0, reason: METRICS_REASON });
      const form = isProtobuf(request) ? "protobuf" : "json";
      return answer(request, reply, await recordingOf(request, recorder).recordTelemetry({ signal, form, bytes }));
    });
  }
}

function isProtobuf({ headers }: FastifyRequest): boolean {
  return /protobuf/i.test(headers["content-type"] ?? "");
}

/** How many were not kept, and why; a reason alone is a warning. */
interface PartialSuccess {
  readonly rejected: number;
  readonly reason: string;
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { rejected, reason }: PartialSuccess,
): Promise<FastifyReply> {
  if (isProtobuf(request)) {
    return reply.type(PROTOBUF_TYPE).send(Buffer.from(writeProtobufAnswer(rejected, reason)));
  }
  const rejectedName = rejectedNames[request.routeOptions.url ?? ""] ?? "rejectedSpans";
  // 64-bit numbers are text in OTLP's JSON.
  return reply.send(
    reason === "" ? {} : { partialSuccess: { [rejectedName]: String(rejected), errorMessage: reason } },
  );
}

const rejectedNames: { readonly [path: string]: string } = {
  "/v1/logs": "rejectedLogRecords",
  "/v1/metrics": "rejectedDataPoints",
};

/** Codes of google.rpc.Status by HTTP status. */
const statusCodes: { readonly [status: number]: number } = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  408: 4,
  413: 8,
  415: 3,
  429: 8,
  503: 14,
  507: 8,
};
const INTERNAL = 13;

/** Senders of protobuf read only that. */
async function sendInKind(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (!isProtobuf(request)) return sendError(error, request, reply);
  return sendError(error, request, reply.type(PROTOBUF_TYPE), ({ error: { message, hint } }, status) =>
    Buffer.from(
      writeProtobufStatus(statusCodes[status] ?? INTERNAL, hint === undefined ? message : `${message}. ${hint}`),
    ),
  );
}

const attributes = [{ key: "gen_ai.operation.name", value: { stringValue: "chat" } }];
const traceId = "5b8efff798038103d269b633813fc60c";

const examples: { readonly [signal: string]: object } = {
  traces: {
    resourceSpans: [{ scopeSpans: [{ spans: [{ traceId, spanId: "eee19b7ec3c1b174", name: "chat", attributes }] }] }],
  },
  logs: { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: "started" } }] }] }] },
  metrics: { resourceMetrics: [] },
};

const operationIds: { readonly [path: string]: string } = {
  "/v1/traces": "recordTraces",
  "/v1/logs": "recordLogs",
  "/v1/metrics": "acknowledgeMetrics",
  "/api/public/otel/v1/traces": "recordLangfuseTraces",
};

function operationOf(path: string, signal: Signal | undefined): OpenApiOperation {
  const what = signal === "logs" ? "log records" : "spans";
  const schema = { type: "object", description: "As OTLP 1.x defines it; `application/x-protobuf` takes the same." };
  const content = {
    [JSON_TYPE]: { schema, example: examples[signal ?? "metrics"] },
    [PROTOBUF_TYPE]: { schema: { type: "string", format: "binary" } },
  };
  return {
    operationId: operationIds[path] ?? path,
    tags: ["Entries"],
    summary: signal === undefined ? "Acknowledge OTLP metrics, which are not kept" : `Record OTLP ${what}`,
    description:
      signal === undefined
        ? "The answer is a partial success that says so."
        : `Each is on disk as a \`raw\` entry when the answer comes, once however often it is sent. What they mean (interactions, tool calls, errors, feedback) is recorded when the trace is complete, or 5 s after its last span. \`content-encoding: gzip\` is accepted. Items that cannot be kept are counted in \`partialSuccess\`.`,
    requestBody: { required: true, content },
    responses: {
      200: {
        description: "An empty object, or a partial success.",
        content: { [JSON_TYPE]: { schema: { type: "object" } } },
      },
      ...refusals(
        "field_invalid",
        "json_invalid",
        "utf8_invalid",
        "request_invalid",
        "request_too_large",
        "too_many_values",
      ),
      ...refusals("content_type_unsupported", "overloaded", "disk_full"),
    },
  };
}
