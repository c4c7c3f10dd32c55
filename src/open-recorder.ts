// The composition root: opens a store and puts the parts together behind the interface of the library.
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pooledRandomBytes, type Surroundings } from "./capture/pack.js";
import { defaultSealKeyPath } from "./custody/seal-key.js";
import { Sealing } from "./custody/sealing.js";
import { MemoryIndex } from "./engines/memory/index.js";
import { MemoryLog } from "./engines/memory/log.js";
import { SqliteKeys } from "./engines/sqlite/keys.js";
import { createMask } from "./guard/masking/mask.js";
import { parseMaskValues } from "./guard/masking/registered-values.js";
import { isDatabaseAddress } from "./model/data-address.js";
import { Fault } from "./model/fault.js";
import { orThrow, RecorderError, reject } from "./model/rejection.js";
import type { Mask } from "./ports/mask.js";
import { FollowingReading } from "./reading/following.js";
import type { RebuildOptions } from "./reading/steady.js";
import { Recorder } from "./recorder.js";
import { LocalReading, ThreadedReading } from "./threads/reading.js";
import { ThreadedLog } from "./threads/threaded-log.js";
import { ThreadedTailSource } from "./threads/threaded-tail-source.js";

export interface RecorderOptions {
  /**
   * A folder, `~/.hansard` by default; a `postgres://` address, which several servers may share; or `memory:` for a store
   * that is gone when it is closed.
   */
  readonly data?: string;
  /** Whether a store that does not exist yet is made; false makes it a fault. */
  readonly create?: boolean;
  /**
   * Values of one's own, of 6 characters or more, that are masked beside well-known token shapes wherever entries are
   * listed, found or followed.
   */
  readonly mask?: readonly string[];
  /** `capture` masks entries before they are stored; what they held is then nowhere. */
  readonly redact?: "capture" | undefined;
  /** The key that seals are signed with, made on first use: `hansard/seal-key.pem` in the user's configuration by default. */
  readonly seal_key?: string | undefined;
  /** When reads stop waiting for an index that is being rebuilt, and answer with `partial` instead. */
  readonly rebuild?: Partial<RebuildOptions>;
}

export async function openRecorder(options: RecorderOptions = {}): Promise<Recorder> {
  const data = options.data === undefined || options.data === "" ? join(homedir(), ".hansard") : options.data;
  if (typeof data !== "string") {
    const hint = "Give the path of a folder, or a postgres:// address.";
    throw new RecorderError({ code: "field_invalid", field: "data", message: "data must be a text", hint });
  }
  const values = orThrow(parseMaskValues(options.mask));
  const mask = createMask({ values });
  const surroundings: Surroundings = { nowMs: Date.now, randomBytes: pooledRandomBytes() };
  const config_home = process.env.XDG_CONFIG_HOME ?? "";
  const key_path = options.seal_key || defaultSealKeyPath({ home: homedir(), config_home });
  const guarded = {
    surroundings,
    sealing: new Sealing({ key_path, is_named: Boolean(options.seal_key), data }),
    mask,
    ...(isRedacting(options) ? { redact: mask } : {}),
  };
  if (data === "memory:") {
    const log = new MemoryLog();
    return new Recorder({ ...guarded, log, reading: new LocalReading({ log, index: new MemoryIndex(), mask }) });
  }
  if (isDatabaseAddress(data)) return openShared(data, options.create !== false, guarded);
  const path = join(data, "log.db");
  const index_path = join(data, "index.db");
  refuseEmptied(path, index_path);
  const log = await ThreadedLog.open({ path, mode: options.create === false ? "write" : "create" });
  const reading = new ThreadedReading({ log_path: path, index_path, mask: values, rebuild: options.rebuild });
  return new Recorder({
    ...guarded,
    log,
    reading,
    keyStore: new SqliteKeys({ path: join(data, "keys.db") }),
    tailSource: new ThreadedTailSource({ log_path: path, mask: values }),
  });
}

/** Several servers on one database; its driver is loaded only here. */
async function openShared(address: string, create: boolean, guarded: Guarded): Promise<Recorder> {
  const { openPostgres } = await import("./engines/postgres/store.js");
  const { log, index, lease, growth, keys } = await openPostgres({ address, create });
  const reading = new FollowingReading({ log, index, lease, mask: guarded.mask });
  return new Recorder({ ...guarded, log, reading, growth, keyStore: keys });
}

/** What every recorder is given, whatever its engine. */
interface Guarded {
  readonly surroundings: Surroundings;
  readonly sealing: Sealing;
  readonly mask: Mask;
  readonly redact?: Mask;
}

function isRedacting({ redact }: RecorderOptions): boolean {
  if (redact === undefined || redact === "capture") return redact === "capture";
  throw new RecorderError(reject({ code: "field_invalid", field: "redact", message: "redact can only be capture" }));
}

/** An empty log beside an index that remembers one was lost; taking it for a new one would hide that. */
function refuseEmptied(log: string, index: string): void {
  const sizeOf = (path: string): number | undefined => (existsSync(path) ? statSync(path).size : undefined);
  if (sizeOf(log) !== 0 || (sizeOf(index) ?? 0) === 0) return;
  throw new Fault("store_corrupt", `${log} is empty, but ${index} remembers entries`, {
    hint: "Restore log.db from a copy; to start a new log, delete both files.",
  });
}
