// `hansard serve`: the record over HTTP until a signal ends it, with nothing acknowledged lost.
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { createSecureContext } from "node:tls";
import type { Command } from "commander";
import { Fault } from "../../../model/fault.js";
import { displayLocation, isServerAddress } from "../../../model/store-location.js";
import { openRecorder } from "../../../recorder/open-recorder.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { beyondLoopback, isLoopback } from "../../http/door/loopback.js";
import type { createLogger } from "../../http/logger.js";
import type { Serving } from "../../http/serve.js";
import { type CommandModule, examplesText, type Invocation } from "../command.js";
import { type ExitStatus, exitStatus, Failed, WrongUse } from "../failures.js";
import { hintText } from "../hints.js";
import { inspectApart } from "../inspect-apart.js";
import { modelOf, modelOptions } from "../model-options.js";
import { bannerText } from "../text/banner.js";
import { logText } from "../text/log-text.js";
import type { Pane } from "../text/terminal.js";
import { readVersion } from "../version.js";

type Logger = ReturnType<typeof createLogger>;

/** A supervisor kills after ten seconds; what was acknowledged is on disk long before. */
const CLOSING_MS_MAX = 9_000;

export const serveCommand: CommandModule = {
  define(command: Command): void {
    modelOptions(listeningOptions(command))
      .option("--allow-host <name>", "another name it is reached by; may be repeated (HANSARD_ALLOW_HOST)", gather)
      .option("--tls-cert <file>", "speak HTTPS with this certificate, as PEM (HANSARD_TLS_CERT)")
      .option("--tls-key <file>", "its private key, as PEM (HANSARD_TLS_KEY)")
      .option("--rate <n>", "requests a second of one key or address (HANSARD_RATE, or 20000); 0 is no limit")
      .option("--prices <file>", "prices for /usage in LiteLLM's form (HANSARD_PRICES)")
      .option("--redact <when>", "capture: mask secrets before they are stored, instead of where they are shown")
      .option("--watch", "keep reading what known tools write on this machine, as `hansard watch` does")
      .option("--verbose", "log every request and every interaction, not only what was refused or failed")
      .addHelpText(
        "after",
        examplesText([
          ["on http://127.0.0.1:4747, with the record in ~/.hansard", "hansard serve"],
          ["beside another server, with a record of its own", "hansard serve --port 5000 --data ./record"],
          [
            "for others too, once there is a key (`hansard keys create --scope admin`)",
            "hansard serve --host 0.0.0.0 --allow-host record.example.com \\\n    --tls-cert cert.pem --tls-key key.pem",
          ],
        ]),
      );
  },

  run(invocation: Invocation) {
    return serveRecord(invocation, async () => undefined);
  },
};

export function listeningOptions(command: Command): Command {
  return command
    .option("--host <address>", "the address to listen on (HANSARD_HOST, or 127.0.0.1)")
    .option("--port <n>", "the port to listen on (HANSARD_PORT, or 4747); 0 takes a free one");
}

