// Sealing a log and holding it against its seals, with the key that lies outside of its data.
import type { KeyObject } from "node:crypto";
import { homedir } from "node:os";
import { Rejection } from "../../model/rejection.js";
import type { Contradiction, Seal, Verification } from "../../model/verification.js";
import { contradictionOf } from "../evidence.js";
import type { EntryLog } from "../port.js";
import { KeptSeals } from "./kept-seals.js";
import { containmentFlaw, newestSeal, parseSeals, sealFlaw, sealHead } from "./seal.js";
import { defaultSealKeyPath, findSealKey, openSealKey } from "./seal-key.js";

export class Sealing {
  readonly #keyPath: string;
  readonly #isNamed: boolean;
  readonly #data: string;
  readonly #kept: KeptSeals;

  /** With the key that was named, or the user's own. */
  static of({ seal_key, data }: { readonly seal_key?: string | undefined; readonly data: string }): Sealing {
    const config_home = process.env.XDG_CONFIG_HOME ?? "";
    const key_path = seal_key || defaultSealKeyPath({ home: homedir(), config_home });
    return new Sealing({ key_path, is_named: Boolean(seal_key), data });
  }

  /** `data` is what the key must not lie in; `is_named` says that somebody chose this very key. */
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

  /** What the newest seal that was kept of this log says, and the log no longer holds. */
  async contradiction(log: EntryLog): Promise<Contradiction | undefined> {
    const seal = this.#kept.read((await log.head()).log_id);
    if (seal === undefined || sealFlaw(seal, this.#ownKey()) !== undefined) return undefined;
    const { log_id, position, hash } = seal;
    return contradictionOf(log, [{ by: "seal", log_id, position, hash }]);
  }

  /** Seals the log and keeps that in the place of the seal before. */
  async keep(log: EntryLog, nowMs: number): Promise<void> {
    await this.#kept.write(await this.seal(log, nowMs));
  }

  /** Makes peace with a log that does not hold what was sealed: a seal that says otherwise is taken away. */
  async accept(log: EntryLog): Promise<void> {
    if ((await this.contradiction(log)) !== undefined) this.#kept.remove((await log.head()).log_id);
  }

  /** A log whose chain was walked, against a seal as it was given. */
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

  /** None that is there, or none that can be read, proves nothing about a seal that was kept. */
  #ownKey(): KeyObject | undefined {
    try {
      return findSealKey(this.#keyPath);
    } catch {
      return undefined;
    }
  }
}
