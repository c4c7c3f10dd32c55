// Shared parts of bodies, each stored once: the rows they are in, and which bodies use them.

import { IN_PARTS } from "../../log/log-row.js";
import type { Orphan } from "../../log/port.js";
import { itemAt } from "../../model/item-at.js";
import { DIGEST_BYTES, PartDigests } from "../parts/cutting.js";
import {
  collectUsedParts,
  hasMatchingDigest,
  joinParts,
  type Loaded,
  MISSING,
  type PartSource,
  type UsedParts,
} from "../parts/joining.js";
import { type PartRef, PiecesError } from "../parts/pieces.js";
import { BodySplitter, type KnownList, type PartStore } from "../parts/splitting.js";
import type { Database, Statement } from "./driver.js";
import { ERASED_PARTS, PARTS_SECRET, STALE_DIGESTS_MARK } from "./log-schema.js";

/**
 * Starts count the space that rows take in a page, so a row can end where its page does. A page of 4096 bytes has this
 * much room; a row needs some more than its bytes, the first row of a part also for digest and length.
 */
const PAGE_ROOM = 4_088;
const FIRST_ROW_ROOM = 36;
const OTHER_ROW_ROOM = 16;
/** A row is not started in less space. */
const ROW_ROOM_MIN = 96;
/** Parts this close are read together with what is between. */
const GAP_BYTES_MAX = 8 * 1024;
type LastRow = readonly [start: number, bytes: number, is_first: number];
type RowsTogether = readonly [bytes: Buffer | null, starts: string | null, lengths: string | null];

export class Parts implements PartStore, PartSource {
  readonly #sql: { readonly [name in "find" | "findList" | "last" | "insert" | "bytes" | "rows"]: Statement };
  readonly digests: PartDigests;

  constructor(db: Database) {
    const known = `digest = ? AND digest <> zeroblob(${DIGEST_BYTES})`;
    this.#sql = {
      find: db.prepare(`SELECT start FROM parts WHERE ${known}`).pluck(),
      findList: db.prepare(`SELECT start, length FROM parts WHERE ${known}`).raw(),
      last: db.prepare("SELECT start, length(bytes), digest IS NOT NULL FROM parts ORDER BY start DESC LIMIT 1").raw(),
      insert: db.prepare("INSERT INTO parts (start, digest, length, bytes) VALUES (?, ?, ?, ?)"),
      bytes: db.prepare("SELECT bytes FROM parts WHERE start = ?").pluck(),
      // SQLite joins rows in a fraction of the time that a buffer for each takes.
      rows: db
        .prepare(`SELECT CAST(group_concat(CAST(bytes AS TEXT), '') AS BLOB), group_concat(start), group_concat(length(bytes))
          FROM (SELECT start, bytes FROM parts WHERE start >= ? AND start < ? ORDER BY start)`)
        .raw(),
    };
    const secret = db.prepare("SELECT value FROM meta WHERE name = ?").pluck().get(PARTS_SECRET) as string | undefined;
    this.digests = new PartDigests(Buffer.from(secret ?? "", "hex"));
  }

  /** What to store instead of the body; undefined to store the body itself. Needs a transaction. */
  split(body: Uint8Array): Buffer | undefined {
    return new BodySplitter(body, this.digests).split(this);
  }

  /** Joins a body, behind the given bytes; throws a `PiecesError` if something is missing. */
  join(taken: Buffer, before: Buffer): Buffer {
    return joinParts(this, taken, before);
  }

  /** The bytes of one part. */
  bytesOf(ref: PartRef): Buffer {
    const row = this.#sql.bytes.get(ref.start) as Buffer | undefined;
    if (row?.length === ref.bytes) return row;
    const { bytes, from } = this.load([ref]).get(ref.start) as Loaded;
    return bytes.subarray(from, from + ref.bytes);
  }

  findText(digest: Buffer): number | undefined {
    return this.#sql.find.get(digest) as number | undefined;
  }

  findList(digests: readonly Buffer[]): KnownList {
    for (let items = digests.length; items > 0; items -= 1) {
      const row = this.#sql.findList.get(itemAt(digests, items - 1)) as
        | readonly [start: number, length: number]
        | undefined;
      if (row !== undefined) return { items, ref: { form: "list", start: row[0], bytes: row[1] } };
    }
    return { items: 0, ref: undefined };
  }

  add({ digest, bytes }: { readonly digest: Buffer; readonly bytes: Buffer }): number {
    const [last, lastBytes, isLastFirst] = (this.#sql.last.get() as LastRow | undefined) ?? [0, 0, 0];
    const first = lastBytes === 0 ? 0 : nextStart(last, lastBytes, isLastFirst === 1);
    let start = first;
    for (let used = 0; used < bytes.length; ) {
      const isFirst = used === 0;
      const room = PAGE_ROOM - (start % PAGE_ROOM) - (isFirst ? FIRST_ROW_ROOM : OTHER_ROW_ROOM);
      const row = bytes.subarray(used, used + room);
      this.#sql.insert.run(start, isFirst ? digest : null, isFirst ? bytes.length : null, row);
      used += row.length;
      start = nextStart(start, row.length, isFirst);
    }
    return first;
  }

  /** Loads these texts, by start. */
  load(refs: readonly PartRef[]): ReadonlyMap<number, Loaded> {
    const found = new Map<number, Loaded>();
    const sorted = refs.toSorted((left, right) => left.start - right.start);
    for (let first = 0; first < sorted.length; ) {
      let end = endOf(itemAt(sorted, first));
      let next = first + 1;
      for (; next < sorted.length && itemAt(sorted, next).start <= end + GAP_BYTES_MAX; next += 1) {
        end = Math.max(end, endOf(itemAt(sorted, next)));
      }
      const [bytes, starts, lengths] = this.#sql.rows.get(itemAt(sorted, first).start, end) as RowsTogether;
      if (bytes === null) throw new PiecesError(MISSING);
      const rows = { bytes, starts: numbersOf(starts), lengths: numbersOf(lengths) };
      let [nth, from] = [0, 0];
      for (const ref of sorted.slice(first, next)) {
        for (; nth < rows.starts.length && itemAt(rows.starts, nth) < ref.start; nth += 1) {
          from += itemAt(rows.lengths, nth);
        }
        assertWhole(rows, nth, ref);
        found.set(ref.start, { bytes, from });
      }
      first = next;
    }
    return found;
  }
}

