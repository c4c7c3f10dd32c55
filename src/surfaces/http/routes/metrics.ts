// Metrics for monitoring a server, in Prometheus' text format: queues, lags and refusals.
import type { FastifyInstance } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Recorder } from "../../../recorder/recorder.js";
import type { BodyBudget } from "../checks/bodies.js";
import { refuseQuery } from "../checks/query.js";
import type { Gates } from "../checks/read-gate.js";
import { addressRefusals, type OpenApiOperation, refusals } from "../describe/openapi-operation.js";

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const ENTRIES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 100_000];

export interface Measured {
  readonly recorder: Recorder;
  readonly gates: Gates;
  readonly bodies: BodyBudget;
}

export function metricsRoutes(app: FastifyInstance, measured: Measured): void {
  const registry = new Registry();
  countRequests(app, registry);
  countCommits(app, measured.recorder, registry);
  showQueues(app, measured, registry);
  const showStore = storeGauges(measured.recorder, registry);
  showWatching(measured.recorder, registry);
  let isProcessShown = false;

  // Monitoring matters most under overload, so metrics pass no gate.
  app.get(
    "/metrics",
    { config: { operation: metricsOperation, need: "metrics", gate: "none" } },
    async (request, reply) => {
      refuseQuery(request);
      // Measuring the process costs a little all the time, so it starts with the first request.
      if (!isProcessShown) collectDefaultMetrics({ register: registry });
      isProcessShown = true;
      await showStore();
      reply.type(registry.contentType);
      return registry.metrics();
    },
  );
}

function countRequests(app: FastifyInstance, registry: Registry): void {
  const registers = [registry];
  const durations = new Histogram({
    name: "hansard_http_request_duration_seconds",
    help: "How long requests took, by method, route and status.",
    labelNames: ["method", "route", "status"],
    buckets: SECONDS,
    registers,
  });
  const refused = new Counter({
    name: "hansard_http_refused_total",
    help: "Error responses, by code.",
    labelNames: ["code"],
    registers,
  });
  const dropped = new Counter({
    name: "hansard_http_connections_dropped_total",
    help: "Connections refused because there were too many.",
    registers,
  });
  // One for each route and status, since looking it up by labels takes longer than counting.
  const durationOf = new Map<string, Histogram.Internal<string>>();
  app.addHook("onResponse", (request, reply, done) => {
    const { method, routeOptions } = request;
    const route = routeOptions.url ?? "none";
    const name = `${reply.statusCode} ${method} ${route}`;
    let duration = durationOf.get(name);
    if (duration === undefined) {
      duration = durations.labels({ method, route, status: reply.statusCode });
      durationOf.set(name, duration);
    }
    duration.observe(reply.elapsedTime / 1000);
    if (reply.errorCode !== null) refused.inc({ code: reply.errorCode });
    done();
  });
  app.server.on("drop", () => dropped.inc());
}

function countCommits(app: FastifyInstance, recorder: Recorder, registry: Registry): void {
  const registers = [registry];
  const commits = new Counter({
    name: "hansard_commits_total",
    help: "Commits to the log, by outcome: ok, or the code of the fault.",
    labelNames: ["outcome"],
    registers,
  });
  const sizes = new Histogram({
    name: "hansard_commit_entries",
    help: "Entries per commit.",
    buckets: ENTRIES,
    registers,
  });
  const durations = new Histogram({
    name: "hansard_commit_duration_seconds",
    help: "How long commits took, including the sync to disk.",
    buckets: SECONDS,
    registers,
  });
  const stop = recorder.monitoring.watchCommits(({ entries, ms, fault = "ok" }) => {
    commits.inc({ outcome: fault });
    if (fault !== "ok") return;
    sizes.observe(entries);
    durations.observe(ms / 1000);
  });
  // The recorder outlives the server, and may get another one.
  app.addHook("onClose", async () => stop());
}

