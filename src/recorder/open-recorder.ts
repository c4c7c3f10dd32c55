// Opens a recorder: parses its options, opens the store by address, and assembles its parts.
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { filesOf, isInProcess, isServed } from "../engines/stores.js";
import { createMask } from "../guard/masking/mask.js";
import { parseMaskValues } from "../guard/masking/registered-values.js";
import { pooledRandomBytes } from "../log/capture/draft.js";
import type { OnRecorded } from "../log/capture/recorded-hooks.js";
import { defaultSealKeyPath } from "../log/seals/seal-key.js";
import { Sealing } from "../log/seals/sealing.js";
import type { Fault } from "../model/fault.js";
import { knownOptions, optionNames } from "../model/options.js";
import { orThrow, RecorderError, reject } from "../model/rejection.js";
import { isServerAddress } from "../model/store-location.js";
import type { RebuildOptions } from "../reading/rebuild.js";
import { readPriceFile } from "../usage/price-file.js";
import { composeRecorder } from "./compose-recorder.js";
import { type EngineParts, openStoreParts, type StorePartsOptions } from "./open-store-parts.js";
import type { Recorder } from "./recorder.js";
import { connectServer } from "./remote/connect-server.js";

export interface RecorderOptions {
  /**
   * A folder, `~/.hansard` by default; a `postgres://` address, which several servers may share; `memory:` for a store
   * that is gone when it is closed; the `https://` address of a server; or the parts of a custom engine.
   */
  readonly data?: string | EngineParts;
  /** The key for a server. */
  readonly key?: string | undefined;
  /** Where the index is stored, if not with the log: a folder, or `memory:` for a new one each time. */
  readonly index?: string | undefined;
  /** Whether a missing store is created; if false, it is a fault. */
  readonly create?: boolean;
  /**
   * Values to mask, of 6 characters or more, in addition to well-known tokens, wherever entries are listed, found or
   * followed.
   */
  readonly mask?: readonly string[];
  /** `capture` masks entries before they are stored; the secrets are then stored nowhere. */
  readonly redact?: "capture" | undefined;
  /** The key that signs seals, created on first use: `hansard/seal-key.pem` in the user's configuration by default. */
  readonly seal_key?: string | undefined;
  /** A price file in LiteLLM's format for `usage`, in place of the built-in prices. */
  readonly prices?: string | undefined;
  /** When reads stop waiting for an index that is being rebuilt, and answer with `partial` instead. */
  readonly rebuild?: Partial<RebuildOptions>;
  /** Called once with the reason if a database is not up yet; it waits 30 s at most. */
  readonly onWait?: ((fault: Fault) => void) | undefined;
  /**
   * Called with the entries of each batch that this recorder has recorded, once they are on disk: kind, id, position,
   * labels and counts, never text. Capture does not wait for it; if it throws or rejects, a process warning says so,
   * once.
   */
  readonly onRecorded?: OnRecorded | undefined;
}

const recorderOptionNames = optionNames<RecorderOptions>({
  data: true,
  key: true,
  index: true,
  create: true,
  mask: true,
  redact: true,
  seal_key: true,
  prices: true,
  rebuild: true,
  onWait: true,
  onRecorded: true,
});
const rebuildOptionNames = optionNames<RebuildOptions>({ behind_max: true, wait_ms: true, newest: true });

export async function openRecorder(given: RecorderOptions = {}): Promise<Recorder> {
  return open(given, { reads_here: false });
}

/**
 * For a program that asks once and exits: it answers in this thread, since starting another takes longer than most
 * answers.
 */
export async function openForQuestion(given: RecorderOptions): Promise<Recorder> {
  return open(given, { reads_here: true });
}

