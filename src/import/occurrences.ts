// How often each of many things came, in memory that does not grow with their length: a file of a gigabyte has a million.

const KEY_DIGITS = 13;
const SLOTS_MIN = 1024;
/** Beyond this share of slots in use, looking for a free one takes long. */
const FULL_SHARE = 0.6;

/** What a reading that goes on later has to know. */
export interface OccurrencesNote {
  readonly keys: Float64Array;
  readonly times: Uint32Array;
}

/**
 * Counts by the first 52 bits of a hash, in two arrays outside of the heap: 16 bytes a slot, where a map with texts as its
 * keys takes eight times as much. That two things share these bits costs one of them an id that counts one too many.
 */
export class Occurrences {
  #keys = new Float64Array(SLOTS_MIN);
  #times = new Uint32Array(SLOTS_MIN);
  #used = 0;

  constructor(known?: OccurrencesNote) {
    if (known === undefined) return;
    while (known.keys.length > this.#keys.length * FULL_SHARE) this.#resize(this.#keys.length * 2);
    for (const [at, key] of known.keys.entries()) this.#put(key, known.times[at] as number);
    this.#used = known.keys.length;
  }

  /** Only what is in use, 12 bytes each. */
  note(): OccurrencesNote {
    return { keys: this.#keys.filter((key) => key !== 0), times: this.#times.filter((times) => times !== 0) };
  }

  /** How often this came before, by its hash as hexadecimal text. */
  count(hash: string): number {
    // No slot in use holds zero.
    const key = Number.parseInt(hash.slice(0, KEY_DIGITS), 16) + 1;
    const slot = this.#slotOf(key);
    const times = this.#times[slot] as number;
    this.#times[slot] = times + 1;
    if (times > 0) return times;
    this.#keys[slot] = key;
    this.#used += 1;
    if (this.#used > this.#keys.length * FULL_SHARE) this.#resize(this.#keys.length * 2);
    return 0;
  }

  clear(): void {
    this.#keys = new Float64Array(SLOTS_MIN);
    this.#times = new Uint32Array(SLOTS_MIN);
    this.#used = 0;
  }

  /** The slot of a key, or the free one where it belongs. */
  #slotOf(key: number): number {
    const mask = this.#keys.length - 1;
    let slot = key % this.#keys.length;
    while (this.#keys[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #put(key: number, times: number): void {
    const slot = this.#slotOf(key);
    this.#keys[slot] = key;
    this.#times[slot] = times;
  }

  #resize(slots: number): void {
    const keys = this.#keys;
    const times = this.#times;
    this.#keys = new Float64Array(slots);
    this.#times = new Uint32Array(slots);
    for (const [slot, key] of keys.entries()) if (key !== 0) this.#put(key, times[slot] as number);
  }
}
