// Connects an agent to a server: what it captures is buffered, spooled to disk and delivered exactly once.
import { ClientRecorder } from "./client-recorder.js";
import { Connection } from "./connection.js";
import type { Surroundings } from "./context.js";
import { newId } from "./ids.js";
import { node } from "./node.js";
import type { Problem } from "./outcomes.js";
import { defaultRetry } from "./server-errors.js";
import { snapshot } from "./snapshot.js";
import { defaultSpoolFolder, Spool } from "./spool.js";

export interface ConnectOptions {
  /** The server's address; `HANSARD_URL`, or `http://127.0.0.1:4747`. */
  readonly url?: string | undefined;
  /** A key of scope capture; `HANSARD_KEY`. */
  readonly key?: string | undefined;
  /** Labels of everything that is captured, unless an entry brings its own. */
  readonly project?: string | undefined;
  readonly client?: string | undefined;
  /** The folder for what waits, or false for none; `hansard/spool` in the user's state folder. */
  readonly spool?: string | false | undefined;
  /** What one process spools at most: 256 MiB. Beyond it captures are dropped, and told. */
  readonly spool_bytes_max?: number | undefined;
  /** What waits in memory at most where nothing can be spooled: 16 MiB. */
  readonly memory_bytes_max?: number | undefined;
  /** How long captures are gathered before they are sent: 50 ms. */
  readonly linger_ms?: number | undefined;
  /** How long it waits before it tries again: from 250 ms to 30 s, doubling, with jitter. */
  readonly retry_ms_min?: number | undefined;
  readonly retry_ms_max?: number | undefined;
  /** How often it looks for what processes that are gone left in the spool: every minute. */
  readonly adopt_ms?: number | undefined;
  /** How long an answer may take: 30 s. */
  readonly timeout_ms?: number | undefined;
  /** How long a natural end of the process waits for the server: 1 s. */
  readonly end_ms_max?: number | undefined;
  /** Hears what went wrong, and what was lost by it; by default a line on stderr. */
  readonly onProblem?: ((problem: Problem) => void) | undefined;
}

const MIB = 1024 * 1024;

/** Throws only where the address is none; nothing that is captured ever does. */
export function connectRecorder(options: ConnectOptions | string = {}): ClientRecorder {
  const given = typeof options === "string" ? { url: options } : options;
  const env = node?.process.env ?? {};
  const address = given.url ?? env.HANSARD_URL ?? "http://127.0.0.1:4747";
  const url = entriesAddress(address);
  const client_run = newId(Date.now());
  const onProblem = given.onProblem ?? tellOnStderr;
  const key = given.key ?? (env.HANSARD_KEY || undefined);
  const base = url.href.slice(0, -"/entries".length);
  const connection = new Connection({ address: base, key, keeps_process_alive: false, sockets_max: 1 });
  return new ClientRecorder({
    client_run,
    labels: snapshot({ project: given.project, client: given.client }) as Surroundings,
    sender: { connection, timeout_ms: given.timeout_ms ?? 30_000 },
    spool: openSpool({ ...given, onProblem }, { address: url.href, client_run }),
    memory_bytes_max: given.memory_bytes_max ?? 16 * MIB,
    linger_ms: given.linger_ms ?? 50,
    retry_ms_min: given.retry_ms_min ?? defaultRetry.retry_ms_min,
    retry_ms_max: given.retry_ms_max ?? defaultRetry.retry_ms_max,
    adopt_ms: given.adopt_ms ?? 60_000,
    end_ms_max: given.end_ms_max ?? 1_000,
    onProblem,
  });
}

function entriesAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`url is not the address of a server: ${address}; give for example http://127.0.0.1:4747`);
  }
  return new URL("entries", url.href.endsWith("/") ? url : `${url.href}/`);
}

/** Where no folder can be made, what waits is kept in memory. */
function openSpool(
  { spool, spool_bytes_max, onProblem }: ConnectOptions & { readonly onProblem: (problem: Problem) => void },
  owner: { readonly address: string; readonly client_run: string },
): Spool | undefined {
  if (node === undefined || spool === false) return undefined;
  try {
    const folder = spool ?? defaultSpoolFolder(node);
    return new Spool(node, { ...owner, folder, bytes_max: spool_bytes_max ?? 256 * MIB });
  } catch (error) {
    const message = `the spool cannot be used: ${error instanceof Error ? error.message : error}`;
    onProblem({ code: "spool_failed", message, dropped: 0 });
    return undefined;
  }
}

function tellOnStderr({ code, message, dropped }: Problem): void {
  const lost = dropped === 0 ? " (nothing lost: what was captured waits, and is sent again)" : ` (${dropped} lost)`;
  console.warn(`hansard: ${code}: ${message}${lost}`);
}
