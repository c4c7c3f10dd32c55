// The thread that writes to the log for callers who wait together. It takes everything that waits in its queue as one
// transaction, so that one fsync serves all of it.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { SqliteLog } from "../engines/sqlite/log.js";
import { ASLEEP, RINGS, settled, type ThreadAnswer, type ThreadRequest, toFailure } from "./calls.js";
import { packOutcomes } from "./packed-outcomes.js";
import { unpackUnits } from "./packed-units.js";

const options = workerData as { readonly path: string; readonly bell: Int32Array };
const port = parentPort as MessagePort;
let log: SqliteLog | undefined;

function answer(message: ThreadAnswer): void {
  port.postMessage(message);
}

interface Taken {
  /** Units to append, packed; they are the bulk of the traffic and travel without a wrapper. */
  readonly appends: readonly Uint8Array[];
  readonly requests: readonly ThreadRequest[];
}

function takeMessages(): Taken {
  const appends: Uint8Array[] = [];
  const requests: ThreadRequest[] = [];
  for (;;) {
    const received = receiveMessageOnPort(port) as { readonly message: Uint8Array | ThreadRequest } | undefined;
    if (received === undefined) return { appends, requests };
    if (received.message instanceof Uint8Array) appends.push(received.message);
    else requests.push(received.message);
  }
}

/** Sleeps until the bell rings; it counts messages, so none is missed between looking and sleeping. */
function awaitBell(seen: number): number {
  Atomics.store(options.bell, ASLEEP, 1);
  Atomics.wait(options.bell, RINGS, seen);
  Atomics.store(options.bell, ASLEEP, 0);
  return Atomics.load(options.bell, RINGS);
}

function appendTogether(appends: readonly Uint8Array[]): void {
  if (appends.length === 0) return;
  const calls = appends.map(unpackUnits);
  try {
    const outcomes = (log as SqliteLog).appendNow(calls.flatMap(({ units }) => units));
    let used = 0;
    for (const { call, units } of calls) {
      answer({ call, result: packOutcomes(outcomes.slice(used, used + units.length)) });
      used += units.length;
    }
  } catch (error) {
    for (const { call } of calls) answer({ call, failure: toFailure(error) });
  }
}

/** Opening comes first, so that a store that cannot be opened is an answer and not a dead thread. */
async function perform(request: ThreadRequest): Promise<void> {
  if (request.method === "open") log = SqliteLog.open({ path: options.path, mode: "write" });
  else if (request.method === "finishCheckpoint") log?.finishCheckpoint();
  else if (request.method === "close") {
    await log?.close();
    await settled();
  } else throw new Error(`unknown call ${request.method}`);
}

async function serve(): Promise<void> {
  let seen = 0;
  for (let open = true; open; ) {
    seen = awaitBell(seen);
    const { appends, requests } = takeMessages();
    appendTogether(appends);
    for (const request of requests) {
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
