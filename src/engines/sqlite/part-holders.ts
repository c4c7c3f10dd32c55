// Who holds which parts: read from the bodies and the lists themselves, since nothing beside them could be trusted to say it.
import type Database from "better-sqlite3";
import { IN_PARTS } from "../../log/log-row.js";
import type { Stray } from "../../log/port.js";
import { DIGEST_BYTES } from "../parts/part-digests.js";
import { type HeldParts, holdParts, isFiled } from "../parts/part-holding.js";
import { ERASED_PARTS, STALE_DIGESTS_MARK } from "./log-schema.js";
import type { Parts } from "./parts.js";

type PartHead = readonly [start: number, digest: Buffer | null, length: number | null, bytes: number, is_blank: number];

const BODIES = `SELECT position, body FROM bodies INDEXED BY bodies_in_parts WHERE encoding = ${IN_PARTS} ORDER BY position`;
const HEADS = `SELECT start, digest, length, length(bytes), bytes = zeroblob(length(bytes)) FROM parts ORDER BY start`;

export class PartHolders {
  readonly #db: Database.Database;
  readonly #parts: Parts;

  constructor(db: Database.Database, parts: Parts) {
    this.#db = db;
    this.#parts = parts;
  }

  /** Overwrites what these bodies held and no other holds. They are erased already, in the transaction that this is part of. */
  release(erased: readonly Buffer[]): void {
    const unheld: HeldParts = new Map();
    for (const body of erased) holdParts(this.#parts, body, unheld);
    for (const { held } of this.#holders()) {
      for (const start of held.keys()) unheld.delete(start);
      if (unheld.size === 0) return;
    }
    if (unheld.size === 0) return;
    const blank = this.#db.prepare(`UPDATE parts SET bytes = zeroblob(length(bytes)),
      digest = iif(digest IS NULL, NULL, zeroblob(${DIGEST_BYTES})) WHERE start >= :start AND start < coalesce(
        (SELECT start FROM parts WHERE start > :start AND digest IS NOT NULL ORDER BY start LIMIT 1), 9e18)`);
    let bytes = 0;
    for (const part of unheld.values()) {
      blank.run({ start: part.start });
      bytes += part.bytes;
    }
    this.#db.exec(
      `INSERT OR IGNORE INTO meta (name, value) VALUES ('${STALE_DIGESTS_MARK}', '1'), ('${ERASED_PARTS}', '0')`,
    );
    this.#db.prepare(`UPDATE meta SET value = value + ? WHERE name = '${ERASED_PARTS}'`).run(bytes);
  }

  /** The positions of those that hold a part of this body, its own included. */
  sharing(taken: Buffer): readonly number[] {
    const parts: HeldParts = new Map();
    holdParts(this.#parts, taken, parts);
    const positions: number[] = [];
    for (const { position, body } of this.#bodies()) {
      const held: HeldParts = new Map();
      holdParts(this.#parts, body, held);
      if ([...held.keys()].some((start) => parts.has(start))) positions.push(position);
    }
    return positions;
  }

  /** What lies among the parts and no entry holds, what was left of erased ones, and what is not filed under what it is. */
  stray(): Stray | undefined {
    const all: HeldParts = new Map();
    const holders = new Map<number, number>();
    for (const { position, held } of this.#holders()) {
      for (const [start, part] of held) {
        all.set(start, part);
        if (!holders.has(start)) holders.set(start, position);
      }
    }
    const filing = { source: this.#parts, digests: this.#parts.digests };
    const digestAt = (start: number): Buffer | undefined => this.#digestAt(start);
    let left = 0;
    for (const [start, digest, length, bytes, isBlank] of this.#db
      .prepare(HEADS)
      .raw()
      .iterate() as Iterable<PartHead>) {
      const part = all.get(start);
      left = (digest === null ? left : (length ?? 0)) - bytes;
      if (isBlank === 1 && part === undefined) continue;
      if (left < 0 || (digest !== null && part === undefined)) {
        return { position: 0, reason: `something lies among the parts of bodies, at ${start}, that no entry holds` };
      }
      if (digest !== null && part !== undefined && !isFiled(filing, { part, digest }, digestAt)) {
        return { position: holders.get(start) as number, reason: "a part of its body is not filed under what it is" };
      }
    }
    return undefined;
  }

  #digestAt(start: number): Buffer | undefined {
    return this.#db.prepare("SELECT digest FROM parts WHERE start = ?").pluck().get(start) as Buffer | undefined;
  }

  #bodies(): Iterable<{ readonly position: number; readonly body: Buffer }> {
    return this.#db.prepare(BODIES).iterate() as Iterable<{ readonly position: number; readonly body: Buffer }>;
  }

  /** What each body holds that was not told of one before it; a list that was told of is not looked into again. */
  *#holders(): Iterable<{ readonly position: number; readonly held: HeldParts }> {
    const lists = new Set<number>();
    for (const { position, body } of this.#bodies()) {
      const held: HeldParts = new Map();
      holdParts(this.#parts, body, held, lists);
      yield { position, held };
    }
  }
}
