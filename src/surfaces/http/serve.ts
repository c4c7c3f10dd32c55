// Serving: listens on an address, and on closing lets open requests finish before the store is closed.

import { type AddressInfo, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { itemAt } from "../../model/item-at.js";
import type { Recorder } from "../../recorder/recorder.js";
import { beyondLoopback, nameBeyondLoopback } from "./checks/hosts.js";
import { isEnabled } from "./logger.js";
import { createServer, HOST_DEFAULT, type ServerOptions } from "./server.js";

export { createLogger } from "./logger.js";

export interface ServeOptions extends ServerOptions {
  /** 0 takes any free port. */
  readonly port?: number;
  /** How long open requests may take once closing has begun. */
  readonly drain_ms_max?: number;
}

export interface Serving {
  /** For example `http://127.0.0.1:4747`. */
  readonly address: string;
  /** Every address of the server, this machine's own first; several if it listens on all of them. */
  readonly addresses: readonly string[];
  /** Stops listening, waits for open requests, and closes the recorder. May be called more than once. */
  close(): Promise<void>;
}

const PORT_DEFAULT = 4747;
/** A supervisor waits ten seconds before it kills; the rest is for closing the store. */
const DRAIN_MS_MAX = 7_000;
const IDLE_CHECK_MS = 25;

/**
 * Fails as `listen` does, for example with `EADDRINUSE`, and with `host_refused` if others could reach a store without
 * keys; the recorder is then left open.
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const { host = HOST_DEFAULT, allow_hosts = [], port = PORT_DEFAULT, drain_ms_max = DRAIN_MS_MAX, recorder } = options;
  const beyond = nameBeyondLoopback({ host, allow_hosts });
  if (beyond !== undefined && !(await recorder.keys.hasActiveKey())) throw beyondLoopback(beyond);
  const app = createServer(options);
  await app.listen({ host, port });
  const addresses = addressesOf(app, options.tls === undefined ? "http" : "https");
  const { logger } = options;
  // What this server takes of traces, some server of the store has to derive.
  await recorder.assembleTraces({
    onTrouble: (error) => {
      const reason = error instanceof Error ? error.message : String(error);
      logger?.warn({ reason }, "recorded traces cannot be derived at present");
    },
  });
  const stops = logger === undefined ? [] : [watchStore(recorder, logger), logRecorded(recorder, logger)];
  let closing: Promise<void> | undefined;
  return {
    address: itemAt(addresses, 0),
    addresses,
    close: () => {
      closing ??= drain(app, drain_ms_max).then(() => {
        for (const stop of stops) stop();
        return recorder.close();
      });
      return closing;
    },
  };
}

/** A server that listens everywhere has all addresses of its machine; 0.0.0.0 is none of them. */
function addressesOf(app: FastifyInstance, scheme: "http" | "https"): readonly string[] {
  const { address, port } = app.server.address() as AddressInfo;
  const isWild = address === "0.0.0.0" || address === "::";
  const own = Object.values(networkInterfaces())
    .flatMap((known = []) => known)
    // Link-local addresses need the name of an interface, which no browser accepts.
    .filter(({ family, scopeid = 0 }) => (family === "IPv4" || address === "::") && scopeid === 0)
    .sort((left, right) => Number(right.internal) - Number(left.internal));
  const shown = isWild && own.length > 0 ? own.map((known) => known.address) : [address];
  return shown.map((one) => `${scheme}://${isIPv6(one) ? `[${one}]` : one}:${port}`);
}

async function drain(app: FastifyInstance, msMax: number): Promise<void> {
  // A connection whose last request ends during closing would otherwise stay open until its client closes it.
  const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
  const cut = setTimeout(() => app.server.closeAllConnections(), msMax);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(cut);
  }
}

// Logs when the store becomes unusable and when it is usable again. Without this, the operator would see nothing while no
// requests arrive, or while only clients see the errors.
const POLL_MS = 2_000;

/** Polls the store's health until the returned function is called. */
function watchStore(recorder: Recorder, logger: FastifyBaseLogger, pollMs = POLL_MS): () => void {
  let known: string | undefined;
  let isPolling = false;
  const poll = async (): Promise<void> => {
    // An unreachable database answers late.
    if (isPolling) return;
    isPolling = true;
    const { trouble, position } = await recorder.health().finally(() => {
      isPolling = false;
    });
    if (trouble === known) return;
    known = trouble;
    if (trouble === undefined) logger.info({ position }, "the store can be used again");
    else logger.warn({ trouble, position }, `${wordsOf(trouble)}; captures and reads are refused until it is back`);
  };
  // It fails only if the recorder is closed meanwhile.
  const timer = setInterval(() => void poll().catch(() => undefined), pollMs).unref();
  return () => clearInterval(timer);
}

/** A line at level debug for each interaction recorded through this server, until the returned function is called. */
function logRecorded(recorder: Recorder, logger: FastifyBaseLogger): () => void {
  return recorder.monitoring.watchRecorded(
    (entries) => {
      for (const { kind, id, created_at: _, ...rest } of entries) {
        if (kind === "interaction") logger.debug({ interaction_id: id, ...rest }, "interaction_recorded");
      }
    },
    () => isEnabled(logger.level, "debug"),
  );
}

function wordsOf(trouble: string): string {
  return trouble === "store_unavailable" ? "the database is unreachable" : "the store cannot be used";
}
