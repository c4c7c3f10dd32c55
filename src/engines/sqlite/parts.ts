// Parts of bodies, each kept once: taken apart when an entry is appended, and put together when it is read.
import type Database from "better-sqlite3";
import { BodyCuts, type BodyList } from "../../ports/body-cuts.js";
import { type PartRef, type Piece, PiecesFlaw, PieceWriter, readPieces } from "../../ports/pieces.js";
import { DIGEST_BYTES } from "./log-schema.js";
import { PartDigests } from "./part-digests.js";

/** Smaller bodies are stored as they are: a lone capture writes no more pages for them than it must. */
export const PARTED_BYTES_MIN = 6 * 1024;
/** A list that has so many before it is written whole: each costs a look when it is read. */
const DEPTH_MAX = 64;
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
/** No body is longer, and none is put together that claims to be. */
const JOINED_BYTES_MAX = 64 * 1024 * 1024;

const NOTHING: Buffer = Buffer.alloc(0);
const TOO_LONG = "it refers to more than a body can hold";
const MISCUT = "its cuts do not meet";
const MISSING = "a part of its body is missing";

type LastRow = readonly [start: number, bytes: number, is_first: number];
type RowsTogether = readonly [bytes: Buffer | null, starts: string | null, lengths: string | null];

interface Loaded {
  readonly bytes: Buffer;
  readonly from: number;
}

