// Following in the background: once for many words, only with the lease, again after a fault.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BackgroundIndexer, type Indexable } from "./local-reading.js";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

class Counting implements Indexable {
  position = 0;
  indexed = 0;
  steps = 0;
  purges = 0;
  unmerged = 0;
  fault: Error | undefined;

  async progress() {
    return { position: this.position, indexed_through: this.indexed, texts_through: this.indexed, is_whole: true };
  }

  async indexStep(): Promise<boolean> {
    if (this.fault !== undefined) throw this.fault;
    this.steps += 1;
    const isMore = this.indexed < this.position;
    this.indexed = Math.min(this.position, this.indexed + 10);
    return isMore;
  }

  async mergeStep(): Promise<boolean> {
    if (this.unmerged === 0) return false;
    this.unmerged -= 1;
    return true;
  }

  async finishPurge(): Promise<void> {
    this.purges += 1;
  }
}

test("many words are one walk, to the end of the log", async () => {
  const follower = Object.assign(new Counting(), { position: 25 });
  const following = new BackgroundIndexer({ follower });
  for (let nth = 0; nth < 100; nth += 1) following.noteGrowth();
  await vi.advanceTimersByTimeAsync(99);
  expect(follower.steps).toBe(0);
  await vi.advanceTimersByTimeAsync(200);
  expect(follower.indexed).toBe(25);
  expect(follower.steps).toBeLessThan(10);
  await following.close();
});

test("without the lease nothing is done, and it is asked for again while the index is behind", async () => {
  const follower = Object.assign(new Counting(), { position: 5 });
  const lease = { isFree: false, hold: async () => lease.isFree, close: vi.fn() };
  const following = new BackgroundIndexer({ follower, lease });
  following.noteGrowth();
  await vi.advanceTimersByTimeAsync(900);
  expect(follower.steps).toBe(0);
  lease.isFree = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(follower.indexed).toBe(5);
  await following.close();
  expect(lease.close).toHaveBeenCalled();
});

test("a fault is not the end: it looks again", async () => {
  const follower = Object.assign(new Counting(), { position: 5, fault: new Error("disk full") });
  const following = new BackgroundIndexer({ follower });
  following.noteGrowth();
  await vi.advanceTimersByTimeAsync(500);
  follower.fault = undefined as never;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(follower.indexed).toBe(5);
  await following.close();
});

test("a search has texts indexed where many are missing, and else nothing is done", async () => {
  const follower = Object.assign(new Counting(), { position: 100 });
  const following = new BackgroundIndexer({ follower });
  following.noteSearch();
  await vi.advanceTimersByTimeAsync(500);
  expect(follower.steps).toBe(0);
  follower.position = 200;
  for (let nth = 0; nth < 10; nth += 1) following.noteSearch();
  await vi.advanceTimersByTimeAsync(500);
  expect(follower.indexed).toBe(200);
  follower.position = 210;
  following.noteSearch();
  following.noteGrowth();
  await vi.advanceTimersByTimeAsync(500);
  expect(follower.indexed).toBe(210);
  await following.close();
});

test("segments are merged one merge at a time, and what is recorded meanwhile comes in between", async () => {
  const follower = Object.assign(new Counting(), { position: 5, unmerged: 12 });
  const following = new BackgroundIndexer({ follower });
  following.noteGrowth();
  await vi.advanceTimersByTimeAsync(150);
  expect(follower.unmerged).toBeGreaterThan(5);
  follower.position = 10;
  following.noteGrowth();
  await vi.advanceTimersByTimeAsync(25);
  expect(follower).toMatchObject({ indexed: 5 });
  await vi.advanceTimersByTimeAsync(75);
  expect(follower).toMatchObject({ indexed: 10 });
  expect(follower.unmerged).toBeGreaterThan(0);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(follower.unmerged).toBe(0);
  const { steps } = follower;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(follower.steps).toBe(steps);
  await following.close();
});

test("closing finishes a purge that is due, and nothing follows after it", async () => {
  const follower = new Counting();
  const following = new BackgroundIndexer({ follower });
  await following.close();
  expect(follower.purges).toBe(1);
  following.noteGrowth();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(follower.steps).toBe(0);
});
