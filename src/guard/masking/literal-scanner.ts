// Finds many literals in a text in one pass: by three characters of each, hashed, chosen where they are rarest.
//
// A pattern of alternatives does the same, and takes several times as long with a hundred of them.

export interface Sought<T> {
  /** Three characters or more. */
  readonly literal: string;
  readonly item: T;
}

interface Candidate<T> extends Sought<T> {
  /** Where in the literal the three characters stand. */
  readonly offset: number;
}

const HASHES = 1 << 16;
const STRETCH_CHARS = 32 * 1024;

export class LiteralScanner<T> {
  readonly #isHash = new Uint8Array(HASHES);
  readonly #bytes = Buffer.allocUnsafe(STRETCH_CHARS);
  readonly #candidatesByHash = new Map<number, Candidate<T>[]>();

  constructor(sought: readonly Sought<T>[]) {
    for (const { literal, item } of sought) {
      const offset = rarestTriple(literal);
      const [first = 0, second = 0, third = 0] = Buffer.from(literal.slice(offset, offset + 3), "latin1");
      const hash = hashOf(first, second, third);
      this.#isHash[hash] = 1;
      const candidates = this.#candidatesByHash.get(hash) ?? [];
      this.#candidatesByHash.set(hash, [...candidates, { literal, item, offset }]);
    }
  }

  /** Tells of each place where one of the literals stands. */
  scan(text: string, found: (at: number, sought: Sought<T>) => void): void {
    // Stretches overlap by two characters, so that no three are torn apart.
    for (let from = 0; from + 2 < text.length; from += STRETCH_CHARS - 2) this.#scanStretch(text, from, found);
  }

  /** Through bytes, which are read several times as fast as characters of a string; each is the low half of its unit. */
  #scanStretch(text: string, from: number, found: (at: number, sought: Sought<T>) => void): void {
    const isHash = this.#isHash;
    const bytes = this.#bytes;
    const isWhole = text.length <= STRETCH_CHARS;
    const length = bytes.write(isWhole ? text : text.slice(from, from + STRETCH_CHARS), "latin1");
    let first = bytes[0] as number;
    let second = bytes[1] as number;
    for (let i = 2; i < length; i += 1) {
      const third = bytes[i] as number;
      const hash = hashOf(first, second, third);
      first = second;
      second = third;
      if (isHash[hash] === 1) this.#check(text, from + i - 2, hash, found);
    }
  }

  #check(text: string, triple: number, hash: number, found: (at: number, sought: Sought<T>) => void): void {
    for (const candidate of this.#candidatesByHash.get(hash) as readonly Candidate<T>[]) {
      const at = triple - candidate.offset;
      if (at >= 0 && text.startsWith(candidate.literal, at)) found(at, candidate);
    }
  }
}

/** Letters differ in their lower bits, so those are kept apart. */
function hashOf(first: number, second: number, third: number): number {
  return ((first << 11) ^ (second << 6) ^ third) & (HASHES - 1);
}

/** Words are made of small letters; punctuation, digits and capitals between them are rare. */
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

function weightOf(char = ""): number {
  if (/[a-z ]/.test(char)) return 4;
  return /[A-Z0-9]/.test(char) ? 2 : 1;
}