export class Parts {
  readonly #sql: { readonly [name in "find" | "findList" | "last" | "insert" | "bytes" | "rows"]: Database.Statement };
  readonly #digests: PartDigests;

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
    this.#digests = new PartDigests(db);
  }

  /**
   * What to store in the body's place; undefined where nothing of it is worth to be kept apart, and a `PiecesFlaw` where it was
   * not cut into all of its bytes. Needs a transaction.
   */
  take(body: Uint8Array): Buffer | undefined {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    // Zeros stand for what was erased; JSON holds none.
    if (bytes.includes(0)) return undefined;
    const cuts = new BodyCuts(bytes);
    const pieces = new PieceWriter(0);
    let hasParts = false;
    let at = 0;
    const takeUpTo = (to: number): void => {
      if (to < at) throw new PiecesFlaw(MISCUT);
      if (this.#takeStretch({ bytes, cuts, from: at, to }, pieces)) hasParts = true;
      at = to;
    };
    for (const list of cuts.lists) {
      takeUpTo(list.from);
      pieces.add(this.#takeList(bytes, cuts, list));
      hasParts = true;
      at = list.to;
    }
    takeUpTo(bytes.length);
    return hasParts ? pieces.finish() : undefined;
  }

  /** The body that was taken apart, behind what it is to follow; throws a `PiecesFlaw` where something of it is lost. */
  join(taken: Buffer, before: Buffer): Buffer {
    return this.joined(this.#expand(taken), before);
  }

  /** The bytes of pieces without lists. */
  joined(pieces: readonly Piece[], before = NOTHING): Buffer {
    let length = before.length;
    for (const piece of pieces) length += sizeOf(piece);
    if (length > JOINED_BYTES_MAX) throw new PiecesFlaw(TOO_LONG);
    const texts = this.#load(pieces.filter((piece): piece is PartRef => !Buffer.isBuffer(piece)));
    const joined = Buffer.allocUnsafe(length);
    let at = before.copy(joined);
    for (const piece of pieces) {
      if (Buffer.isBuffer(piece)) at += piece.copy(joined, at);
      else {
        const { bytes, from } = texts.get(piece.start) as Loaded;
        at += bytes.copy(joined, at, from, from + piece.bytes);
      }
    }
    if (at !== length) throw new PiecesFlaw(MISSING);
    return joined;
  }

  /** All pieces with lists replaced by what they consist of: no list is left among them. */
  #expand(taken: Buffer): readonly Piece[] {
    const expanded: Piece[] = [];
    let length = 0;
    const add = (piece: Piece): void => {
      // What was written into the file by somebody else must not fill the memory, were it with nothing.
      length += 1 + sizeOf(piece);
      if (length > JOINED_BYTES_MAX) throw new PiecesFlaw(TOO_LONG);
      expanded.push(piece);
    };
    for (const piece of readPieces(taken).pieces) {
      if (Buffer.isBuffer(piece) || piece.form === "text") add(piece);
      else for (const one of this.#listPieces(piece)) add(one);
    }
    return expanded;
  }

  /** The bytes of one part. */
  bytesOf(ref: PartRef): Buffer {
    const row = this.#sql.bytes.get(ref.start) as Buffer | undefined;
    if (row?.length === ref.bytes) return row;
    const { bytes, from } = this.#load([ref]).get(ref.start) as Loaded;
    return bytes.subarray(from, from + ref.bytes);
  }

  /** A list begins with at most one other, which was stored before it: there is no circle and no way to branch. */
  #listPieces(last: PartRef): readonly Piece[] {
    const stretches: (readonly Piece[])[] = [];
    for (let list: PartRef | undefined = last; list !== undefined; ) {
      const { pieces } = readPieces(this.bytesOf(list));
      const [first, ...others] = pieces;
      const isLed = first !== undefined && !Buffer.isBuffer(first) && first.form === "list";
      const own = isLed ? others : pieces;
      const limit = list.start;
      if (own.some((piece) => !Buffer.isBuffer(piece) && piece.form === "list") || (isLed && first.start >= limit)) {
        throw new PiecesFlaw("a list in it does not follow another");
      }
      stretches.push(own);
      list = isLed ? first : undefined;
    }
    return stretches.toReversed().flat();
  }

  #takeStretch(
    stretch: { readonly bytes: Buffer; readonly cuts: BodyCuts; readonly from: number; readonly to: number },
    pieces: PieceWriter,
  ): boolean {
    const { bytes, cuts, from, to } = stretch;
    let hasParts = false;
    let at = from;
    for (const cut of cuts.within(from, to)) {
      // Every byte once, and in order.
      if (cut.from !== at || cut.to <= at) throw new PiecesFlaw(MISCUT);
      const piece = bytes.subarray(at, cut.to);
      pieces.add(cut.isText ? this.#takeText(piece) : piece);
      if (cut.isText) hasParts = true;
      at = cut.to;
    }
    if (at !== to) throw new PiecesFlaw(MISCUT);
    return hasParts;
  }

  #takeText(bytes: Buffer): PartRef {
    const digest = this.#digests.ofText(bytes);
    const start = (this.#sql.find.get(digest) as number | undefined) ?? this.#insert(digest, bytes);
    return { form: "text", start, bytes: bytes.length };
  }

  /** A list is told by all its items up to its end: a conversation that goes on begins with the list that it was. */
  #takeList(bytes: Buffer, cuts: BodyCuts, { from, ends }: BodyList): PartRef {
    const digests = this.#digests.ofItems(bytes, from, ends);
    let known: PartRef | undefined;
    let through = ends.length - 1;
    for (; through >= 0 && known === undefined; through -= 1) known = this.#findList(digests[through] as Buffer);
    if (known !== undefined && through === ends.length - 2) return known;
    const beginning = known === undefined ? { depth: 0, pieces: [] } : this.#continued(known);
    const pieces = new PieceWriter(beginning.depth);
    for (const piece of beginning.pieces) pieces.add(piece);
    const start = known === undefined ? from : (ends[through + 1] as number);
    this.#takeStretchOfItems({ bytes, cuts, from: start, ends }, pieces);
    const list = pieces.finish();
    const digest = digests[ends.length - 1] as Buffer;
    return { form: "list", start: this.#insert(digest, list), bytes: list.length };
  }

  #takeStretchOfItems(
    items: {
      readonly bytes: Buffer;
      readonly cuts: BodyCuts;
      readonly from: number;
      readonly ends: readonly number[];
    },
    pieces: PieceWriter,
  ): void {
    let { from } = items;
    for (const to of items.ends) {
      if (to <= from) continue;
      this.#takeStretch({ bytes: items.bytes, cuts: items.cuts, from, to }, pieces);
      from = to;
    }
  }

  #continued(known: PartRef): { readonly depth: number; readonly pieces: readonly Piece[] } {
    const { depth } = readPieces(this.bytesOf(known));
    return depth < DEPTH_MAX ? { depth: depth + 1, pieces: [known] } : { depth: 0, pieces: this.#listPieces(known) };
  }

  #findList(digest: Buffer): PartRef | undefined {
    const row = this.#sql.findList.get(digest) as readonly [start: number, length: number] | undefined;
    return row === undefined ? undefined : { form: "list", start: row[0], bytes: row[1] };
  }

  #insert(digest: Buffer, bytes: Buffer): number {
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
  #load(refs: readonly PartRef[]): ReadonlyMap<number, Loaded> {
    const found = new Map<number, Loaded>();
    const sorted = refs.toSorted((left, right) => left.start - right.start);
    for (let first = 0; first < sorted.length; ) {
      let end = endOf(sorted[first] as PartRef);
      let next = first + 1;
      for (; next < sorted.length && (sorted[next] as PartRef).start <= end + GAP_BYTES_MAX; next += 1) {
        end = Math.max(end, endOf(sorted[next] as PartRef));
      }
      const [bytes, starts, lengths] = this.#sql.rows.get((sorted[first] as PartRef).start, end) as RowsTogether;
      if (bytes === null) throw new PiecesFlaw(MISSING);
      const rows = { bytes, starts: numbersOf(starts), lengths: numbersOf(lengths) };
      let [nth, from] = [0, 0];
      for (const ref of sorted.slice(first, next)) {
        for (; nth < rows.starts.length && (rows.starts[nth] as number) < ref.start; nth += 1) {
          from += rows.lengths[nth] as number;
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

function sizeOf(piece: Piece): number {
  return Buffer.isBuffer(piece) ? piece.length : piece.bytes;
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
