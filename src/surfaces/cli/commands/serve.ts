// `hansard serve` and `hansard demo`: the record over HTTP until a signal stops it. Nothing acknowledged is lost.
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { createSecureContext } from "node:tls";
import type { Command } from "commander";
import { Fault } from "../../../model/fault.js";
import { displayLocation, isServerAddress } from "../../../model/store-location.js";
import { loadDemo } from "../../../recorder/demo.js";
import { openRecorder } from "../../../recorder/open-recorder.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { beyondLoopback, isLoopback, nameBeyondLoopback } from "../../http/checks/hosts.js";
import type { createLogger } from "../../http/logger.js";
import type { Serving } from "../../http/serve.js";
import { type CommandModule, examplesText, type Invocation, modelOf, modelOptions } from "../command.js";
import { type ExitStatus, exitStatus, Failed, WrongUse } from "../failures.js";
import { hintText } from "../hints.js";
import { inspectApart } from "../inspect-apart.js";
import { bannerText, logText } from "../text/server-text.js";
import type { Pane } from "../text/terminal.js";
import { readVersion } from "../version.js";

type Logger = ReturnType<typeof createLogger>;

/** A supervisor kills after ten seconds; what was acknowledged is on disk long before. */
const CLOSING_MS_MAX = 9_000;

export const serveCommand: CommandModule = {
  define(command: Command): void {
    modelOptions(listeningOptions(command))
      .option("--allow-host <name>", "a further host name to accept; may be repeated (HANSARD_ALLOW_HOST)", collect)
      .option("--tls-cert <file>", "serve HTTPS with this PEM certificate (HANSARD_TLS_CERT)")
      .option("--tls-key <file>", "its PEM private key (HANSARD_TLS_KEY)")
      .option("--rate <n>", "requests per second of one key or address (HANSARD_RATE, or 20000); 0: no limit")
      .option("--prices <file>", "prices for /usage, in LiteLLM's format (HANSARD_PRICES)")
      .option("--redact <when>", "with capture: mask secrets before they are stored, not only where they are shown")
      .option("--watch", "also record what other tools write on this machine, as `hansard watch` does")
      .option("--words", "propose sentences in which users say what always holds as memories")
      .option("--verbose", "log every request, not only rejected and failed ones")
      .addHelpText(
        "after",
        examplesText([
          ["on http://127.0.0.1:4747, with the record in ~/.hansard", "hansard serve"],
          ["another record on another port", "hansard serve --port 5000 --data ./record"],
          [
            "for other machines; first run `hansard keys create --scope admin`",
            "hansard serve --host 0.0.0.0 --allow-host record.example.com \\\n    --tls-cert cert.pem --tls-key key.pem",
          ],
        ]),
      );
  },

  run(invocation: Invocation) {
    return serveRecord(invocation, async () => undefined);
  },
};

/** Serves a record in memory that holds a week of sample data. */
export const demoCommand: CommandModule = {
  define(command: Command): void {
    listeningOptions(command);
  },

  async run(invocation: Invocation) {
    const settings = { ...invocation.settings, data: "memory:" };
    return serveRecord({ ...invocation, settings }, (recorder) => loadDemo(recorder, Date.now()));
  },
};

function listeningOptions(command: Command): Command {
  return command
    .option("--host <address>", "the address to listen on (HANSARD_HOST, or 127.0.0.1)")
    .option("--port <n>", "the port to listen on (HANSARD_PORT, or 4747); 0: any free port");
}