function showQueues(app: FastifyInstance, { recorder, gates, bodies }: Measured, registry: Registry): void {
  const { monitoring } = recorder;
  gauge(registry, "capture_waiting_entries", "Entries waiting to be written.", () => monitoring.load().capture.entries);
  gauge(registry, "capture_waiting_bytes", "Bytes waiting to be written.", () => monitoring.load().capture.bytes);
  gauge(registry, "tail_listeners", "Open tail connections.", () => monitoring.load().tails);
  gauge(registry, "request_bodies_bytes", "Bytes of request bodies in memory.", () => bodies.held);
  gauge(registry, "reads_running", "Running reads.", () => gates.reads.running + gates.walks.running);
  gauge(registry, "reads_waiting", "Queued reads.", () => gates.reads.waiting + gates.walks.waiting);
  gauge(registry, "exports_running", "Running exports.", () => gates.exports.running);
  gauge(
    registry,
    "http_connections",
    "Open connections.",
    () => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count ?? 0))),
  );
}

/** What `serve --watch` reads; 0 if nothing is watched. */
function showWatching(recorder: Recorder, registry: Registry): void {
  const gauges = {
    watch_files: ["Watched files.", "files"],
    watch_waiting_files: ["Files waiting for a scan.", "waiting"],
    watch_polled_folders: ["Folders polled because they have no file events.", "polled"],
  } as const;
  const counters = {
    watch_looks_total: ["Scans of watched files.", "looks"],
    watch_bytes_total: ["Bytes read from watched files.", "bytes"],
    watch_entries_total: ["Entries recorded from watched files.", "added"],
    watch_rejected_total: ["Skipped lines and files of watched folders.", "rejected"],
  } as const;
  for (const [name, [help, count]] of Object.entries(gauges)) {
    gauge(registry, name, help, () => recorder.watching()?.[count] ?? 0);
  }
  for (const [name, [help, count]] of Object.entries(counters)) {
    new Counter({
      name: `hansard_${name}`,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(recorder.watching()?.[count] ?? 0);
      },
    });
  }
}

/** The store is asked once for all of its figures; they are omitted while it is unreachable. */
function storeGauges(recorder: Recorder, registry: Registry): () => Promise<void> {
  const names = {
    log_position: "Position of the newest entry.",
    index_lag_entries: "Entries not indexed yet.",
    text_index_lag_entries: "Entries whose texts are not indexed yet; searches scan them one by one.",
    store_well: "1 if the store is healthy, 0 if it is degraded or unusable.",
  };
  const gauges = new Map(Object.entries(names).map(([name, help]) => [name, gauge(registry, name, help)]));
  const { monitoring } = recorder;
  return async () => {
    const [health, texts] = await Promise.all([recorder.health(), monitoring.textsThrough().catch(() => 0)]);
    const { position, indexed_through, status } = health;
    const figures = {
      log_position: position,
      index_lag_entries: Math.max(0, position - indexed_through),
      text_index_lag_entries: Math.max(0, position - texts),
      store_well: status === "ok" ? 1 : 0,
    };
    for (const [name, value] of Object.entries(figures)) gauges.get(name)?.set(value);
  };
}

function gauge(registry: Registry, name: string, help: string, read?: () => number | Promise<number>): Gauge {
  return new Gauge({
    name: `hansard_${name}`,
    help,
    registers: [registry],
    ...(read === undefined
      ? {}
      : {
          async collect() {
            this.set(await read());
          },
        }),
  });
}

const metricsOperation: OpenApiOperation = {
  operationId: "metrics",
  tags: ["Store"],
  summary: "Get metrics of queues, lags and refusals",
  description: "In Prometheus' text format. Contains no recorded text.",
  responses: {
    200: { description: "The metrics.", content: { "text/plain": { schema: { type: "string" } } } },
    ...refusals(...addressRefusals, "recorder_closed"),
  },
};
