// Takes a body apart: what of it was stored before is referred to, and what is new is put on a shelf. Where that is, an engine knows.
import { itemAt } from "../../model/item-at.js";
import { BodyCuts, type BodyList } from "./body-cuts.js";
import type { PartDigests } from "./part-digests.js";
import { listPieces } from "./part-joining.js";
import { type PartRef, type Piece, PiecesFlaw, PieceWriter, readPieces } from "./pieces.js";

/** Smaller bodies are stored as they are: a lone capture writes no more for them than it must. */
export const PARTED_BYTES_MIN = 6 * 1024;
/** A list that has so many before it is written whole: each costs a look when it is read. */
const DEPTH_MAX = 64;
const MISCUT = "its cuts do not meet";

/** The longest beginning of a list that is known: how many of its items it has, and where it lies. */
export interface KnownList {
  readonly items: number;
  readonly ref: PartRef | undefined;
}

export interface PartShelf {
  findText(digest: Buffer): number | undefined;
  /** By the digests of all its beginnings, one for each item. */
  findList(digests: readonly Buffer[]): KnownList;
  bytesOf(list: PartRef): Buffer;
  /** Answers with where the part lies from now on; a list may follow another. */
  add(part: { readonly digest: Buffer; readonly bytes: Buffer; readonly follows?: PartRef | undefined }): number;
}

/** A body on its way into parts. It may be taken more than once, and is cut and digested only once. */
export class PartTaking {
  readonly #bytes: Buffer;
  readonly #digests: PartDigests;
  /** None where the body is to be stored as it is. */
  readonly #cuts: BodyCuts | undefined;
  readonly #digestsOfLists = new Map<BodyList, readonly Buffer[]>();
  readonly #digestByText = new Map<number, Buffer>();

  constructor(body: Uint8Array, digests: PartDigests) {
    this.#bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    this.#digests = digests;
    // Zeros stand for what was erased; JSON holds none.
    this.#cuts = this.#bytes.includes(0) ? undefined : new BodyCuts(this.#bytes);
  }

  /**
   * What to store in the body's place; undefined where nothing of it is worth to be kept apart, or where it would not be read again
   * as it was given: no fault of the cutting may cost a record. Nothing may come between this and the shelf's being stored.
   */
  take(shelf: PartShelf): Buffer | undefined {
    try {
      return this.#cuts === undefined ? undefined : this.#take(shelf, this.#cuts);
    } catch (error) {
      if (error instanceof PiecesFlaw) return undefined;
      throw error;
    }
  }

  #take(shelf: PartShelf, cuts: BodyCuts): Buffer | undefined {
    const pieces = new PieceWriter(0);
    let hasParts = false;
    let at = 0;
    const takeUpTo = (to: number): void => {
      if (to < at) throw new PiecesFlaw(MISCUT);
      if (this.#takeStretch(shelf, { from: at, to, cuts }, pieces)) hasParts = true;
      at = to;
    };
    for (const list of cuts.lists) {
      takeUpTo(list.from);
      pieces.add(this.#takeList(shelf, list, cuts));
      hasParts = true;
      at = list.to;
    }
    takeUpTo(this.#bytes.length);
    return hasParts ? pieces.finish() : undefined;
  }

  #takeStretch(
    shelf: PartShelf,
    { from, to, cuts }: { readonly from: number; readonly to: number; readonly cuts: BodyCuts },
    pieces: PieceWriter,
  ): boolean {
    let hasParts = false;
    let at = from;
    for (const cut of cuts.within(from, to)) {
      // Every byte once, and in order.
      if (cut.from !== at || cut.to <= at) throw new PiecesFlaw(MISCUT);
      const piece = this.#bytes.subarray(at, cut.to);
      pieces.add(cut.isText ? this.#takeText(shelf, at, piece) : piece);
      if (cut.isText) hasParts = true;
      at = cut.to;
    }
    if (at !== to) throw new PiecesFlaw(MISCUT);
    return hasParts;
  }

  #takeText(shelf: PartShelf, from: number, bytes: Buffer): PartRef {
    const digest = kept(this.#digestByText, from, () => this.#digests.ofText(bytes));
    return { form: "text", start: shelf.findText(digest) ?? shelf.add({ digest, bytes }), bytes: bytes.length };
  }

  /** A list is told by all its items up to its end: a conversation that goes on begins with the list that it was. */
  #takeList(shelf: PartShelf, list: BodyList, cuts: BodyCuts): PartRef {
    const { ends } = list;
    const digests = kept(this.#digestsOfLists, list, () => this.#digests.ofItems(this.#bytes, list.from, ends));
    const { items, ref } = shelf.findList(digests);
    if (ref !== undefined && items === ends.length) return ref;
    const beginning = ref === undefined ? { depth: 0, pieces: [] } : continued(shelf, ref);
    const pieces = new PieceWriter(beginning.depth);
    for (const piece of beginning.pieces) pieces.add(piece);
    let from = items === 0 ? list.from : itemAt(ends, items - 1);
    for (const to of ends) {
      if (to <= from) continue;
      this.#takeStretch(shelf, { from, to, cuts }, pieces);
      from = to;
    }
    const bytes = pieces.finish();
    const follows = beginning.depth === 0 ? undefined : ref;
    const start = shelf.add({ digest: itemAt(digests, ends.length - 1), bytes, follows });
    return { form: "list", start, bytes: bytes.length };
  }
}

function continued(shelf: PartShelf, known: PartRef): { readonly depth: number; readonly pieces: readonly Piece[] } {
  const { depth } = readPieces(shelf.bytesOf(known));
  return depth < DEPTH_MAX ? { depth: depth + 1, pieces: [known] } : { depth: 0, pieces: listPieces(shelf, known) };
}

function kept<K, V>(values: Map<K, V>, key: K, make: () => V): V {
  const value = values.get(key) ?? make();
  values.set(key, value);
  return value;
}
