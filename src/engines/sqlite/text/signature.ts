// Signatures: bits that tell for each short run of code units whether it may occur in a block of text. A block takes
// text until its signature reaches a fixed density, so missing needles are recognised equally well in any language. A
// block may contain many short texts, and a long text may span many blocks.

/** Runs without their own bit share these; a power of two, so the upper bits of a hash select one. */
const HASHED = 8_192;
const HASHED_MASK = HASHED - 1;
const UPPER_SHIFT = 19;
const MIDDLE_SHIFT = 6;
/** After them, one bit for each ASCII character and each pair of ASCII classes. */
const SINGLES = HASHED;
const SINGLES_COUNT = 128;
const CLASSES = 38;
const PAIRS = SINGLES + SINGLES_COUNT;

/** Bits of a signature; each is one slice through all blocks of a segment. */
export const SLICES = PAIRS + CLASSES * CLASSES;
/** 32-bit words of a signature. */
export const SIGNATURE_WORDS = Math.ceil(SLICES / 32);

/**
 * A needle of this length is always within one block, because a text that continues in the next block repeats its end
 * there.
 */
const WINDOW_UNITS = 32;

/**
 * The share of set bits at which a block is full. Fuller blocks make the index smaller but let through more false
 * candidates; between 0.25 and 0.4 neither changes much.
 */
export const FULL = Math.floor(SLICES * 0.33);

/** From here on, scripts have so many characters that three are rarer than five of an alphabet. */
const IDEOGRAPHIC = 0x2e80;

/** The longest run with a bit. */
const RUN_UNITS_MAX = 5;

/** The most slices for all runs that end at one unit. */
const SLICES_PER_UNIT = 10;

const classOf = asciiClasses();

/** Collects the signatures of texts, block after block. */
export class SignatureWriter {
  #bits = new Int32Array(64 * SIGNATURE_WORDS);
  #blocks = 1;
  #set = 0;
  readonly #slices = new Int32Array(SLICES_PER_UNIT);

  /** Number of blocks, including the current one. */
  get blocks(): number {
    return this.#blocks;
  }

  /** All signatures, concatenated. */
  get bits(): Int32Array {
    return this.#bits.subarray(0, this.#blocks * SIGNATURE_WORDS);
  }

