// Bodies of the log: stored whole or in parts, and erased together with the parts that nothing else uses.

import { IN_PARTS, PLAIN } from "../../log/log-row.js";
import type { AppendUnit, Orphan } from "../../log/port.js";
import { PARTED_BYTES_MIN } from "../parts/splitting.js";
import type { Database, Statement } from "./driver.js";
import { ERASED, PARTS_VERSION } from "./log-schema.js";
import { versionOf } from "./migrations.js";
import { Parts, PartUsage } from "./parts.js";

export class LogBodies {
  readonly #db: Database;
  readonly #partedBytesMin: number;
  /** Prepared on first use: most connections never need them, and older files have no such table. */
  #prepared: Parts | undefined;
  #erasing: { readonly inParts: Statement; readonly blank: Statement } | undefined;
  /** Erased in this transaction; may have used parts. */
  #erased: Buffer[] = [];

  constructor(db: Database, partedBytesMin = PARTED_BYTES_MIN) {
    this.#db = db;
    this.#partedBytesMin = partedBytesMin;
  }

  /** Whether one of these is stored in parts, which needs a transaction. */
  areParted(units: readonly AppendUnit[]): boolean {
    return units.some((unit) => unit.some(({ body }) => body.byteLength >= this.#partedBytesMin));
  }

  /** The encoding of a body, and the bytes to store. */
  encode(body: Uint8Array): readonly [encoding: number, bytes: Uint8Array] {
    const taken = body.byteLength >= this.#partedBytesMin ? this.#parts().split(body) : undefined;
    return taken === undefined ? [PLAIN, body] : [IN_PARTS, taken];
  }

  join(taken: Buffer, before: Buffer): Buffer {
    return this.#parts().join(taken, before);
  }

  /** Overwrites a body in place; its parts are released at the end of the transaction. */
  erase(position: number): void {
    this.#erasing ??= {
      inParts: this.#db.prepare(`SELECT body FROM bodies WHERE position = ? AND encoding = ${IN_PARTS}`).pluck(),
      blank: this.#db.prepare(`UPDATE bodies SET salt = zeroblob(length(salt)), encoding = ${ERASED},
        body = zeroblob(length(body)) WHERE position = ? AND encoding <> ${ERASED}`),
    };
    const taken = this.#erasing.inParts.get(position) as Buffer | undefined;
    if (taken !== undefined) this.#erased.push(taken);
    this.#erasing.blank.run(position);
  }

  /** Call it at the end of a transaction that may have erased: parts go with the last body that uses them. */
  release(): void {
    const erased = this.#erased;
    this.#erased = [];
    if (erased.length > 0) this.#usage().release(erased);
  }

  /** Call it after a rollback. */
  forgetErased(): void {
    this.#erased = [];
  }

  findOrphan(): Orphan | undefined {
    return versionOf(this.#db) < PARTS_VERSION ? undefined : this.#atOnce(() => this.#usage().findOrphan());
  }

  /** Positions that share parts with this entry, itself included; none if it is stored whole. */
  positionsSharing(position: number): readonly number[] {
    if (versionOf(this.#db) < PARTS_VERSION) return [];
    return this.#atOnce(() => {
      const sql = `SELECT body FROM bodies WHERE position = ? AND encoding = ${IN_PARTS}`;
      const taken = this.#db.prepare(sql).pluck().get(position) as Buffer | undefined;
      return taken === undefined ? [] : this.#usage().positionsSharing(taken);
    });
  }

  /** Runs several statements on one snapshot. */
  #atOnce<T>(work: () => T): T {
    this.#db.exec("BEGIN");
    try {
      return work();
    } finally {
      this.#db.exec("COMMIT");
    }
  }

  #usage(): PartUsage {
    return new PartUsage(this.#db, this.#parts());
  }

  #parts(): Parts {
    this.#prepared ??= new Parts(this.#db);
    return this.#prepared;
  }
}