function numbersOf(text: string | null): readonly number[] {
  return JSON.parse(`[${text ?? ""}]`) as readonly number[];
}

/** Where the next row begins. */
function nextStart(start: number, bytes: number, isFirst: boolean): number {
  const next = start + bytes + (isFirst ? FIRST_ROW_ROOM : OTHER_ROW_ROOM);
  const room = PAGE_ROOM - (next % PAGE_ROOM);
  return room < ROW_ROOM_MIN ? next + room : next;
}

/** Past the last row of a part, and possibly some others. */
function endOf({ start, bytes }: PartRef): number {
  return start + bytes + FIRST_ROW_ROOM + (1 + Math.ceil(bytes / (PAGE_ROOM / 2))) * (OTHER_ROW_ROOM + ROW_ROOM_MIN);
}

/** The rows of a part must be consecutive and have all of its bytes. */
function assertWhole(
  rows: { readonly starts: readonly number[]; readonly lengths: readonly number[] },
  first: number,
  ref: PartRef,
): void {
  let [start, left] = [ref.start, ref.bytes];
  for (let nth = first; left > 0; nth += 1) {
    const length = rows.lengths[nth] ?? 0;
    if (rows.starts[nth] !== start || length === 0) throw new PiecesError(MISSING);
    start = nextStart(start, length, nth === first);
    left -= length;
  }
  if (left < 0) throw new PiecesError(MISSING);
}

type PartHead = readonly [start: number, digest: Buffer | null, length: number | null, bytes: number, is_blank: number];

const BODIES = `SELECT position, body FROM bodies INDEXED BY bodies_in_parts WHERE encoding = ${IN_PARTS} ORDER BY position`;
const HEADS = `SELECT start, digest, length, length(bytes), bytes = zeroblob(length(bytes)) FROM parts ORDER BY start`;

export class PartUsage {
  readonly #db: Database;
  readonly #parts: Parts;

  constructor(db: Database, parts: Parts) {
    this.#db = db;
    this.#parts = parts;
  }

  /** Overwrites the parts that only these bodies used. They were erased in this same transaction. */
  release(erased: readonly Buffer[]): void {
    const unheld: UsedParts = new Map();
    for (const body of erased) collectUsedParts(this.#parts, body, unheld);
    for (const { used } of this.#usedParts()) {
      for (const start of used.keys()) unheld.delete(start);
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

  /** Positions of all bodies that use a part of this one, including itself. */
  positionsSharing(taken: Buffer): readonly number[] {
    const parts: UsedParts = new Map();
    collectUsedParts(this.#parts, taken, parts);
    const positions: number[] = [];
    for (const { position, body } of this.#bodies()) {
      const used: UsedParts = new Map();
      collectUsedParts(this.#parts, body, used);
      if ([...used.keys()].some((start) => parts.has(start))) positions.push(position);
    }
    return positions;
  }

  /** Parts that no entry uses, leftovers of erased parts, and parts with a wrong digest. */
  findOrphan(): Orphan | undefined {
    const all: UsedParts = new Map();
    const firstUsers = new Map<number, number>();
    for (const { position, used } of this.#usedParts()) {
      for (const [start, part] of used) {
        all.set(start, part);
        if (!firstUsers.has(start)) firstUsers.set(start, position);
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
        return { position: 0, reason: `no entry uses the stored part at ${start}` };
      }
      if (digest !== null && part !== undefined && !hasMatchingDigest(filing, { part, digest }, digestAt)) {
        return {
          position: firstUsers.get(start) as number,
          reason: "a part of its body is stored under a wrong digest",
        };
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

  /** The parts of each body that no earlier one used; known lists are not read again. */
  *#usedParts(): Iterable<{ readonly position: number; readonly used: UsedParts }> {
    const lists = new Set<number>();
    for (const { position, body } of this.#bodies()) {
      const used: UsedParts = new Map();
      collectUsedParts(this.#parts, body, used, lists);
      yield { position, used };
    }
  }
}
