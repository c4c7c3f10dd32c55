// The parts of bodies, each kept once: the rows that they lie in.

import type Database from "better-sqlite3";
import { itemAt } from "../../model/item-at.js";
import { DIGEST_BYTES, PartDigests } from "../parts/part-digests.js";
import { joinParts, type Loaded, MISSING, type PartSource } from "../parts/part-joining.js";
import { type KnownList, type PartShelf, PartTaking } from "../parts/part-taking.js";
import { type PartRef, PiecesFlaw } from "../parts/pieces.js";
import { PARTS_SECRET } from "./log-schema.js";

/**
 * Starts count what rows take of a page, so that a row can end where its page does. A page of 4096 bytes has this much for rows,
 * and a row takes so much beside its bytes, the first of a part with its digest and length.
 */
const PAGE_ROOM = 4_088;
const FIRST_ROW_ROOM = 36;
const OTHER_ROW_ROOM = 16;
/** No row is begun in less. */
const ROW_ROOM_MIN = 96;
/** Parts so near to each other are read in one go with what lies between. */
const GAP_BYTES_MAX = 8 * 1024;
type LastRow = readonly [start: number, bytes: number, is_first: number];
type RowsTogether = readonly [bytes: Buffer | null, starts: string | null, lengths: string | null];

export class Parts implements PartShelf, PartSource {
  readonly #sql: { readonly [name in "find" | "findList" | "last" | "insert" | "bytes" | "rows"]: Database.Statement };
  readonly digests: PartDigests;

  constructor(db: Database.Database) {
    const known = `digest = ? AND digest <> zeroblob(${DIGEST_BYTES})`;
    this.#sql = {
      find: db.prepare(`SELECT start FROM parts WHERE ${known}`).pluck(),
      findList: db.prepare(`SELECT start, length FROM parts WHERE ${known}`).raw(),
      last: db.prepare("SELECT start, length(bytes), digest IS NOT NULL FROM parts ORDER BY start DESC LIMIT 1").raw(),
      insert: db.prepare("INSERT INTO parts (start, digest, length, bytes) VALUES (?, ?, ?, ?)"),
      bytes: db.prepare("SELECT bytes FROM parts WHERE start = ?").pluck(),
      // SQLite puts rows together in a fraction of the time that a buffer for each of them takes.
      rows: db
        .prepare(`SELECT CAST(group_concat(CAST(bytes AS TEXT), '') AS BLOB), group_concat(start), group_concat(length(bytes))
          FROM (SELECT start, bytes FROM parts WHERE start >= ? AND start < ? ORDER BY start)`)
        .raw(),
    };
    const secret = db.prepare("SELECT value FROM meta WHERE name = ?").pluck().get(PARTS_SECRET) as string | undefined;
    this.digests = new PartDigests(Buffer.from(secret ?? "", "hex"));
  }

  /** What to store in the body's place; undefined where that is the body itself. Needs a transaction. */
  take(body: Uint8Array): Buffer | undefined {
    return new PartTaking(body, this.digests).take(this);
  }

  /** The body that was taken apart, behind what it is to follow; throws a `PiecesFlaw` where something of it is lost. */
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
      const row = this.#sql.findList.get(digests[items - 1]) as readonly [start: number, length: number] | undefined;
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

  /** Where each of these texts lies, by its start. */
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
      if (bytes === null) throw new PiecesFlaw(MISSING);
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

/** Where the row after one begins. */
function nextStart(start: number, bytes: number, isFirst: boolean): number {
  const next = start + bytes + (isFirst ? FIRST_ROW_ROOM : OTHER_ROW_ROOM);
  const room = PAGE_ROOM - (next % PAGE_ROOM);
  return room < ROW_ROOM_MIN ? next + room : next;
}

/** Beyond the last row of a part, and perhaps a few others. */
function endOf({ start, bytes }: PartRef): number {
  return start + bytes + FIRST_ROW_ROOM + (1 + Math.ceil(bytes / (PAGE_ROOM / 2))) * (OTHER_ROW_ROOM + ROW_ROOM_MIN);
}

/** The rows of a part follow each other, and its bytes with them. */
function assertWhole(
  rows: { readonly starts: readonly number[]; readonly lengths: readonly number[] },
  first: number,
  ref: PartRef,
): void {
  let [start, left] = [ref.start, ref.bytes];
  for (let nth = first; left > 0; nth += 1) {
    const length = rows.lengths[nth] ?? 0;
    if (rows.starts[nth] !== start || length === 0) throw new PiecesFlaw(MISSING);
    start = nextStart(start, length, nth === first);
    left -= length;
  }
  if (left < 0) throw new PiecesFlaw(MISSING);
}