async function open(given: RecorderOptions, { reads_here }: Pick<StorePartsOptions, "reads_here">): Promise<Recorder> {
  const options = knownOptions(given, recorderOptionNames);
  knownOptions(options.rebuild, rebuildOptionNames);
  const data = parseData(options.data);
  const values = orThrow(parseMaskValues(options.mask));
  const mask = createMask({ values });
  const onRecorded = parseHook(options.onRecorded);
  const prices = options.prices === undefined ? undefined : orThrow(await readPriceFile(options.prices));
  const redact = isRedacting(options) ? mask : undefined;
  if (typeof data === "string" && isServerAddress(data)) {
    const bookmarks = redact === undefined ? bookmarksOf(data) : undefined;
    return connectServer({ address: data, key: options.key, mask, redact, prices, bookmarks, onRecorded });
  }
  const place = typeof data === "string" ? data : "memory:";
  const guarded = {
    writeContext: { nowMs: Date.now, randomBytes: pooledRandomBytes() },
    sealing: Sealing.of({ seal_key: options.seal_key, data: place }),
    mask,
    redact,
  };
  const { rebuild, create = true, onWait } = options;
  const mode = create ? "create" : "write";
  const index = options.index === undefined || options.index === "" ? undefined : parseIndex(options.index);
  const reads = { rebuild, prices, onWait, reads_here };
  const parts = await openStoreParts({ data, index, mode, mask, mask_values: values, ...reads });
  const bookmarks = redact === undefined ? bookmarksOf(place) : undefined;
  return composeRecorder({ ...guarded, ...parts, bookmarks, onRecorded });
}

/**
 * Next to the store, or with the seal key if the store is a database or a server. Text that is masked before it is
 * stored must not be on disk unmasked, and bookmarks contain some of it: then they are kept in memory.
 */
function bookmarksOf(place: string): string | undefined {
  if (isInProcess(place)) return undefined;
  const config_home = process.env.XDG_CONFIG_HOME ?? "";
  return filesOf(place)?.watch ?? join(dirname(defaultSealKeyPath({ home: homedir(), config_home })), "watch.db");
}

function parseData(data: unknown): string | EngineParts {
  if (data === undefined || data === "") return join(homedir(), ".hansard");
  if (isEngineParts(data)) return data;
  return parseAddress("data", data);
}

/** A database keeps the index of its own log only. */
function parseIndex(given: unknown): string {
  const address = parseAddress("index", given);
  if (isInProcess(address) || filesOf(address) !== undefined) return address;
  const hint = "Give the path of a folder, or memory:.";
  const message = "index must be a folder or memory:, not a database";
  throw new RecorderError({ code: "field_invalid", field: "index", message, hint });
}

/** A path is used as it is; an address with an unknown scheme is not a path, although a folder could have that name. */
function parseAddress(field: "data" | "index", address: unknown): string {
  const hint = "Give the path of a folder, or the postgres:// address of a database or https:// of a server.";
  if (typeof address !== "string") {
    throw new RecorderError({ code: "field_invalid", field, message: `${field} must be a text`, hint });
  }
  if (isServed(address)) return address;
  const message = `${field} is an unsupported address: ${address.slice(0, address.indexOf(":") + 3)}…`;
  throw new RecorderError({ code: "field_invalid", field, message, hint });
}

/** Checks only that they look like parts; what they do is tested by the conformance suite. */
function isEngineParts(data: unknown): data is EngineParts {
  const { log, index, keys } = (data ?? {}) as { readonly [part: string]: { readonly [method: string]: unknown } };
  const methods = [log?.append, index?.apply ?? index?.look, keys?.lookUp];
  return typeof data === "object" && methods.every((method) => typeof method === "function");
}

function parseHook(hook: unknown): OnRecorded | undefined {
  if (hook === undefined || typeof hook === "function") return hook as OnRecorded | undefined;
  throw new RecorderError({ code: "field_invalid", field: "onRecorded", message: "onRecorded must be a function" });
}

function isRedacting({ redact }: RecorderOptions): boolean {
  if (redact === undefined || redact === "capture") return redact === "capture";
  throw new RecorderError(reject({ code: "field_invalid", field: "redact", message: "redact can only be capture" }));
}
