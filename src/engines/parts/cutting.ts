// Where a body is split into parts that other bodies may share: at long texts, at members, and at the items of its
// lists. Any bytes can be split, JSON or not, since reading concatenates them in order. Also the digests that parts are
// found by.

import { hash } from "node:crypto";
import { itemAt } from "../../model/item-at.js";
import { JsonTokenizer, type JsonVisitor } from "../../model/json-tokenizer.js";

/** Shorter texts stay in place: storing one separately would cost about a quarter of it. */
const TEXT_BYTES_MIN = 256;
/** Shorter lists are no conversation history; neither are lists of numbers, of single words, or of very many items. */
const LIST_BYTES_MIN = 512;
const ITEM_BYTES_MIN = 32;
const LIST_ITEMS_MAX = 20_000;
/** Members are cut down to this depth; deeper values change together. */
const MEMBER_DEPTH_MAX = 2;

export interface BodyList {
  readonly from: number;
  readonly to: number;
  /** The end of each item. An item starts with the comma before it, so it is the same whatever follows. */
  readonly ends: readonly number[];
}

export interface Cut {
  readonly from: number;
  readonly to: number;
  /** Whether it is worth storing once. */
  readonly isText: boolean;
}

export class BodyCuts implements JsonVisitor {
  /** Outermost lists only. */
  readonly lists: BodyList[] = [];
  readonly #tokenizer = new JsonTokenizer(this);
  readonly #isWorth: (list: BodyList) => boolean;
  /** Start and end of long strings, in pairs. */
  readonly #strings: number[] = [];
  readonly #members: number[] = [];
  /** The outermost list that is open. */
  #list: { readonly from: number; readonly depth: number; readonly ends: number[] } | undefined;

  constructor(body: Buffer, isWorth: (list: BodyList) => boolean = isHistory) {
    this.#isWorth = isWorth;
    this.#tokenizer.write(body);
  }

  begin(at: number, isObject: boolean): void {
    if (!isObject) this.#list ??= { from: at + 1, depth: this.#tokenizer.depth, ends: [] };
  }

  end(at: number): void {
    if (this.#list?.depth !== this.#tokenizer.depth) return;
    const { from, ends } = this.#list;
    ends.push(at);
    if (this.#isWorth({ from, to: at, ends })) this.lists.push({ from, to: at, ends });
    this.#list = undefined;
  }

  string(from: number, to: number): void {
    if (to - from >= TEXT_BYTES_MIN) this.#strings.push(from, to);
  }

  comma(at: number): void {
    if (this.#list?.depth === this.#tokenizer.depth) this.#list.ends.push(at);
    else if (this.#list === undefined && this.#tokenizer.depth <= MEMBER_DEPTH_MAX) this.#members.push(at);
  }

  /** The cuts of a range that contains whole strings. */
  within(from: number, to: number): readonly Cut[] {
    const cuts: Cut[] = [];
    let at = from;
    // The range may start at the end of a string, which is no start of another.
    const first = firstAtLeast(this.#strings, from);
    for (let nth = first + (first % 2); nth < this.#strings.length; nth += 2) {
      const [opens, closes] = [itemAt(this.#strings, nth), itemAt(this.#strings, nth + 1)];
      if (closes > to) break;
      this.#between(at, opens, cuts);
      cuts.push({ from: opens, to: closes, isText: true });
      at = closes;
    }
    this.#between(at, to, cuts);
    return cuts;
  }

  #between(from: number, to: number, cuts: Cut[]): void {
    let at = from;
    const end = (next: number): void => {
      if (next > at) cuts.push({ from: at, to: next, isText: next - at >= TEXT_BYTES_MIN });
      at = next;
    };
    for (let nth = firstAtLeast(this.#members, from); (this.#members[nth] ?? to) < to; nth += 1) {
      end(itemAt(this.#members, nth));
    }
    end(to);
  }
}

/** Each item costs a digest and a lookup, too much for an embedding of a thousand numbers. */
function isHistory({ from, to, ends: { length } }: BodyList): boolean {
  return to - from >= LIST_BYTES_MIN && to - from >= length * ITEM_BYTES_MIN && length <= LIST_ITEMS_MAX;
}

/** Item ends in the bytes of a list without brackets, or of its tail, which starts with a comma. */
export function itemEnds(bytes: Buffer): readonly number[] {
  const [list] = new BodyCuts(Buffer.concat([Buffer.from("["), bytes, Buffer.from("]")]), () => true).lists;
  return (list?.ends ?? []).map((end) => end - 1).filter((end) => end > 0);
}

/** Index of the first number that is not smaller; the numbers ascend. */
function firstAtLeast(numbers: readonly number[], least: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (itemAt(numbers, middle) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

export const DIGEST_BYTES = 16;

const [TEXT, LIST] = [0, 1];
const NOTHING: Buffer = Buffer.alloc(0);
const BEFORE_FIRST: Buffer = Buffer.alloc(DIGEST_BYTES);

/**
 * SHA-256 of a secret of the store and the bytes, cut to 16 bytes. Without the secret, it is impossible to create collisions, or
 * test what a left-over digest stood for.
 */
export class PartDigests {
  #bytes: Buffer;
  readonly #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
    this.#bytes = Buffer.concat([this.#secret, Buffer.alloc(64 * 1024)]);
  }

  ofText(bytes: Buffer): Buffer {
    return this.#of(TEXT, NOTHING, bytes);
  }

  /** One per item, over it and all items before it. */
  ofItems(bytes: Buffer, from: number, ends: readonly number[], before = BEFORE_FIRST): readonly Buffer[] {
    let digest = before;
    let start = from;
    return ends.map((end) => {
      digest = this.#of(LIST, digest, bytes.subarray(start, end));
      start = end;
      return digest;
    });
  }

  #of(form: number, before: Buffer, bytes: Buffer): Buffer {
    const start = this.#secret.length + 1 + before.length;
    if (this.#bytes.length < start + bytes.length) {
      this.#bytes = Buffer.concat([this.#secret, Buffer.alloc(2 * (start + bytes.length))]);
    }
    this.#bytes[this.#secret.length] = form;
    before.copy(this.#bytes, this.#secret.length + 1);
    bytes.copy(this.#bytes, start);
    return hash("sha256", this.#bytes.subarray(0, start + bytes.length), "buffer").subarray(0, DIGEST_BYTES);
  }
}
