// Sessions over HTTP: list, summary, timeline, history as model input, consolidate, clear.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isJsonObject, type JsonObject } from "../../model/json.js";
import { RecorderError } from "../../model/rejection.js";
import type { Recorder } from "../../recorder.js";
import type {
  ConsolidationAnswer,
  EntryPage,
  HistoryAnswer,
  Receipt,
  SessionAnswer,
  SessionPage,
} from "../contract.js";
import { acceptEmptyBodies, bodyOf, optionalBodyOf } from "../door/bodies.js";
import { readQuery, refuseQuery } from "../door/query.js";
import {
  clearOperation,
  consolidateOperation,
  getOperation,
  historyNames,
  historyOperation,
  listNames,
  listOperation,
  timelineNames,
  timelineOperation,
} from "./session-operations.js";

export function sessionRoutes(app: FastifyInstance, recorder: Recorder): void {
  acceptEmptyBodies(app);

  app.get("/sessions", { config: { operation: listOperation } }, (request): Promise<SessionPage> => {
    return recorder.listSessions(readQuery(request, listNames));
  });

  app.get<ById>("/sessions/:id", { config: { operation: getOperation } }, async (request): Promise<SessionAnswer> => {
    refuseQuery(request);
    const session = recorder.session(request.params.id);
    const summary = await session.summary();
    if (summary === undefined) throw sessionNotFound(session.id);
    return summary;
  });

  app.get<ById>(
    "/sessions/:id/entries",
    { config: { operation: timelineOperation } },
    async (request): Promise<EntryPage> => {
      return recorder.session(request.params.id).entries(readQuery(request, timelineNames));
    },
  );

  app.get<ById>(
    "/sessions/:id/history",
    { config: { operation: historyOperation } },
    async (request): Promise<HistoryAnswer> => {
      const history = await recorder.session(request.params.id).history(readQuery(request, historyNames));
      return "messages" in history ? history : { messages: history };
    },
  );

  app.post<ById>(
    "/sessions/:id/consolidate",
    { config: { operation: consolidateOperation } },
    async (request): Promise<ConsolidationAnswer> => {
      refuseQuery(request);
      const session = recorder.session(request.params.id);
      const { through, summary } = readConsolidation(request);
      return session.consolidate(through, summary === undefined ? {} : { summary });
    },
  );

  app.post<ById>(
    "/sessions/:id/clear",
    { config: { operation: clearOperation } },
    async (request, reply): Promise<Receipt> => {
      refuseQuery(request);
      const session = recorder.session(request.params.id);
      const receipt = await session.clear(readClear(request, session.id));
      reply.code(receipt.status === "recorded" ? 201 : 200);
      return receipt;
    },
  );
}

interface ById {
  Params: { readonly id: string };
}

function sessionNotFound(id: string): RecorderError {
  return new RecorderError({
    code: "session_not_found",
    message: `there is no session ${JSON.stringify(id)}`,
    hint: "GET /sessions lists them. Ids are kept exactly, and percent-encoded in addresses.",
  });
}

/** The position itself is checked by the recorder; a field nobody reads is refused, because it would be lost. */
function readConsolidation(request: FastifyRequest): { readonly through: number; readonly summary?: string } {
  const { through, summary, ...others } = objectOf(bodyOf(request), "the consolidation");
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fieldUnknown(unknown);
  if (through === undefined || through === null) {
    throw new RecorderError({
      code: "field_missing",
      field: "through",
      message: "through is missing",
      hint: "Give the position of one of the session's entries.",
    });
  }
  if (summary === undefined || summary === null) return { through: through as number };
  if (typeof summary === "string") return { through: through as number, summary };
  throw new RecorderError({ code: "field_invalid", field: "summary", message: "summary must be a string" });
}

/** The envelope of a clear marker, as far as the caller gave one. */
function readClear(request: FastifyRequest, session_id: string): JsonObject {
  const body = optionalBodyOf(request);
  if (body === undefined) return {};
  const { kind, session_id: named, ...envelope } = objectOf(body, "the body");
  if ((kind ?? "clear") !== "clear") {
    throw new RecorderError({ code: "field_invalid", field: "kind", message: "kind must be clear here" });
  }
  if ((named ?? session_id) !== session_id) {
    throw new RecorderError({
      code: "session_id_invalid",
      field: "session_id",
      message: "session_id is another one than in the address",
      hint: "Leave it out of the body.",
    });
  }
  return envelope;
}

function objectOf(body: unknown, what: string): JsonObject {
  if (isJsonObject(body)) return body;
  throw new RecorderError({ code: "field_invalid", field: "body", message: `${what} must be a JSON object` });
}

function fieldUnknown(field: string): RecorderError {
  return new RecorderError({
    code: "field_invalid",
    field: field.slice(0, 100),
    message: `there is no field ${JSON.stringify(field.slice(0, 100))} here`,
    hint: "Fields are through and summary. POST /entries takes a consolidation with labels.",
  });
}