/** Serves until a signal stops it; `prepare` runs before the first request is answered. */
async function serveRecord(
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
  const proposesWords = options.words === true;
  const { createLogger, serve } = await import("../../http/serve.js");
  const logger = createLogger({
    // Leaves out Fastify's own lines about its addresses: the banner or the line below has them.
    level: "warn",
    toHint: (hint) => hintText(hint, settings),
    ...(err.isTerminal ? { destination: { write: (line: string) => err.write(logText(line, err)) } } : {}),
  });
  // Opening may create a store, so an unusable port is detected first.
  if (isLoopback(host)) await tryListening(host, settings.port);
  // Nothing was acknowledged until then, and a database that does not answer must not delay the exit.
  let isOpen = false;
  void stop.then(() => isOpen || process.exit(exitStatus.done));
  const beyond = nameBeyondLoopback({ host, allow_hosts: settings.allow_host });
  const recorder = await openServed(settings, beyond, (fault) => {
    logger.logger.warn({ reason: fault.message }, "waiting for the database, up to 30 s");
  });
  isOpen = true;
  try {
    await prepare(recorder);
    await recorder.learn({
      ...model,
      words: proposesWords,
      onTrouble: (error) => logger.logger.warn({ reason: reasonOf(error) }, "memory extraction paused"),
    });
    const { data, port, allow_host: allow_hosts, rate } = settings;
    const version = readVersion();
    const limits = rate === undefined ? {} : { requests_per_second: rate };
    const inspect = () => inspectApart(settings);
    const options = {
      recorder,
      host,
      port,
      version,
      allow_hosts,
      limits,
      tls,
      inspect,
      logger: logger.logger,
      watches: isWatching,
    };
    const serving = await serve(options).catch((error: unknown) => {
      throw toListenFailure(error, host, port);
    });
    logger.logger.level = isVerbose ? "debug" : "info";
    await keepSeals({ recorder, data, logger });
    if (isWatching) await keepWatch(recorder, logger);
    await announce({ serving, recorder, settings, version, pane: err, logger });
    if (tls === undefined && !isLoopback(host))
      logger.logger.warn("keys are sent unencrypted; set --tls-cert and --tls-key");
    await close({ signal: await stop, serving, pane: err, logger });
  } finally {
    await recorder.close();
    logger.flush();
  }
  return exitStatus.done;
}

/** Fails if the server could not listen there. */
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

/** A new store has no keys, so it is created only for a server that this machine alone can reach. */
async function openServed(
  settings: Invocation["settings"],
  beyond: string | undefined,
  onWait: (fault: Fault) => void,
): Promise<Recorder> {
  const { data, mask, redact, seal_key, prices } = settings;
  if (isServerAddress(data)) throw alreadyServed();
  try {
    return await openRecorder({ data, mask, redact, seal_key, prices, create: beyond === undefined, onWait });
  } catch (error) {
    const isMissing = error instanceof Fault && error.code === "store_missing";
    throw isMissing && beyond !== undefined ? beyondLoopback(beyond) : error;
  }
}

function alreadyServed(): WrongUse {
  const message = "--data names a server, whose record is served already";
  const hint = "Name a folder or a database with --data.";
  return new WrongUse({ code: "setting_invalid", field: "--data", message, hint });
}

/** A store in memory needs no seals. */
async function keepSeals(options: {
  readonly recorder: Recorder;
  readonly data: string;
  readonly logger: Logger;
}): Promise<void> {
  const { recorder, data, logger } = options;
  if (data === "memory:") return;
  const onTrouble = (error: unknown): void => logger.logger.warn({ reason: reasonOf(error) }, "cannot write a seal");
  await recorder.keepSeals({ onTrouble });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Watches the folders of known tools, and logs what could not be read. */
async function keepWatch(recorder: Recorder, { logger }: Logger): Promise<void> {
  await recorder.watchFiles([], {
    onFile: ({ file, format, added, rejected }) =>
      logger.info({ file, format, added, rejected }, "read a watched file"),
    onRejected: ({ file, line, reason }) => logger.warn({ file, line, reason }, "rejected a line of a watched file"),
    onTrouble: (reason) => logger.warn({ reason }, "watching files"),
  });
}

/** Collects the values of an option that may be repeated. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Reads the certificate and its key, and checks that they can be used together. */
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
    const hint = "Both must be PEM files, and the key must belong to the certificate.";
    throw new Failed({ code: "tls_unusable", field: "--tls-cert", message, hint });
  }
  return tls;
}

/** The first signal asks for an orderly shutdown, the second one exits at once. */
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
    const hint = "Another Hansard may be running there. Choose another port with --port or HANSARD_PORT.";
    return new Failed({ code: "port_in_use", field: "--port", message: `${where} is in use`, hint });
  }
  if (code === "EACCES") {
    const hint = "Ports below 1024 need privileges; choose another with --port.";
    return new Failed({ code: "port_refused", field: "--port", message: `no permission to use ${where}`, hint });
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

/** Undefined if the keys cannot be read: the server runs anyway, and the banner says so. */
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
  if (pane.isTerminal) pane.write(pane.colours.dim("\n  Finishing open requests …\n"));
  else logger.logger.info({ signal }, "closing");
  const late = setTimeout(() => {
    logger.logger.warn("open requests were cut off");
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
