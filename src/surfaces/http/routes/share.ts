// One session as a page of its own, for people who have no access to the record. It is masked, and asks nobody for anything.
import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { operations } from "../../../operations/index.js";
import { missingFrom } from "../../../operations/operation.js";
import { sharePolicy } from "../../../operations/streams.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { callerOf, isStillAdmitted, recordingOf } from "../checks/callers.js";
import { refuseQuery } from "../checks/query.js";
import { addressRefusals, type OpenApiOperation, refusals } from "../describe/openapi-operation.js";
import { inChunks, startingWith } from "./export.js";

export function shareRoutes(app: FastifyInstance, recorder: Recorder): void {
  // Every page is audited as an export, so HEAD is not supported.
  const config = { operation: shareOperation, need: "read", gate: "exports", is_audited: true } as const;
  app.get<{ Params: { readonly id: string } }>(
    "/sessions/:id/share",
    { config, exposeHeadRoute: false },
    async (request, reply) => {
      refuseQuery(request);
      const { id } = request.params;
      const store = recordingOf(request, recorder);
      if ((await store.session(id).summary()) === undefined) throw missingFrom(operations.getSession, { id });
      const { actor } = callerOf(request);
      const onUnaudited = ({ code }: { readonly code: string }): void =>
        request.log.warn({ code, actor }, "shared page without an audit entry");
      const pieces = store.exportEntries({ format: "html", session_id: id, actor, onUnaudited });
      const chunks = inChunks(pieces, () => isStillAdmitted(request, recorder.keys));
      const first = await chunks.next();
      reply.headers({ "content-security-policy": sharePolicy, "cache-control": "no-store" });
      reply.type("text/html; charset=utf-8");
      return reply.send(Readable.from(startingWith(first.value ?? "", chunks), { objectMode: false }));
    },
  );
}

const shareOperation: OpenApiOperation = {
  operationId: "shareSession",
  tags: ["Sessions"],
  summary: "Get a session as one HTML page",
  description:
    "Masked, with everything in it: no scripts, no requests. Its data has the hashes of the session's entries and a seal of the " +
    "log; `hansard verify FILE.html` compares a saved page with the store. Long texts and large images are left out. The audit " +
    "log has an export for each page.",
  parameters: [
    {
      name: "id",
      in: "path",
      required: true,
      description: "The session's exact id.",
      schema: { type: "string" },
      example: "cli:anna",
    },
  ],
  responses: {
    200: { description: "The page.", content: { "text/html": { schema: { type: "string" } } } },
    ...refusals(...addressRefusals, "session_id_invalid", "session_not_found", "store_failed", "recorder_closed"),
  },
};
