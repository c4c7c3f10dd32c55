// A cache of limited size, which drops the least recently set item first.

export class LruCache<T> {
  readonly #countMax: number;
  readonly #kept = new Map<string, T>();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  get(name: string): T | undefined {
    return this.#kept.get(name);
  }

  /** Adds an item as the most recent one. */
  set(name: string, made: T): void {
    this.#kept.delete(name);
    this.#kept.set(name, made);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#countMax && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** The most recent last. */
  values(): Iterable<T> {
    return this.#kept.values();
  }

  entries(): Iterable<[string, T]> {
    return this.#kept.entries();
  }

  clear(): void {
    this.#kept.clear();
  }
}
