// The bodies of the log: as they are or in parts, and erased with what nobody else holds of them.
import type Database from "better-sqlite3";
import { IN_PARTS, PLAIN } from "../../log/log-row.js";
import type { AppendUnit, Stray } from "../../log/port.js";
import { PARTED_BYTES_MIN } from "../parts/part-taking.js";
import { ERASED, PARTS_VERSION } from "./log-schema.js";
import { versionOf } from "./migrations.js";
import { PartHolders } from "./part-holders.js";
import { Parts } from "./parts.js";

export class LogBodies {
  readonly #db: Database.Database;
  readonly #partedBytesMin: number;
  /** Prepared when they are needed first: most who open a log never are, and an older file has none. */
  #prepared: Parts | undefined;
  #erasing: { readonly inParts: Database.Statement; readonly blank: Database.Statement } | undefined;
  /** What was erased in this transaction and may have held parts. */
  #erased: Buffer[] = [];

  constructor(db: Database.Database, partedBytesMin = PARTED_BYTES_MIN) {
    this.#db = db;
    this.#partedBytesMin = partedBytesMin;
  }

  /** Whether one of these is stored in parts, and so needs a transaction. */
  areParted(units: readonly AppendUnit[]): boolean {
    return units.some((unit) => unit.some(({ body }) => body.byteLength >= this.#partedBytesMin));
  }

  /** How a body is encoded, and the bytes to store for it. */
  take(body: Uint8Array): readonly [encoding: number, bytes: Uint8Array] {
    const taken = body.byteLength >= this.#partedBytesMin ? this.#parts().take(body) : undefined;
    return taken === undefined ? [PLAIN, body] : [IN_PARTS, taken];
  }

  join(taken: Buffer, before: Buffer): Buffer {
    return this.#parts().join(taken, before);
  }

  /** Overwrites a body in place; what it held goes with the end of the transaction. */
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

  /** To be called at the end of a transaction that may have erased: parts go with the last body that held them. */
  release(): void {
    const erased = this.#erased;
    this.#erased = [];
    if (erased.length > 0) this.#holders().release(erased);
  }

  /** A transaction was undone. */
  forgetErased(): void {
    this.#erased = [];
  }

  stray(): Stray | undefined {
    return versionOf(this.#db) < PARTS_VERSION ? undefined : this.#atOnce(() => this.#holders().stray());
  }

  /** Those that hold parts of this entry, itself included; none where it is stored as it is. */
  sharing(position: number): readonly number[] {
    if (versionOf(this.#db) < PARTS_VERSION) return [];
    return this.#atOnce(() => {
      const sql = `SELECT body FROM bodies WHERE position = ? AND encoding = ${IN_PARTS}`;
      const taken = this.#db.prepare(sql).pluck().get(position) as Buffer | undefined;
      return taken === undefined ? [] : this.#holders().sharing(taken);
    });
  }

  /** Several statements that see one state of the file. */
  #atOnce<T>(work: () => T): T {
    this.#db.exec("BEGIN");
    try {
      return work();
    } finally {
      this.#db.exec("COMMIT");
    }
  }

  #holders(): PartHolders {
    return new PartHolders(this.#db, this.#parts());
  }

  #parts(): Parts {
    this.#prepared ??= new Parts(this.#db);
    return this.#prepared;
  }
}
