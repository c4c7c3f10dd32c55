// The thread that fills the index and answers reads, for every engine.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { openStore } from "../engines/stores.js";
import { createMask } from "../guard/masking/mask.js";
import { AlteredNote, notingAltered } from "../log/altered-note.js";
import { leaseOf } from "../model/lease.js";
import { calls } from "../operations/calls.js";
import { operationList } from "../operations/index.js";
import { type Readers, readersOf } from "../operations/readers.js";
import { BackgroundIndexer, LocalReading } from "../reading/local-reading.js";
import { purgeFile } from "./purging.js";
import {
  type Asked,
  givenAway,
  type ReadThreadOptions,
  settled,
  type ThreadAnswer,
  type ThreadRequest,
  toFailure,
} from "./thread.js";

const scanningTexts: ReadonlySet<string> = new Set(
  operationList.filter(({ scans_texts }) => scans_texts === true).map(({ name }) => name),
);

const options = workerData as ReadThreadOptions;
const port = parentPort as MessagePort;

let reading: LocalReading<Readers> | undefined;
let following: BackgroundIndexer | undefined;
let purging: Promise<string | undefined> | undefined;

async function open(): Promise<void> {
  const store = await openStore({ address: options.data, mode: "read", waits: false });
  const indexStore =
    options.index === undefined ? store : await openStore({ address: options.index, mode: "read", waits: false });
  const files = indexStore.files;
  reading = new LocalReading({
    calls,
    readersOf: (parts) => readersOf({ ...parts, prices: options.prices }),
    log: notingAltered(await store.log("read"), new AlteredNote(options.altered)),
    index: await indexStore.index(),
    mask: createMask({ values: options.mask }),
    rebuild: options.rebuild,
    // It may have to rewrite the whole file, which would block reads here.
    purge: files === undefined ? undefined : () => purgeElsewhere(files.index),
  });
  // Servers on one database leave indexing to one of them. With files, each process keeps the newest texts to itself,
  // so all of them index.
  const lease = files === undefined ? leaseOf(indexStore.leases(), "indexer") : undefined;
  following = new BackgroundIndexer({ follower: reading, lease });
  // Entries from before this thread started were not announced.
  following.noteGrowth();
}

/** Concurrent requests share one purge. */
function purgeElsewhere(path: string): Promise<string | undefined> {
  purging ??= purgeFile({ file: "index", path }).finally(() => {
    purging = undefined;
  });
  return purging;
}

async function perform({ method, argument }: ThreadRequest): Promise<unknown> {
  if (method === "open") return open();
  if (method === "close") {
    await following?.close();
    await reading?.close();
    return settled();
  }
  if (method !== "ask") throw new Error(`unknown call ${method}`);
  const { name, query, form } = argument as Asked;
  if (scanningTexts.has(name)) following?.noteSearch();
  return (reading as LocalReading<Readers>).ask(name, query, form);
}

/** The bytes of a large entry: copying would happen in the receiving thread, which everybody waits for. */
function givenIn(result: unknown): readonly ArrayBuffer[] {
  return result instanceof Uint8Array ? givenAway(result) : [];
}

port.on("message", async (request: ThreadRequest) => {
  if (request.method === "grown") return following?.noteGrowth();
  try {
    const result = await perform(request);
    port.postMessage({ call: request.call, result } satisfies ThreadAnswer, givenIn(result));
  } catch (error) {
    port.postMessage({ call: request.call, failure: toFailure(error) } satisfies ThreadAnswer);
  }
});
