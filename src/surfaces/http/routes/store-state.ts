// The state of the store over HTTP: is the chain intact, and is the server well.
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { count, named, oneOf, text } from "../../../model/schema.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { routeNotFound } from "../checks/errors.js";
import { refuseQuery } from "../checks/query.js";
import type { DoctorAnswer, HealthAnswer, VerifyAnswer } from "../contract.js";
import { type Described, describeRoute } from "../describe/describe-route.js";
import { jsonContent, type Operation, schemaNamed } from "../describe/operation.js";

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
    "/verify",
    { config: { operation: describeRoute(verify), gate: "walks" } },
    (request): Promise<VerifyAnswer> => {
      refuseQuery(request);
      return recorder.verify();
    },
  );

  app.get(
    "/doctor",
    { config: { operation: describeRoute(doctor), gate: "walks" } },
    (request): Promise<DoctorAnswer> => {
      refuseQuery(request);
      if (inspect === undefined) throw routeNotFound();
      return inspect();
    },
  );

  app.get("/health", { config: { operation: describedHealth } }, async (request, reply): Promise<HealthAnswer> => {
    refuseQuery(request);
    const { status, trouble, ...health } = await recorder.health();
    if (trouble !== undefined) reply.code(503).header("retry-after", "1");
    return { status, version, ...health, ...(trouble === undefined ? {} : { trouble }) };
  });
}

const ofStore = { tag: "Store", input: {}, missing: undefined, refusals: ["store_failed"] } as const;

const knownHead = named(
  "KnownHead",
  Type.Object({ by: oneOf(["index", "seal"]), log_id: text, position: count, hash: text }),
);

const warnings = Type.Optional(
  Type.Array(oneOf(["trigger_missing"]), {
    description: "What is no proof of tampering and has to be known; absent where there is nothing.",
  }),
);

const verify: Described = {
  ...ofStore,
  name: "verify",
  route: "GET /verify",
  summary: "Check that every entry is as it was recorded",
  description:
    "Walks the whole chain of hashes and names the first position that was changed, removed or swapped. Where the chain " +
    "holds, but the log no longer holds what its index was made from or what this server sealed last, `reason` is `cut_off`, " +
    "and `known` says what it held.",
  output: Type.Unsafe({
    title: "Verification",
    oneOf: [
      Type.Object({ ok: Type.Literal(true), entries: count, erased: count, position: count, hash: text, warnings }),
      Type.Object({
        ok: Type.Literal(false),
        position: count,
        reason: text,
        known: Type.Optional(knownHead),
        holders: Type.Optional(
          Type.Array(count, { description: "Where what is damaged is shared: all entries that hold it." }),
        ),
        warnings,
      }),
    ],
  }),
};

const doctor: Described = {
  ...ofStore,
  name: "doctor",
  route: "GET /doctor",
  summary: "Look at the store itself",
  description:
    "What `hansard doctor` says: the folder, the disk, the files, the index held against the log, the chain, and what clients " +
    "numbered and never delivered; each in plain words, with what to do about it. `ok` is false where anything fails.",
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
  summary: "Ask whether the server is well",
  description:
    "`degraded` means that capture works while lists may lack older entries, because the index is being rebuilt or " +
    "cannot be used, that the log was cut off or exchanged (`warnings` has `cut_off`), or that an altered body was read " +
    "(`problems` has `entry_altered` and its position). Where the log itself cannot be " +
    "read or written the status is 503, and `trouble` says why.",
  output: named(
    "Health",
    Type.Object({
      status: oneOf(["ok", "degraded"]),
      version: text,
      position: Type.Integer({ minimum: 0, description: "Position of the newest entry." }),
      indexed_through: Type.Integer({ minimum: 0, description: "Position through which the index has followed." }),
      pending: Type.Optional(
        Type.Integer({ minimum: 0, description: "How many memories wait for a person's verdict." }),
      ),
      warnings: Type.Optional(
        Type.Array(Type.Literal("cut_off"), {
          description: "`cut_off`: the log no longer holds what it once did.",
        }),
      ),
      problems: Type.Optional(
        Type.Array(Type.Object({ code: Type.Literal("entry_altered"), position: count, message: text, hint: text }), {
          description:
            "What was found wrong with the record since the start. `entry_altered`: a body was read that does not match its hash.",
        }),
      ),
      trouble: Type.Optional(
        Type.String({
          description:
            "Why the log cannot be used at present; absent while it can. The positions are then those last known.",
        }),
      ),
    }),
  ),
};

/** Routes that are described as operations are; who carries them out is not the reading side. */
export const describedRoutes: readonly Described[] = [verify, doctor, health];

const answered = describeRoute(health);
const describedHealth: Operation = {
  ...answered,
  responses: {
    ...answered.responses,
    503: { description: "It cannot record or read at present.", content: jsonContent(schemaNamed("Health")) },
  },
};
