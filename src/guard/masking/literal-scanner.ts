// Finds many literals in a text in one pass, by a hash of the rarest three characters of each. A regular expression with a
// hundred alternatives takes several times as long.

export interface SoughtLiteral<T> {
  /** Three characters or more. */
  readonly literal: string;
  readonly item: T;
}

interface Candidate<T> extends SoughtLiteral<T> {
  /** Where in the literal the three characters are. */
  readonly offset: number;
  /** Compared before the whole literal is. */
  readonly firstUnit: number;
  readonly lastUnit: number;
}

const HASHES = 1 << 18;
const WINDOW_CHARS = 32 * 1024;

export class LiteralScanner<T> {
  readonly #isHash = new Uint8Array(HASHES);
  readonly #bytes = Buffer.allocUnsafe(WINDOW_CHARS);
  readonly #candidatesByHash = new Map<number, Candidate<T>[]>();

  constructor(sought: readonly SoughtLiteral<T>[]) {
    for (const { literal, item } of sought) {
      const offset = rarestTriple(literal);
      const [first = 0, second = 0, third = 0] = Buffer.from(literal.slice(offset, offset + 3), "latin1");
      const hash = hashOf(first, second, third);
      this.#isHash[hash] = 1;
      const candidates = this.#candidatesByHash.get(hash) ?? [];
      const [firstUnit, lastUnit] = [literal.charCodeAt(0), literal.charCodeAt(literal.length - 1)];
      this.#candidatesByHash.set(hash, [...candidates, { literal, item, offset, firstUnit, lastUnit }]);
    }
  }

  /** Calls back for each occurrence of a literal. */
  scan(text: string, found: (at: number, sought: SoughtLiteral<T>) => void): void {
    // Windows overlap by two characters, or three could be split.
    for (let from = 0; from + 2 < text.length; from += WINDOW_CHARS - 2) this.#scanWindow(text, from, found);
  }

  /** As bytes, which are read several times as fast as a string's characters; each is the low half of its code unit. */
  #scanWindow(text: string, from: number, found: (at: number, sought: SoughtLiteral<T>) => void): void {
    const isHash = this.#isHash;
    const bytes = this.#bytes;
    const isWhole = text.length <= WINDOW_CHARS;
    const length = bytes.write(isWhole ? text : text.slice(from, from + WINDOW_CHARS), "latin1");
    for (let at = nextHit(bytes, isHash, 0, length); at !== -1; at = nextHit(bytes, isHash, at + 1, length)) {
      this.#check(text, from + at, hashAt(bytes, at), found);
    }
  }

  #check(text: string, triple: number, hash: number, found: (at: number, sought: SoughtLiteral<T>) => void): void {
    for (const candidate of this.#candidatesByHash.get(hash) as readonly Candidate<T>[]) {
      const { literal, offset, firstUnit, lastUnit } = candidate;
      const at = triple - offset;
      if (text.charCodeAt(at) !== firstUnit || text.charCodeAt(at + literal.length - 1) !== lastUnit) continue;
      if (text.startsWith(literal, at)) found(at, candidate);
    }
  }
}

/**
 * The inner loop: every character passes through it. Outside the class and on plain arrays because that is faster; four
 * characters at a time take half the time.
 */
function nextHit(bytes: Uint8Array, isHash: Uint8Array, from: number, length: number): number {
  if (from + 2 >= length) return -1;
  let hash = hashOf(0, bytes[from] as number, bytes[from + 1] as number);
  let at = from + 2;
  for (; at + 3 < length; at += 4) {
    const first = ((hash << 6) ^ (bytes[at] as number)) & (HASHES - 1);
    const second = ((first << 6) ^ (bytes[at + 1] as number)) & (HASHES - 1);
    const third = ((second << 6) ^ (bytes[at + 2] as number)) & (HASHES - 1);
    const fourth = ((third << 6) ^ (bytes[at + 3] as number)) & (HASHES - 1);
    const hits =
      (isHash[first] as number) | (isHash[second] as number) | (isHash[third] as number) | (isHash[fourth] as number);
    if (hits !== 0) break;
    hash = fourth;
  }
  for (; at < length; at += 1) {
    hash = ((hash << 6) ^ (bytes[at] as number)) & (HASHES - 1);
    if (isHash[hash] === 1) return at - 2;
  }
  return -1;
}

function hashAt(bytes: Uint8Array, at: number): number {
  return hashOf(bytes[at] as number, bytes[at + 1] as number, bytes[at + 2] as number);
}

/** The hash of exactly three characters: earlier ones are shifted out. Letters differ in their lower bits. */
function hashOf(first: number, second: number, third: number): number {
  return ((first << 12) ^ (second << 6) ^ third) & (HASHES - 1);
}

/** The offset of the three characters that are rarest together, by how often each occurs in what agents write. */
function rarestTriple(literal: string): number {
  let best = 0;
  let bestWeight = Number.POSITIVE_INFINITY;
  for (let offset = 0; offset + 3 <= literal.length; offset += 1) {
    const weight = weightOf(literal[offset]) + weightOf(literal[offset + 1]) + weightOf(literal[offset + 2]);
    if (weight >= bestWeight) continue;
    best = offset;
    bestWeight = weight;
  }
  return best;
}

/** Characters by how common they are: each line twice as common as the one below. */
const CHARS_BY_WEIGHT = ["e ", "taoinsr", 'lcdhmpu"', "\\fgby_:,", "vwk01./-", "23456789x'=", "jqz()<>"].reverse();

function weightOf(char = ""): number {
  return CHARS_BY_WEIGHT.findIndex((chars) => chars.includes(char)) + 1;
}
