// The thread that writes to the log. It takes everything in its queue as one transaction, so one fsync serves all.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { SqliteLog } from "../engines/sqlite/log.js";
import { packOutcomes, unpackUnits } from "./packing.js";
import { settled, type ThreadAnswer, type ThreadRequest, toFailure } from "./thread.js";

const options = workerData as { readonly path: string };
/** Packed units travel without a wrapper: they are most of the traffic. */
type Message = Uint8Array | ThreadRequest;
const port = parentPort as MessagePort;
let log: SqliteLog | undefined;

function answer(message: ThreadAnswer): void {
  port.postMessage(message);
}

/** Takes everything that has arrived since. */
function takeRest(): readonly Message[] {
  const messages: Message[] = [];
  for (;;) {
    const received = receiveMessageOnPort(port) as { readonly message: Message } | undefined;
    if (received === undefined) return messages;
    messages.push(received.message);
  }
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

/** Opening is a call, so a store that cannot be opened is an answer and not a dead thread. */
async function perform(request: ThreadRequest): Promise<void> {
  if (request.method === "open") log = SqliteLog.open({ path: options.path, mode: "write" });
  else if (request.method === "finishCheckpoint") log?.finishCheckpoint();
  else if (request.method === "close") {
    await log?.close();
    await settled();
  } else throw new Error(`unknown call ${request.method}`);
}

async function serve(request: ThreadRequest): Promise<void> {
  try {
    answer({ call: request.call, result: await perform(request) });
  } catch (error) {
    answer({ call: request.call, failure: toFailure(error) });
  }
  if (request.method === "close") port.close();
}

port.on("message", (first: Message) => {
  const messages = [first, ...takeRest()];
  appendTogether(messages.filter((message) => message instanceof Uint8Array));
  for (const message of messages) if (!(message instanceof Uint8Array)) void serve(message);
});
