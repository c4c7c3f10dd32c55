// How much there is, over HTTP.
import type { FastifyInstance } from "fastify";
import type { Recorder } from "../../../recorder/recorder.js";
import type { StatsAnswer } from "../contract.js";
import { addressRefusals, jsonContent, type Operation, refusals } from "../describe/operation.js";
import { count, listOf, object, pageEnd, text, timeOrNull } from "../describe/shapes.js";
import { refuseQuery } from "../door/query.js";

export function statsRoutes(app: FastifyInstance, recorder: Recorder): void {
  app.get("/stats", { config: { operation: statsOperation } }, async (request): Promise<StatsAnswer> => {
    refuseQuery(request);
    const counts = await recorder.count();
    const { pending } = await recorder.health();
    return { ...counts, ...(pending === undefined ? {} : { pending }) };
  });
}

const statsOperation: Operation = {
  operationId: "getStats",
  tags: ["Store"],
  summary: "Count what there is, by kind and project",
  responses: {
    200: {
      description: "The counts, and when the first and the last entry happened; null where there is none.",
      content: jsonContent(
        object(
          {
            entries: count,
            sessions: count,
            by_kind: { type: "object", additionalProperties: count },
            projects: listOf(object({ project: text, entries: count })),
            pending: { ...count, description: "How many memories wait for a verdict." },
            first_at: timeOrNull,
            last_at: timeOrNull,
            partial: pageEnd.partial,
          },
          ["pending", "partial"],
        ),
      ),
    },
    ...refusals(...addressRefusals),
  },
};
