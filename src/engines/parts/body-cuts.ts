// Where the bytes of a body are cut into parts that other bodies hold as well: at long texts, at members, and at the items of
// its lists. Any bytes can be cut, JSON or not, since what is read back is all of them in the same order.

/** A text that is shorter is kept where it stands: to keep it once would take about a quarter of it. */
const TEXT_BYTES_MIN = 256;
/** A shorter list is no history of a conversation, nor is one of numbers or of single words, or of very many items. */
const LIST_BYTES_MIN = 512;
const ITEM_BYTES_MIN = 32;
const LIST_ITEMS_MAX = 20_000;
/** Members of the body and of its objects are cut apart; what lies deeper changes together. */
const MEMBER_DEPTH_MAX = 2;

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [LIST_OPENS, LIST_CLOSES, OBJECT_OPENS, OBJECT_CLOSES] = [0x5b, 0x5d, 0x7b, 0x7d];

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

export class BodyCuts {
  /** Those that lie in no other list. */
  readonly lists: readonly BodyList[];
  /** Where long strings begin and end, one pair after the other. */
  readonly #strings: number[] = [];
  readonly #members: number[] = [];

  constructor(body: Buffer, isWorth: (list: BodyList) => boolean = isHistory) {
    this.lists = this.#scan(body, isWorth);
  }

  /** The cuts of a stretch that holds whole strings. */
  within(from: number, to: number): readonly Cut[] {
    const cuts: Cut[] = [];
    let at = from;
    // A stretch may begin where a string ends: that string's end is no beginning of another.
    const first = firstAtLeast(this.#strings, from);
    for (let nth = first + (first % 2); nth < this.#strings.length; nth += 2) {
      const [opens, closes] = [this.#strings[nth] as number, this.#strings[nth + 1] as number];
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
      end(this.#members[nth] as number);
    }
    end(to);
  }

  #scan(body: Buffer, isWorth: (list: BodyList) => boolean): readonly BodyList[] {
    const lists: BodyList[] = [];
    let list: { readonly from: number; readonly depth: number; readonly ends: number[] } | undefined;
    let depth = 0;
    for (let at = 0; at < body.length; ) {
      const byte = body[at];
      if (byte === QUOTE) {
        const end = endOfString(body, at);
        if (end - at >= TEXT_BYTES_MIN) this.#strings.push(at, end);
        at = end;
        continue;
      }
      if (byte === OBJECT_OPENS || byte === LIST_OPENS) {
        depth += 1;
        if (byte === LIST_OPENS) list ??= { from: at + 1, depth, ends: [] };
      } else if (byte === OBJECT_CLOSES || byte === LIST_CLOSES) {
        if (list?.depth === depth) {
          const { from, ends } = list;
          ends.push(at);
          if (isWorth({ from, to: at, ends })) lists.push({ from, to: at, ends });
          list = undefined;
        }
        depth -= 1;
      } else if (byte === COMMA) {
        if (list?.depth === depth) list.ends.push(at);
        else if (list === undefined && depth <= MEMBER_DEPTH_MAX) this.#members.push(at);
      }
      at += 1;
    }
    return lists;
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

function endOfString(body: Buffer, opens: number): number {
  for (let closes = opens; ; ) {
    closes = body.indexOf(QUOTE, closes + 1);
    if (closes < 0) return body.length;
    let before = closes;
    while (body[before - 1] === BACKSLASH) before -= 1;
    if ((closes - before) % 2 === 0) return closes + 1;
  }
}

/** The index of the first number that is not below this one; numbers grow. */
function firstAtLeast(numbers: readonly number[], least: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
