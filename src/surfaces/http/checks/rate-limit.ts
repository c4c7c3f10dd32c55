// How often one client may ask: a bucket each that fills evenly and holds what a second brings.

/** More clients than this are not remembered; those who have not asked for a second start afresh anyway. */
const CLIENTS_MAX = 10_000;
/** Room is made for so many at once, since looking through all of them for each newcomer would be a flood's work. */
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

  /** Counts a request. 0 where it may pass, else how many milliseconds to wait. */
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
    // Most of them asked within a second: evict the client known longest.
    for (const client of this.#buckets.keys()) {
      if (this.#buckets.size <= CLIENTS_LEFT) break;
      this.#buckets.delete(client);
    }
  }
}
