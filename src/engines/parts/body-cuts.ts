// Where the bytes of a body are cut into parts that other bodies hold as well: at long texts, at members, and at the items of
// its lists. Any bytes can be cut, JSON or not, since what is read back is all of them in the same order.
import { itemAt } from "../../model/item-at.js";
import { JsonTokenizer, type JsonVisitor } from "../../model/json-tokenizer.js";

/** A text that is shorter is kept where it stands: to keep it once would take about a quarter of it. */
const TEXT_BYTES_MIN = 256;
/** A shorter list is no history of a conversation, nor is one of numbers or of single words, or of very many items. */
const LIST_BYTES_MIN = 512;
const ITEM_BYTES_MIN = 32;
const LIST_ITEMS_MAX = 20_000;
/** Members of the body and of its objects are cut apart; what lies deeper changes together. */
const MEMBER_DEPTH_MAX = 2;

export interface BodyList {
  readonly from: number;
  readonly to: number;
  /** Where each item ends. An item begins with the comma before it, so that it is the same whatever follows. */
  readonly ends: readonly number[];
}

export interface Cut {
  readonly from: number;
  readonly to: number;
  /** A text is worth to be kept once. */
  readonly isText: boolean;
}

export class BodyCuts implements JsonVisitor {
  /** Those that lie in no other list. */
  readonly lists: BodyList[] = [];
  readonly #tokenizer = new JsonTokenizer(this);
  readonly #isWorth: (list: BodyList) => boolean;
  /** Where long strings begin and end, one pair after the other. */
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

  /** The cuts of a stretch that holds whole strings. */
  within(from: number, to: number): readonly Cut[] {
    const cuts: Cut[] = [];
    let at = from;
    // A stretch may begin where a string ends: that string's end is no beginning of another.
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

/** Each item costs a digest and a look when the list is stored, which is too much for an embedding of a thousand numbers. */
function isHistory({ from, to, ends: { length } }: BodyList): boolean {
  return to - from >= LIST_BYTES_MIN && to - from >= length * ITEM_BYTES_MIN && length <= LIST_ITEMS_MAX;
}

/** Where items end, of the bytes of a list without its brackets, or of its end, which begins with a comma. */
export function itemEnds(bytes: Buffer): readonly number[] {
  const [list] = new BodyCuts(Buffer.concat([Buffer.from("["), bytes, Buffer.from("]")]), () => true).lists;
  return (list?.ends ?? []).map((end) => end - 1).filter((end) => end > 0);
}

/** The index of the first number that is not below this one; numbers grow. */
function firstAtLeast(numbers: readonly number[], least: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (itemAt(numbers, middle) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
