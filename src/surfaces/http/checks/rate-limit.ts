// Rate limits: a token bucket per client that refills evenly and holds a second's worth.

/** At most this many clients are remembered; those idle for a second would start full anyway. */
const CLIENTS_MAX = 10_000;
/** This many slots are freed at once, because searching all of them for each new client would help a flood. */
const CLIENTS_LEFT = 9_000;

interface Bucket {
  left: number;
  atMs: number;
}

export class RateLimit {
  readonly #perSecond: number;
  readonly #buckets = new Map<string, Bucket>();

  /** 0 is no limit. */
  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Counts a request. Returns 0 if it may pass, otherwise the milliseconds to wait. */
  take(client: string, nowMs: number): number {
    if (this.#perSecond === 0) return 0;
    const bucket = this.#bucketOf(client, nowMs);
    bucket.left = Math.min(this.#perSecond, bucket.left + ((nowMs - bucket.atMs) * this.#perSecond) / 1000);
    bucket.atMs = nowMs;
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) * 1000) / this.#perSecond);
    bucket.left -= 1;
    return 0;
  }

  #bucketOf(client: string, nowMs: number): Bucket {
    const known = this.#buckets.get(client);
    if (known !== undefined) return known;
    if (this.#buckets.size >= CLIENTS_MAX) this.#makeRoom(nowMs);
    const bucket = { left: this.#perSecond, atMs: nowMs };
    this.#buckets.set(client, bucket);
    return bucket;
  }

  #makeRoom(nowMs: number): void {
    for (const [client, { atMs }] of this.#buckets) if (nowMs - atMs >= 1000) this.#buckets.delete(client);
    // Most of them sent requests within a second: evict the client known longest.
    for (const client of this.#buckets.keys()) {
      if (this.#buckets.size <= CLIENTS_LEFT) break;
      this.#buckets.delete(client);
    }
  }
}
