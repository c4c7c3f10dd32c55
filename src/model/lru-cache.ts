// What was made for those asked about lately, by name; whoever was asked about longest ago goes first.

export class LruCache<T> {
  readonly #countMax: number;
  readonly #kept = new Map<string, T>();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  get(name: string): T | undefined {
    return this.#kept.get(name);
  }

  /** Keeps it as what was used last. */
  set(name: string, made: T): void {
    this.#kept.delete(name);
    this.#kept.set(name, made);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#countMax && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Those used last at the end. */
  values(): Iterable<T> {
    return this.#kept.values();
  }

  clear(): void {
    this.#kept.clear();
  }
}
