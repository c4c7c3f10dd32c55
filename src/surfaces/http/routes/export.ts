// The record, or a part of it, over HTTP: one entry per line, sent as it is read.
import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { sharePolicy, streams } from "../../../operations/streams.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { callerOf, isStillAdmitted, recordingOf } from "../checks/callers.js";
import { readQuery } from "../checks/query.js";
import { describeInput, queryRefusals } from "../describe/describe-route.js";
import { type OpenApiOperation, refusals } from "../describe/openapi-operation.js";

/** Lines are sent in batches, because a packet per line would cost more than the line. */
const CHUNK_CHARS = 64 * 1024;
const names = Object.keys(streams.export.input) as (keyof typeof streams.export.input)[];

export function exportRoutes(app: FastifyInstance, recorder: Recorder): void {
  // Every export is audited, so HEAD is not supported.
  const config = { operation: exportOperation, need: "admin", gate: "exports", is_audited: true } as const;
  app.get("/export", { config, exposeHeadRoute: false }, async (request, reply) => {
    const { actor } = callerOf(request);
    const onUnaudited = ({ code }: { readonly code: string }): void =>
      request.log.warn({ code, actor }, "export without an audit entry");
    const asked = { ...readQuery(request, names), actor, onUnaudited };
    const lines = recordingOf(request, recorder).exportEntries(asked);
    const chunks = inChunks(lines, () => isStillAdmitted(request, recorder.keys));
    // Errors at the start are raised while a status can still be sent.
    const first = await chunks.next();
    reply.type(typeByFormat[asked.format ?? ""] ?? NDJSON);
    if (asked.format === "html") reply.header("content-security-policy", sharePolicy);
    return reply.send(Readable.from(startingWith(first.value ?? "", chunks), { objectMode: false }));
  });
}

const NDJSON = "application/x-ndjson";
/** Formats other than NDJSON. */
const typeByFormat: { readonly [format: string]: string } = {
  markdown: "text/markdown",
  html: "text/html; charset=utf-8",
  atif: "application/json",
};

export async function* startingWith(
  first: string,
  rest: AsyncGenerator<string, void, undefined>,
): AsyncGenerator<string, void, undefined> {
  if (first !== "") yield first;
  yield* rest;
}

export async function* inChunks(
  lines: AsyncGenerator<string, void, undefined>,
  isAdmitted: () => Promise<boolean>,
): AsyncGenerator<string, void, undefined> {
  let chunk = "";
  for await (const line of lines) {
    if (chunk.length + line.length > CHUNK_CHARS && chunk !== "") {
      yield chunk;
      chunk = "";
      // The connection is aborted, so a partial export is not taken for a whole one.
      if (!(await isAdmitted())) throw new Error("the key was revoked during the export");
    }
    chunk += line;
  }
  if (chunk !== "") yield chunk;
}

const { parameters, codes } = describeInput(streams.export.input);

const text = { type: "string" } as const;

const exportOperation: OpenApiOperation = {
  operationId: "export",
  tags: ["Store"],
  summary: "Export entries, verbatim and in order of position",
  description:
    "The first line is about the log: `log_id`, and the `position` and `hash` it ends with. Each further line is an " +
    "entry as it is stored, with `position`, `kind`, `recorded_at`, `hash` and `salt` (`commitment` where it was " +
    "erased); the other formats are for other programs and for people. `masked=1` masks secrets, as lists do, and gives the commitment in place of the salt. Without filters, importing the lines into an empty store gives the same positions, times and hashes.",
  parameters,
  responses: {
    200: {
      description:
        "One JSON object per line; with `format=markdown` Markdown, with `format=html` a page, with `format=atif` one JSON document.",
      content: Object.fromEntries(
        [NDJSON, ...Object.values(typeByFormat)].map((type) => [type.replace(/;.*/, ""), { schema: text }]),
      ),
    },
    ...refusals(...codes, ...queryRefusals, "store_failed", "recorder_closed"),
  },
};