  /** The block in which the next text begins. */
  startText(): number {
    if (this.#set >= FULL) this.#nextBlock();
    return this.#blocks - 1;
  }

  /** Adds a text; runs never span two texts. Returns the block in which it ends. */
  add(text: string): number {
    this.startText();
    let start = 0;
    for (;;) {
      const end = this.#fill(text, start);
      if (end === text.length) return this.#blocks - 1;
      this.#nextBlock();
      start = Math.max(start, end - WINDOW_UNITS + 1);
    }
  }

  /** Sets the bits of the text from `start` until the block is full; returns the first unit left out. */
  #fill(text: string, start: number): number {
    const bits = this.#bits;
    const slices = this.#slices;
    const base = (this.#blocks - 1) * SIGNATURE_WORDS;
    let set = this.#set;
    let at = start;
    while (at < text.length && set < FULL) {
      const plainEnd = at - start < RUN_UNITS_MAX ? at : this.#fillPlain(text, at);
      if (plainEnd > at) {
        at = plainEnd;
        set = this.#set;
        continue;
      }
      const count = slicesEndingAt(text, at, start, slices);
      for (let n = 0; n < count; n += 1) set += mark(bits, base, slices[n] as number);
      this.#set = set;
      at += 1;
    }
    this.#set = set;
    return at;
  }

  /**
   * The same for ASCII, most of any text, without an intermediate list of slices: a third of the time. Starts after a
   * complete run, and ends before the first non-ASCII unit.
   */
  #fillPlain(text: string, from: number): number {
    const bits = this.#bits;
    const base = (this.#blocks - 1) * SIGNATURE_WORDS;
    let [a, b] = [text.charCodeAt(from - 4), text.charCodeAt(from - 3)];
    let [c, d] = [text.charCodeAt(from - 2), text.charCodeAt(from - 1)];
    if ((a | b | c | d) >= SINGLES_COUNT) return from;
    let set = this.#set;
    let at = from;
    for (; at < text.length && set < FULL; at += 1) {
      const e = text.charCodeAt(at);
      if (e >= SINGLES_COUNT) break;
      const three = hashOfThree(c, d, e);
      const hash = spread(three);
      set +=
        mark(bits, base, SINGLES + e) +
        mark(bits, base, pairOf(d, e)) +
        mark(bits, base, hash >>> UPPER_SHIFT) +
        mark(bits, base, (hash >>> MIDDLE_SHIFT) & HASHED_MASK) +
        mark(bits, base, sliceOfFive(three, a, b));
      a = b;
      b = c;
      c = d;
      d = e;
    }
    this.#set = set;
    return at;
  }

  #nextBlock(): void {
    this.#blocks += 1;
    this.#set = 0;
    if (this.#blocks * SIGNATURE_WORDS <= this.#bits.length) return;
    const larger = new Int32Array(this.#bits.length * 2);
    larger.set(this.#bits);
    this.#bits = larger;
  }
}

/** The parts of a needle to ask blocks for: all of a short one, the start and end of a long one. */
export function windowsOf(needle: string): readonly string[] {
  if (needle.length <= WINDOW_UNITS) return [needle];
  return [needle.slice(0, WINDOW_UNITS), needle.slice(-WINDOW_UNITS)];
}

/** The slices that a block with this window has a bit in; none for an empty one. */
export function slicesOf(window: string): readonly number[] {
  const found = new Set<number>();
  const slices = new Int32Array(SLICES_PER_UNIT);
  for (let at = 0; at < window.length; at += 1) {
    const count = slicesEndingAt(window, at, 0, slices);
    for (let n = 0; n < count; n += 1) found.add(slices[n] as number);
  }
  return [...found];
}

/** Writes the slices of the runs of one, two, three and five units that end at unit `at`; returns their number. */
function slicesEndingAt(text: string, at: number, start: number, slices: Int32Array): number {
  const e = text.charCodeAt(at);
  let count = 0;
  if (e < SINGLES_COUNT) {
    slices[count++] = SINGLES + e;
  } else {
    const hash = spread(Math.imul(e, 0x9e3779b1));
    const second = Math.imul(hash, 0x85ebca6b);
    slices[count++] = hash >>> UPPER_SHIFT;
    slices[count++] = (hash >>> MIDDLE_SHIFT) & HASHED_MASK;
    slices[count++] = second >>> UPPER_SHIFT;
    slices[count++] = (second >>> MIDDLE_SHIFT) & HASHED_MASK;
  }
  if (at - start < 1) return count;
  const d = text.charCodeAt(at - 1);
  if ((d | e) < SINGLES_COUNT) {
    slices[count++] = pairOf(d, e);
  } else {
    const hash = spread(Math.imul(d, 0x85ebca6b) ^ Math.imul(e, 0xc2b2ae35));
    slices[count++] = hash >>> UPPER_SHIFT;
    slices[count++] = (hash >>> MIDDLE_SHIFT) & HASHED_MASK;
    slices[count++] = Math.imul(hash, 0x9e3779b1) >>> UPPER_SHIFT;
  }
  if (at - start < 2) return count;
  const c = text.charCodeAt(at - 2);
  const three = hashOfThree(c, d, e);
  const hash = spread(three);
  slices[count++] = hash >>> UPPER_SHIFT;
  if (e >= IDEOGRAPHIC) return count;
  slices[count++] = (hash >>> MIDDLE_SHIFT) & HASHED_MASK;
  if (at - start < 4) return count;
  slices[count++] = sliceOfFive(three, text.charCodeAt(at - 4), text.charCodeAt(at - 3));
  return count;
}

/** Sets a bit; returns 1 if it was not set before. */
function mark(bits: Int32Array, base: number, slice: number): number {
  const word = base + (slice >>> 5);
  const before = bits[word] as number;
  const after = before | (1 << slice);
  if (after === before) return 0;
  bits[word] = after;
  return 1;
}

function pairOf(d: number, e: number): number {
  return PAIRS + (classOf[d] as number) * CLASSES + (classOf[e] as number);
}

function hashOfThree(c: number, d: number, e: number): number {
  return Math.imul(c, 0x27d4eb2f) ^ Math.imul(d, 0x165667b1) ^ Math.imul(e, 0x9e3779b1);
}

function sliceOfFive(three: number, a: number, b: number): number {
  return spread(three ^ Math.imul(a, 0x1b873593) ^ Math.imul(b, 0xcc9e2d51)) >>> UPPER_SHIFT;
}

/** Mixes all bits of the hash. */
function spread(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  const twice = Math.imul(once ^ (once >>> 12), 0x297a2d39);
  return twice ^ (twice >>> 15);
}

/** Lower-case letters, digits and the space are classes of their own; all other ASCII is one class. */
function asciiClasses(): Uint8Array {
  const classes = new Uint8Array(SINGLES_COUNT).fill(CLASSES - 1);
  [..."abcdefghijklmnopqrstuvwxyz0123456789 "].forEach((character, index) => {
    classes[character.charCodeAt(0)] = index;
  });
  return classes;
}