/** Serves until a signal ends it; `prepare` is done with the record before anybody can ask for it. */
export async function serveRecord(
  { settings, screen, options }: Invocation,
  prepare: (recorder: Recorder) => Promise<void>,
): Promise<ExitStatus> {
  const host = settings.host.replace(/^\[(.*)\]$/, "$1");
  const tls = readTls(settings.tls);
  const model = modelOf({ options, settings });
  const stop = new Promise<NodeJS.Signals>((resolve) => onSignal(resolve));
  const { err } = screen;
  const isVerbose = options.verbose === true;
  const isWatching = options.watch === true;
  const [{ serve }, logging] = await Promise.all([import("../../http/serve.js"), import("../../http/logger.js")]);
  const logger = logging.createLogger({
    // Until it listens, what Fastify says of its addresses is left out: the line or the banner below says it better.
    level: "warn",
    toHint: (hint) => hintText(hint, settings),
    ...(err.isTerminal ? { destination: { write: (line: string) => err.write(logText(line, err)) } } : {}),
  });
  // Opening makes a new store only for this machine alone; what cannot be served leaves nothing behind.
  if (isLoopback(host)) await tryListening(host, settings.port);
  // Until then nothing was acknowledged, and a database that is away must not hold up the end.
  let isOpen = false;
  void stop.then(() => isOpen || process.exit(exitStatus.done));
  const recorder = await openServed(settings, host, (fault) => {
    logger.logger.warn({ reason: fault.message }, "waiting for the database, 30 s at most");
  });
  isOpen = true;
  try {
    await prepare(recorder);
    await recorder.learn({
      ...model,
      onTrouble: (error) =>
        logger.logger.warn({ reason: reasonOf(error) }, "what was recorded could not be learned from"),
    });
    const { data, port, allow_host: allow_hosts, rate } = settings;
    const version = readVersion();
    const limits = rate === undefined ? {} : { requests_per_second: rate };
    const inspect = () => inspectApart(settings);
    const options = { recorder, host, port, version, allow_hosts, limits, tls, inspect, logger: logger.logger };
    const serving = await serve(options).catch((error: unknown) => {
      throw toListenFailure(error, host, port);
    });
    logger.logger.level = isVerbose ? "debug" : "info";
    await keepSeals({ recorder, data, logger });
    if (isWatching) await keepWatch(recorder, logger);
    await announce({ serving, recorder, settings, version, pane: err, logger });
    if (tls === undefined && !isLoopback(host))
      logger.logger.warn("keys are sent unencrypted; --tls-cert and --tls-key change that");
    await close({ signal: await stop, serving, pane: err, logger });
  } finally {
    await recorder.close();
    logger.flush();
  }
  return exitStatus.done;
}

/** Fails as listening would. */
async function tryListening(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", reject);
    probe.listen({ host, port }, resolve);
  }).catch((error: unknown) => {
    throw toListenFailure(error, host, port);
  });
  await new Promise((resolve) => probe.close(resolve));
}

/** A store that is not there yet has no keys, and so nothing to serve beyond this machine. */
async function openServed(
  settings: Invocation["settings"],
  host: string,
  onWait: (fault: Fault) => void,
): Promise<Recorder> {
  const { data, mask, redact, seal_key, prices } = settings;
  if (isServerAddress(data)) throw alreadyServed();
  try {
    return await openRecorder({ data, mask, redact, seal_key, prices, create: isLoopback(host), onWait });
  } catch (error) {
    const isMissing = error instanceof Fault && error.code === "store_missing";
    throw isMissing && !isLoopback(host) ? beyondLoopback(host) : error;
  }
}

function alreadyServed(): WrongUse {
  const message = "a record that a server serves already is not served once more";
  const hint = "Name the folder or database of a record with --data.";
  return new WrongUse({ code: "setting_invalid", field: "--data", message, hint });
}

