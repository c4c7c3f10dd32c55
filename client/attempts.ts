// Repeated attempts of one call: SDKs send the same request again after a failure.

/** No SDK waits longer before it tries again. */
const WITHIN_MS = 10 * 60_000;
const KEPT = 100;

interface Failure {
  readonly id: string;
  readonly atMs: number;
}

/** The newest failed calls, by what they asked. */
export class Attempts {
  readonly #failures = new Map<string, Failure>();

  /** The failed attempt that a call repeats. */
  before(request: string): string | undefined {
    const failure = this.#failures.get(keyOf(request));
    return failure !== undefined && performance.now() - failure.atMs <= WITHIN_MS ? failure.id : undefined;
  }

  ended(request: string, { id, hasFailed }: { readonly id: string; readonly hasFailed: boolean }): void {
    const key = keyOf(request);
    this.#failures.delete(key);
    if (hasFailed) this.#failures.set(key, { id, atMs: performance.now() });
    for (const [oldest] of this.#failures) {
      if (this.#failures.size <= KEPT) return;
      this.#failures.delete(oldest);
    }
  }
}

/** Its length and a hash of 53 bits: requests may be megabytes, and need not be kept. */
function keyOf(text: string): string {
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 2654435761);
    other = Math.imul(other ^ unit, 1597334677);
  }
  return `${text.length}:${one >>> 0}:${other >>> 0}`;
}
