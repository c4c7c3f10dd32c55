// Sharing a thread: long work is split into time slices with the event loop in between, and work that must not overlap
// is queued.
import { itemAt } from "./item-at.js";

/** A small request needs a few rounds of the event loop, and waits this long for each of them. */
const SLICE_MS = 8;

export class TimeSlice {
  #overAtMs = performance.now() + SLICE_MS;

  /** Check this between steps of long work; if it is true, await `next` before continuing. */
  get isOver(): boolean {
    return performance.now() >= this.#overAtMs;
  }

  /** Lets the event loop run, then begins the next slice. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#overAtMs = performance.now() + SLICE_MS;
  }
}

/** `map` in time slices. */
export function mapInSlices<T, R>(
  items: readonly T[],
  make: (item: T, index: number) => R,
  slice: TimeSlice = new TimeSlice(),
): Promise<readonly R[]> {
  return makeInSlices(items.length, (index) => make(itemAt(items, index), index), slice);
}

export async function makeInSlices<R>(
  count: number,
  make: (nth: number) => R,
  slice: TimeSlice,
): Promise<readonly R[]> {
  const made: R[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    made.push(make(nth));
    if (slice.isOver) await slice.next();
  }
  return made;
}

/** Runs work that must not overlap, one after the other, in order of arrival. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