/** A store that is gone with the program needs no proof of what it held. */
async function keepSeals(options: {
  readonly recorder: Recorder;
  readonly data: string;
  readonly logger: Logger;
}): Promise<void> {
  const { recorder, data, logger } = options;
  if (data === "memory:") return;
  const onTrouble = (error: unknown): void => logger.logger.warn({ reason: reasonOf(error) }, "no seal could be kept");
  await recorder.keepSeals({ onTrouble });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What it reads is seen in the record and in /metrics; what it cannot read is worth a line. */
async function keepWatch(recorder: Recorder, { logger }: Logger): Promise<void> {
  await recorder.watchFiles([], {
    onFile: ({ file, format, added, rejected }) =>
      logger.info({ file, format, added, rejected }, "read a watched file"),
    onRejected: ({ file, line, reason }) => logger.warn({ file, line, reason }, "left out of a watched file"),
    onTrouble: (reason) => logger.warn({ reason }, "watching"),
  });
}

/** An option that may be repeated. */
function gather(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Certificate and key as text. What is in them is looked at when the server starts. */
function readTls(files: Invocation["settings"]["tls"]): { readonly cert: string; readonly key: string } | undefined {
  if (files === undefined) return undefined;
  const read = (file: string, field: string): string => {
    try {
      return readFileSync(file, "utf8");
    } catch (error) {
      const message = `${file} cannot be read (${(error as Error).message})`;
      throw new Failed({ code: "tls_unusable", field, message });
    }
  };
  const tls = { cert: read(files.cert, "--tls-cert"), key: read(files.key, "--tls-key") };
  try {
    createSecureContext(tls);
  } catch (error) {
    const message = `${files.cert} and ${files.key} cannot be used for HTTPS (${(error as Error).message})`;
    const hint = "Both must be PEM, and the key must belong to the certificate.";
    throw new Failed({ code: "tls_unusable", field: "--tls-cert", message, hint });
  }
  return tls;
}

/** The first signal asks for an orderly end, the second one insists. */
function onSignal(first: (signal: NodeJS.Signals) => void): void {
  let asked = false;
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (asked) process.exit(exitStatus.failed);
      asked = true;
      first(signal);
    });
  }
}

function toListenFailure(error: unknown, host: string, port: number): unknown {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const where = `port ${port} of ${host}`;
  if (code === "EADDRINUSE") {
    const hint = "Perhaps a Hansard runs there already; otherwise choose another port with --port or HANSARD_PORT.";
    return new Failed({ code: "port_in_use", field: "--port", message: `${where} is in use`, hint });
  }
  if (code === "EACCES") {
    const hint = "Ports below 1024 need privileges; choose another with --port.";
    return new Failed({ code: "port_refused", field: "--port", message: `this user may not use ${where}`, hint });
  }
  if (!code.startsWith("EADDR") && code !== "ENOTFOUND") return error;
  const hint = "Choose an address of this machine with --host.";
  return new Failed({ code: "host_unusable", field: "--host", message: `cannot listen on ${host} (${message})`, hint });
}

async function announce(options: {
  readonly serving: Serving;
  readonly recorder: Recorder;
  readonly settings: Invocation["settings"];
  readonly version: string;
  readonly pane: Pane;
  readonly logger: Logger;
}): Promise<void> {
  const { serving, recorder, settings, version, pane, logger } = options;
  const { addresses, address } = serving;
  const place = displayLocation(settings.data);
  const health = await recorder.health();
  if (!pane.isTerminal) {
    const { position, status, pending = 0 } = health;
    logger.logger.info({ address, addresses, data: place, version, position, status, pending }, "listening");
    return;
  }
  const keys = await countKeys(recorder);
  pane.write(bannerText({ version, addresses, place, settings, health, keys }, pane));
}

/** A file of keys that is damaged lets nobody in, which is for the banner to say: the server runs. */
async function countKeys(recorder: Recorder): Promise<{ readonly made: number; readonly good: number } | undefined> {
  const listed = await recorder.keys.list().catch(() => undefined);
  const good = listed?.keys.filter(({ revoked_at }) => revoked_at === undefined).length;
  return listed === undefined || good === undefined ? undefined : { made: listed.keys.length, good };
}

async function close(options: {
  readonly signal: NodeJS.Signals;
  readonly serving: Serving;
  readonly pane: Pane;
  readonly logger: Logger;
}): Promise<void> {
  const { signal, serving, pane, logger } = options;
  if (pane.isTerminal) pane.write(pane.colours.dim("\n  Finishing what is under way …\n"));
  else logger.logger.info({ signal }, "closing");
  const late = setTimeout(() => {
    logger.logger.warn("requests under way were cut off");
    logger.flush();
    process.exit(exitStatus.done);
  }, CLOSING_MS_MAX);
  try {
    await serving.close();
  } finally {
    clearTimeout(late);
  }
  if (!pane.isTerminal) logger.logger.info("closed");
}
