// Values that look like secrets and are none: made by a generator with a fixed seed, so every run sees the same ones.

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const DIGITS = "0123456789";
const BASE62 = LOWER + LOWER.toUpperCase() + DIGITS;

export class MadeUp {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Below the number given; a generator of its own, since the list must not change with a version of Node. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  chars(alphabet: string, count: number): string {
    return Array.from({ length: count }, () => alphabet[this.below(alphabet.length)]).join("");
  }

  base62(count: number): string {
    return this.chars(BASE62, count);
  }

  base36(count: number): string {
    return this.chars(LOWER + DIGITS, count);
  }

  upper36(count: number): string {
    return this.chars(LOWER.toUpperCase() + DIGITS, count);
  }

  hex(count: number): string {
    return this.chars("0123456789abcdef", count);
  }

  digits(count: number): string {
    return this.chars("123456789", 1) + this.chars(DIGITS, count - 1);
  }

  base64(bytes: number): string {
    return Buffer.from(this.hex(bytes * 2), "hex").toString("base64");
  }

  base64url(bytes: number): string {
    return Buffer.from(this.hex(bytes * 2), "hex").toString("base64url");
  }

  uuid(): string {
    return [8, 4, 4, 4, 12].map((count) => this.hex(count)).join("-");
  }

  /** What people choose and password programs make. */
  password(): string {
    const word = this.pick(["Sommer", "dragon", "Falcon", "blue", "Kestrel", "winter", "Pa55", "quartz", "Monsun"]);
    const symbol = this.pick(["!", "#", "$", "%", "&", "*", "-", "_", "?", "+", "."]);
    const made = [
      `${word}${this.digits(2)}${symbol}${this.base62(3)}`,
      this.base62(14),
      `${this.base62(6)}${symbol}${this.base62(5)}`,
    ];
    return this.pick(made);
  }
}
