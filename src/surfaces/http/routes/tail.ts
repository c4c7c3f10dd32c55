// The live tail over HTTP: every new entry as a server-sent event whose id is its position, so that a client that was cut
// off goes on exactly where it stopped.
import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Fault } from "../../../model/fault.js";
import { isPositionText } from "../../../model/ids.js";
import { RecorderError } from "../../../model/rejection.js";
import { streams } from "../../../operations/streams.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { describeInput, queryRefusals } from "../describe/describe-route.js";
import { type Operation, refusals } from "../describe/operation.js";
import { isStillAdmitted } from "../door/doorkeeper.js";
import { readQuery } from "../door/query.js";
import { EventStream, eventEncoder } from "../event-stream.js";

const ENDING_MS_MAX = 300;
const names = Object.keys(streams.tail.input) as (keyof typeof streams.tail.input)[];

export function tailRoutes(app: FastifyInstance, recorder: Recorder): void {
  const streamByResponse = new Map<ServerResponse, EventStream>();
  const encode = eventEncoder();
  let isClosing = false;
  // A tail has no end of its own, so the closing of the server ends it, and does not wait for clients that read nothing.
  app.addHook("preClose", async () => {
    isClosing = true;
    for (const [response, stream] of streamByResponse) {
      stream.end();
      setTimeout(() => response.destroy(), ENDING_MS_MAX).unref();
    }
  });

  const config = { operation: tailOperation, gate: "tails" } as const;
  app.get("/tail", { config, exposeHeadRoute: false }, async (request, reply) => {
    const { after, ...filters } = readQuery(request, names);
    const from = lastEventId(request) ?? after ?? "";
    const tail = recorder.tail({ ...filters, after: from });
    const start = await tail.started().catch(async (error: unknown) => {
      await tail.return();
      throw error;
    });
    if (isClosing) {
      await tail.return();
      throw new Fault("recorder_closed", "the server is closing", { hint: "Connect again in a moment." });
    }
    const isAdmitted = (): Promise<boolean> => isStillAdmitted(request, recorder.keys);
    const stream = new EventStream({ tail, start, encode, isFromNow: from === "", isAdmitted });
    streamByResponse.set(reply.raw, stream);
    reply.raw.once("close", () => streamByResponse.delete(reply.raw));
    reply.headers({ "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" });
    return reply.send(stream);
  });
}

/** What a browser sends when it comes back; it is newer than the `after` its address still has. */
function lastEventId(request: FastifyRequest): string | undefined {
  const id = request.headers["last-event-id"];
  if (id === undefined || id === "") return undefined;
  if (typeof id === "string" && isPositionText(id) && Number.isSafeInteger(Number(id))) return id;
  throw new RecorderError({
    code: "field_invalid",
    field: "last-event-id",
    message: "Last-Event-ID must be a position (a whole number from 0)",
    hint: "Send back the id of the last event, or leave the header out to start from now.",
  });
}

const { parameters, codes } = describeInput(streams.tail.input);

const tailOperation: Operation = {
  operationId: "tail",
  tags: ["Entries"],
  summary: "Follow the log live",
  description:
    "Server-sent events without a name: `id` is the entry's position, `data` the entry as it was appended, on one " +
    "line. An interaction comes without the response that completes it later, which is an event of its own. Nothing " +
    "is missed or sent twice by a client that comes back with `Last-Event-ID`, as browsers do by themselves.",
  parameters: [
    ...parameters,
    {
      name: "Last-Event-ID",
      in: "header",
      description: "As `after`, and wins over it.",
      schema: { type: "string" },
    },
  ],
  responses: {
    200: {
      description: "Events, until either side closes the connection.",
      content: { "text/event-stream": { schema: { type: "string" } } },
    },
    ...refusals(...codes, ...queryRefusals, "recorder_closed"),
  },
};
