// The thread that owns the writing connection to the log. It takes everything that waits in its queue as one
// transaction, so that one fsync serves all of it.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { SqliteLog } from "../engines/sqlite/log.js";
import type { AppendOutcome, AppendUnit } from "../ports/entry-log.js";
import { type ThreadAnswer, type ThreadRequest, toFailure } from "./calls.js";
import { type PackedUnits, unpackUnits } from "./packed-units.js";

/** How long to look for the next request before sleeping: being woken costs 30 µs, a fifth of a whole commit. */
const SPIN_MS = 0.05;

interface LogThreadOptions {
  readonly path: string;
  readonly mode: "create" | "write";
  readonly bell: Int32Array;
}

const options = workerData as LogThreadOptions;
const port = parentPort as MessagePort;
let log: SqliteLog | undefined;

function answer(message: ThreadAnswer): void {
  port.postMessage(message);
}

function takeRequests(): readonly ThreadRequest[] {
  const requests: ThreadRequest[] = [];
  for (;;) {
    const received = receiveMessageOnPort(port);
    if (received === undefined) return requests;
    requests.push(received.message as ThreadRequest);
  }
}

/** Waits for the bell; it counts requests, so none can be missed between looking and sleeping. */
function awaitBell(seen: number): number {
  const until = performance.now() + SPIN_MS;
  while (performance.now() < until) {
    const now = Atomics.load(options.bell, 0);
    if (now !== seen) return now;
  }
  Atomics.wait(options.bell, 0, seen);
  return Atomics.load(options.bell, 0);
}

function appendTogether(requests: readonly ThreadRequest[]): void {
  if (requests.length === 0) return;
  const unitsByRequest = requests.map((request) => unpackUnits(request.argument as PackedUnits));
  try {
    const outcomes = (log as SqliteLog).appendNow(unitsByRequest.flat() as readonly AppendUnit[]);
    let used = 0;
    for (const [index, request] of requests.entries()) {
      const count = (unitsByRequest[index] as readonly AppendUnit[]).length;
      answer({ call: request.call, result: outcomes.slice(used, used + count) as readonly AppendOutcome[] });
      used += count;
    }
  } catch (error) {
    for (const request of requests) answer({ call: request.call, failure: toFailure(error) });
  }
}

/** Opening comes first, so that a store that cannot be opened is an answer and not a dead thread. */
async function perform(request: ThreadRequest): Promise<unknown> {
  const { method, argument } = request;
  if (method === "open") log = SqliteLog.open(options);
  else if (method === "close") return log?.close();
  else if (method === "head") return (log as SqliteLog).head();
  else if (method === "get") return (log as SqliteLog).get(argument as readonly number[]);
  else if (method === "find") return (log as SqliteLog).find(argument as readonly string[]);
  else if (method === "read") return (log as SqliteLog).read(argument as { after: number; limit: number });
  else throw new Error(`unknown call ${method}`);
  return undefined;
}

async function serve(): Promise<void> {
  let seen = 0;
  for (let open = true; open; ) {
    seen = awaitBell(seen);
    const requests = takeRequests();
    appendTogether(requests.filter((request) => request.method === "append"));
    for (const request of requests) {
      if (request.method === "append") continue;
      try {
        answer({ call: request.call, result: await perform(request) });
      } catch (error) {
        answer({ call: request.call, failure: toFailure(error) });
      }
      if (request.method === "close") open = false;
    }
  }
  port.close();
}

void serve();
