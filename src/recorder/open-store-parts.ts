// Opens the parts of a store for capture and reading, each in the thread where it belongs.

import type { LogMode, Store } from "../engines/port.js";
import { isInProcess, openStore } from "../engines/stores.js";
import type { KeyStore } from "../guard/keys.js";
import type { IndexHolder } from "../index/index-holder.js";
import type { EntryIndex } from "../index/port.js";
import { AlteredNote, notingAltered } from "../log/altered-note.js";
import type { EntryLog } from "../log/port.js";
import type { Fault } from "../model/fault.js";
import type { Mask } from "../model/mask.js";
import { calls } from "../operations/calls.js";
import { readersOf } from "../operations/readers.js";
import { LocalReading } from "../reading/local-reading.js";
import type { RebuildOptions } from "../reading/rebuild.js";
import { LocalTailSource } from "../reading/tail/read-tail.js";
import { ThreadedReading, ThreadedTailSource } from "../threads/thread.js";
import { ThreadedLog } from "../threads/threaded-log.js";
import type { PriceFile } from "../usage/price-file.js";
import type { StoreParts } from "./compose-recorder.js";

/**
 * A log, an index and a store of keys that passed `hansard/conformance`, used in the thread that opens the recorder.
 */
export interface EngineParts {
  readonly log: EntryLog;
  readonly index: EntryIndex;
  readonly keys: KeyStore;
}

export interface StorePartsOptions {
  /** The address of a store, or the parts of a custom engine. */
  readonly data: string | EngineParts;
  /** The address of the store for the index, if that is another one. */
  readonly index?: string | undefined;
  readonly mode: LogMode;
  /** Called once with the reason if it has to wait for a database. */
  readonly onWait?: ((fault: Fault) => void) | undefined;
  readonly mask: Mask;
  /** The mask's options, for threads, which create their own. */
  readonly mask_values: readonly string[];
  readonly rebuild?: Partial<RebuildOptions> | undefined;
  /** In place of the built-in prices. */
  readonly prices?: PriceFile | undefined;
  /** Whether this thread may spend its time on answers. */
  readonly reads_here?: boolean | undefined;
}

type OpenedParts = Pick<StoreParts, "log" | "altered" | "reading" | "tailSource" | "keyStore" | "growth" | "leases">;

export async function openStoreParts(options: StorePartsOptions): Promise<OpenedParts> {
  const { data, mode, onWait } = options;
  const altered = new AlteredNote();
  if (typeof data !== "string") {
    const log = notingAltered(data.log, altered);
    return { log, altered, keyStore: data.keys, ...(await readHere({ log, index: data.index }, options)) };
  }
  const store = await openStore({ address: data, mode, onWait });
  const log = notingAltered(await openWriter(store, mode), altered);
  // A store in this process's memory cannot be read from another thread.
  const isReadHere = options.reads_here || isInProcess(data);
  const reading = isReadHere
    ? await readHere({ log, index: await store.index() }, options)
    : readInThreads(data, altered, options);
  return {
    log,
    altered,
    keyStore: await store.keys(),
    growth: store.growth?.(),
    leases: () => store.leases(),
    ...reading,
  };
}

/**
 * A log in a file is written by a thread as soon as several callers wait for it: an fsync must not block the others.
 */
function openWriter(store: Store, mode: LogMode): Promise<EntryLog> {
  return store.files === undefined ? store.log(mode) : ThreadedLog.start({ path: store.files.log, mode });
}

async function readHere(
  parts: { readonly log: EntryLog; readonly index: EntryIndex | IndexHolder },
  { index: address, mask, rebuild, prices }: StorePartsOptions,
): Promise<Pick<OpenedParts, "reading" | "tailSource">> {
  const { log } = parts;
  const index = address === undefined ? parts.index : await (await openStore({ address, mode: "read" })).index();
  return {
    reading: new LocalReading({
      log,
      index,
      mask,
      rebuild,
      readersOf: (parts) => readersOf({ ...parts, prices }),
      calls,
    }),
    tailSource: new LocalTailSource(log, mask),
  };
}

function readInThreads(
  data: string,
  altered: AlteredNote,
  { index, mask_values, rebuild, prices }: StorePartsOptions,
): Pick<OpenedParts, "reading" | "tailSource"> {
  const noted = { data, mask: mask_values, altered: altered.memory };
  return {
    reading: new ThreadedReading({ ...noted, index, rebuild, prices }),
    tailSource: new ThreadedTailSource(noted),
  };
}
