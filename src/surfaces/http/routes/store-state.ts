// Routes about the store that are not operations: the doctor's checks, and the server's health.
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { count, named, oneOf, text } from "../../../model/schema.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { routeNotFound } from "../checks/errors.js";
import { refuseQuery } from "../checks/query.js";
import type { DoctorAnswer, HealthAnswer, ReadyAnswer } from "../contract.js";
import { type Described, describeRoute } from "../describe/describe-route.js";
import { jsonContent, type OpenApiOperation, schemaNamed } from "../describe/openapi-operation.js";

export function custodyRoutes(
  app: FastifyInstance,
  options: {
    readonly recorder: Recorder;
    readonly version: string;
    readonly inspect: (() => Promise<DoctorAnswer>) | undefined;
  },
) {
  const { recorder, version, inspect } = options;

  app.get(
    "/doctor",
    { config: { operation: describeRoute(doctor), need: "admin", gate: "walks" } },
    (request): Promise<DoctorAnswer> => {
      refuseQuery(request);
      if (inspect === undefined) throw routeNotFound();
      return inspect();
    },
  );

  app.get(
    "/health",
    { config: { operation: describedHealth, need: "open" } },
    async (request, reply): Promise<HealthAnswer> => {
      refuseQuery(request);
      const { status, trouble, ...health } = await recorder.health();
      if (trouble !== undefined) reply.code(503).header("retry-after", "1");
      return { status, version, ...health, ...(trouble === undefined ? {} : { trouble }) };
    },
  );

  app.get(
    "/ready",
    { config: { operation: describedReady, need: "open" } },
    async (request, reply): Promise<ReadyAnswer> => {
      refuseQuery(request);
      const { trouble } = await recorder.health();
      if (trouble === undefined) return { ready: true };
      reply.code(503).header("retry-after", "1");
      return { ready: false, trouble };
    },
  );
}

const ofStore = { tag: "Store", input: {}, missing: undefined, refusals: ["store_failed"] } as const;

const doctor: Described = {
  ...ofStore,
  name: "doctor",
  route: "GET /doctor",
  summary: "Check the store",
  description:
    "The checks of `hansard doctor`: the folder, the disk, the files, the index compared with the log, the chain, and entries that " +
    "clients numbered but never delivered. Each check says what to do. `ok` is false if any check fails.",
  output: Type.Object({
    ok: Type.Boolean(),
    findings: Type.Array(
      Type.Object({
        level: oneOf(["ok", "warn", "fail"]),
        check: text,
        message: text,
        hint: Type.Optional(text),
      }),
    ),
  }),
};

const health: Described = {
  ...ofStore,
  refusals: [],
  name: "health",
  route: "GET /health",
  summary: "Check the server's health",
  description:
    "`degraded` means that capture works while lists may lack older entries, because the index is being rebuilt or " +
    "cannot be used, that the log was truncated or replaced (`warnings` has `cut_off`), or that an altered body was read " +
    "(`problems` has `entry_altered` and its position). Where the log itself cannot be " +
    "read or written the status is 503, and `trouble` says why.",
  output: named(
    "Health",
    Type.Object({
      status: oneOf(["ok", "degraded"]),
      version: text,
      position: Type.Integer({ minimum: 0, description: "Position of the newest entry." }),
      indexed_through: Type.Integer({ minimum: 0, description: "Position through which entries are indexed." }),
      texts_indexed_through: Type.Integer({
        minimum: 0,
        description: "Position through which texts are indexed; searches scan the rest.",
      }),
      pending: Type.Optional(Type.Integer({ minimum: 0, description: "Number of candidates to review." })),
      memories_waiting: Type.Optional(Type.Integer({ minimum: 0, description: "The same as `pending`." })),
      warnings: Type.Optional(
        Type.Array(Type.Literal("cut_off"), {
          description: "`cut_off`: the log was truncated or replaced.",
        }),
      ),
      problems: Type.Array(Type.Object({ code: text, position: Type.Optional(count), message: text, hint: text }), {
        description:
          "Why it is `degraded`. `entry_altered`: a body does not match its hash; `cut_off`: the log was truncated or " +
          "replaced; `index_behind`: the index is incomplete; others say why the log cannot be used, as `trouble`.",
      }),
      trouble: Type.Optional(
        Type.String({
          description: "Why the log cannot be used; absent if it can. The positions are the last known ones.",
        }),
      ),
    }),
  ),
};

const ready: Described = {
  ...ofStore,
  refusals: [],
  name: "ready",
  route: "GET /ready",
  summary: "Check whether the server can serve",
  description: "200, or 503 with `trouble` while the log cannot be read or written.",
  output: named(
    "Ready",
    Type.Object({
      ready: Type.Boolean(),
      trouble: Type.Optional(Type.String({ description: "Why it cannot serve." })),
    }),
  ),
};

/** Routes described like operations, but not run by the reading side. */
export const describedRoutes: readonly Described[] = [doctor, health, ready];

const describedHealth = withUnavailable(health, "Health");
const describedReady = withUnavailable(ready, "Ready");

/** The answer is the same while the log cannot be used. */
function withUnavailable(route: Described, schema: string): OpenApiOperation {
  const described = describeRoute(route);
  const unavailable = {
    description: "The log cannot be read or written.",
    content: jsonContent(schemaNamed(schema)),
  };
  return { ...described, responses: { ...described.responses, 503: unavailable } };
}
