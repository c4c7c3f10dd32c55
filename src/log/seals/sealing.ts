// Seals a log, checks it against its seals, and keeps the newest seal while a server runs.
import type { KeyObject } from "node:crypto";
import { createHash } from "node:crypto";
import { readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { makeFolder, writeWholeFile } from "../../model/files.js";
import { Rejection } from "../../model/rejection.js";
import { displayLocation, isDatabaseAddress } from "../../model/store-location.js";
import type { Contradiction, Seal, Verification } from "../../model/verification.js";
import type { EntryLog } from "../port.js";
import { contradictionOf } from "../verify.js";
import { containmentFlaw, newestSeal, parseSeals, sealFlaw, sealHead } from "./seal.js";
import { defaultSealKeyPath, findSealKey, openSealKey } from "./seal-key.js";

export class Sealing {
  readonly #keyPath: string;
  readonly #isNamed: boolean;
  readonly #data: string;
  readonly #kept: KeptSeals;

  /** Uses the configured key, or the user's own. */
  static of({ seal_key, data }: { readonly seal_key?: string | undefined; readonly data: string }): Sealing {
    const config_home = process.env.XDG_CONFIG_HOME ?? "";
    const key_path = seal_key || defaultSealKeyPath({ home: homedir(), config_home });
    return new Sealing({ key_path, is_named: Boolean(seal_key), data });
  }

  /** `data` must not contain the key; `is_named` if the key was configured. */
  constructor(options: { readonly key_path: string; readonly is_named?: boolean; readonly data: string }) {
    this.#keyPath = options.key_path;
    this.#isNamed = options.is_named ?? false;
    this.#data = options.data;
    this.#kept = new KeptSeals(options);
  }

  async seal(log: EntryLog, nowMs: number): Promise<Seal> {
    const key = openSealKey(this.#keyPath, { data: this.#data });
    return sealHead(await log.head(), { key, nowMs });
  }

  /** What the newest kept seal says and the log no longer contains. */
  async contradiction(log: EntryLog): Promise<Contradiction | undefined> {
    const seal = this.#kept.read((await log.head()).log_id);
    if (seal === undefined || sealFlaw(seal, this.#ownKey()) !== undefined) return undefined;
    const { log_id, position, hash } = seal;
    return contradictionOf(log, [{ by: "seal", log_id, position, hash }]);
  }

  /** Seals the log, and replaces the kept seal. */
  async keep(log: EntryLog, nowMs: number): Promise<void> {
    await this.#kept.write(await this.seal(log, nowMs));
  }

  /** Accepts a log that contradicts its seal: removes that seal. */
  async accept(log: EntryLog): Promise<void> {
    if ((await this.contradiction(log)) !== undefined) this.#kept.remove((await log.head()).log_id);
  }

  /** Verifies the chain, and checks it against a given seal. */
  async against(given: unknown, log: EntryLog, walk: () => Promise<Verification>): Promise<Verification | Rejection> {
    const seals = parseSeals(given);
    if (seals instanceof Rejection) return seals;
    const seal = newestSeal(seals, (await log.head()).log_id);
    const key = findSealKey(this.#keyPath, { is_named: this.#isNamed });
    const result = await walk();
    if (!result.ok) return result;
    const reason = sealFlaw(seal, key) ?? (await containmentFlaw(log, seal));
    if (reason !== undefined) return { ok: false, position: Math.min(seal.position, result.position + 1), reason };
    const { position, sealed_at, public_key } = seal;
    return { ...result, seal: { position, sealed_at, public_key } };
  }

  /** A missing or unreadable key proves nothing about a kept seal. */
  #ownKey(): KeyObject | undefined {
    try {
      return findSealKey(this.#keyPath);
    } catch {
      return undefined;
    }
  }
}

const PLACE_CHARS = 16;

class KeptSeals {
  readonly #folder: string;
  readonly #data: string;

  constructor(options: { readonly key_path: string; readonly data: string }) {
    this.#folder = join(dirname(options.key_path), "seals");
    this.#data = options.data;
  }

  /** Undefined if missing or unreadable: who can spoil it could have deleted it as well. */
  read(log_id: string): Seal | undefined {
    try {
      const seals = parseSeals(readFileSync(this.#path(log_id), "utf8"));
      return seals instanceof Rejection ? undefined : newestSeal(seals, log_id);
    } catch {
      return undefined;
    }
  }

  async write(seal: Seal): Promise<void> {
    makeFolder(this.#folder, 0o700);
    await writeWholeFile({ path: this.#path(seal.log_id), replaces: true }, async (draft) =>
      writeFileSync(draft, `${JSON.stringify(seal)}\n`),
    );
  }

  remove(log_id: string): void {
    rmSync(this.#path(log_id), { force: true });
  }

  /** By the log's id and location: an older copy elsewhere is not a truncated log. */
  #path(log_id: string): string {
    const place = createHash("sha256").update(placeOf(this.#data)).digest("hex").slice(0, PLACE_CHARS);
    // The id comes from the log, which may contain anything.
    return join(this.#folder, `${log_id.replace(/[^A-Za-z0-9-]/g, "_").slice(0, 64)}.${place}.json`);
  }
}

function placeOf(data: string): string {
  if (isDatabaseAddress(data)) return displayLocation(data);
  try {
    return realpathSync(data);
  } catch {
    return resolve(data);
  }
}

const EVERY_MS = 10 * 60_000;

export interface SealKeepingOptions {
  readonly every_ms?: number | undefined;
  /** Called with the reason if no seal could be kept. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
}

interface SealKeepingParts {
  readonly log: EntryLog;
  readonly sealing: Sealing;
  readonly nowMs: () => number;
}

export class SealKeeping {
  readonly #parts: SealKeepingParts;
  readonly #onTrouble: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #position = 0;
  #contradiction: Contradiction | undefined;

  constructor(parts: SealKeepingParts, { every_ms = EVERY_MS, onTrouble = () => undefined }: SealKeepingOptions) {
    this.#parts = parts;
    this.#onTrouble = onTrouble;
    this.#timer = setInterval(() => void this.keep(), every_ms).unref();
  }

  /** What the first seal found said and the log did not contain: it is evidence, and is not replaced. */
  get contradiction(): Contradiction | undefined {
    return this.#contradiction;
  }

  /** Keeps a seal if anything was recorded since the last one. Failures never affect recording. */
  async keep(): Promise<void> {
    const { log, sealing, nowMs } = this.#parts;
    try {
      const { position } = await log.head();
      if (position === this.#position) return;
      this.#contradiction = await sealing.contradiction(log);
      if (this.#contradiction !== undefined) return;
      await sealing.keep(log, nowMs());
      this.#position = position;
    } catch (error) {
      this.#onTrouble(error);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.keep();
  }
}
