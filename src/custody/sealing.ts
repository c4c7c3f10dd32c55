// Sealing a log and holding it against its seals, with the key that lies outside of its data.
import { Rejection } from "../model/rejection.js";
import type { Seal } from "../model/seal.js";
import type { Verification } from "../model/verification.js";
import type { EntryLog } from "../ports/entry-log.js";
import { containmentFlaw, newestSeal, parseSeals, sealFlaw, sealHead } from "./seal.js";
import { findSealKey, openSealKey } from "./seal-key.js";

export class Sealing {
  readonly #keyPath: string;
  readonly #isNamed: boolean;
  readonly #data: string;

  /** `data` is what the key must not lie in; `is_named` says that somebody chose this very key. */
  constructor(options: { readonly key_path: string; readonly is_named?: boolean; readonly data: string }) {
    this.#keyPath = options.key_path;
    this.#isNamed = options.is_named ?? false;
    this.#data = options.data;
  }

  async seal(log: EntryLog, nowMs: number): Promise<Seal> {
    const key = openSealKey(this.#keyPath, { data: this.#data });
    return sealHead(await log.head(), { key, nowMs });
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
}
