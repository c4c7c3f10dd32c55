// Splits a body into parts: known parts are referenced, new ones are added to the engine's store of parts.
import { itemAt } from "../../model/item-at.js";
import { BodyCuts, type BodyList, type PartDigests } from "./cutting.js";
import { listPieces } from "./joining.js";
import { type BodyPiece, type PartRef, PiecesError, PieceWriter, readPieces } from "./pieces.js";

/** Smaller bodies are stored whole, so a lone capture writes no more than necessary. */
export const PARTED_BYTES_MIN = 6 * 1024;
/** A list with this many predecessors is written whole: each costs a lookup on reading. */
const DEPTH_MAX = 64;
const MISCUT = "its cuts do not meet";

/** The longest known prefix of a list: its number of items, and the stored list. */
export interface KnownList {
  readonly items: number;
  readonly ref: PartRef | undefined;
}

export interface PartStore {
  findText(digest: Buffer): number | undefined;
  /** Takes the digests of all prefixes, one per item. */
  findList(digests: readonly Buffer[]): KnownList;
  bytesOf(list: PartRef): Buffer;
  /** Stores a part and returns its start; a list may continue another. */
  add(part: { readonly digest: Buffer; readonly bytes: Buffer; readonly follows?: PartRef | undefined }): number;
}

/** A body to split. `take` may be called repeatedly; cuts and digests are computed once. */
export class BodySplitter {
  readonly #bytes: Buffer;
  readonly #digests: PartDigests;
  /** Undefined to store the body whole. */
  readonly #cuts: BodyCuts | undefined;
  readonly #digestsOfLists = new Map<BodyList, readonly Buffer[]>();
  readonly #digestByText = new Map<number, Buffer>();

  constructor(body: Uint8Array, digests: PartDigests) {
    this.#bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    this.#digests = digests;
    // Zeros mark erased bytes; JSON contains none.
    this.#cuts = this.#bytes.includes(0) ? undefined : new BodyCuts(this.#bytes);
  }

  /**
   * What to store instead of the body; undefined if nothing is worth sharing, or if it would not read back exactly: no
   * bug in the cutting may cost a record. The caller must store the new parts together with it.
   */
  split(store: PartStore): Buffer | undefined {
    try {
      return this.#cuts === undefined ? undefined : this.#splitAt(store, this.#cuts);
    } catch (error) {
      if (error instanceof PiecesError) return undefined;
      throw error;
    }
  }

  #splitAt(store: PartStore, cuts: BodyCuts): Buffer | undefined {
    const pieces = new PieceWriter(0);
    let hasParts = false;
    let at = 0;
    const takeUpTo = (to: number): void => {
      if (to < at) throw new PiecesError(MISCUT);
      if (this.#splitRange(store, { from: at, to, cuts }, pieces)) hasParts = true;
      at = to;
    };
    for (const list of cuts.lists) {
      takeUpTo(list.from);
      pieces.add(this.#storeList(store, list, cuts));
      hasParts = true;
      at = list.to;
    }
    takeUpTo(this.#bytes.length);
    return hasParts ? pieces.finish() : undefined;
  }

  #splitRange(
    store: PartStore,
    { from, to, cuts }: { readonly from: number; readonly to: number; readonly cuts: BodyCuts },
    pieces: PieceWriter,
  ): boolean {
    let hasParts = false;
    let at = from;
    for (const cut of cuts.within(from, to)) {
      // Every byte once, in order.
      if (cut.from !== at || cut.to <= at) throw new PiecesError(MISCUT);
      const piece = this.#bytes.subarray(at, cut.to);
      pieces.add(cut.isText ? this.#storeText(store, at, piece) : piece);
      if (cut.isText) hasParts = true;
      at = cut.to;
    }
    if (at !== to) throw new PiecesError(MISCUT);
    return hasParts;
  }

  #storeText(store: PartStore, from: number, bytes: Buffer): PartRef {
    const digest = cached(this.#digestByText, from, () => this.#digests.ofText(bytes));
    return { form: "text", start: store.findText(digest) ?? store.add({ digest, bytes }), bytes: bytes.length };
  }

  /** A list is identified by all items up to its end: a continued conversation starts with its earlier list. */
  #storeList(store: PartStore, list: BodyList, cuts: BodyCuts): PartRef {
    const { ends } = list;
    const digests = cached(this.#digestsOfLists, list, () => this.#digests.ofItems(this.#bytes, list.from, ends));
    const { items, ref } = store.findList(digests);
    if (ref !== undefined && items === ends.length) return ref;
    const beginning = ref === undefined ? { depth: 0, pieces: [] } : continued(store, ref);
    const pieces = new PieceWriter(beginning.depth);
    for (const piece of beginning.pieces) pieces.add(piece);
    let from = items === 0 ? list.from : itemAt(ends, items - 1);
    for (const to of ends) {
      if (to <= from) continue;
      this.#splitRange(store, { from, to, cuts }, pieces);
      from = to;
    }
    const bytes = pieces.finish();
    const follows = beginning.depth === 0 ? undefined : ref;
    const start = store.add({ digest: itemAt(digests, ends.length - 1), bytes, follows });
    return { form: "list", start, bytes: bytes.length };
  }
}

function continued(
  store: PartStore,
  known: PartRef,
): { readonly depth: number; readonly pieces: readonly BodyPiece[] } {
  const { depth } = readPieces(store.bytesOf(known));
  return depth < DEPTH_MAX ? { depth: depth + 1, pieces: [known] } : { depth: 0, pieces: listPieces(store, known) };
}

function cached<K, V>(values: Map<K, V>, key: K, make: () => V): V {
  const value = values.get(key) ?? make();
  values.set(key, value);
  return value;
}
