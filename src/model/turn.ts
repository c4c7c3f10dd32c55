// How long one piece of work may keep a thread to itself: whoever works through much lets others have their turn between.

/** Small requests need a few turns of the event loop each, and wait this long for each of them. */
const TURN_MS = 8;

export class Turn {
  #overAtMs = performance.now() + TURN_MS;

  /** Asked between two pieces of work; where it is true, `next` is to be awaited before more is done. */
  get isOver(): boolean {
    return performance.now() >= this.#overAtMs;
  }

  /** Whatever waits for this thread has its turn first. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#overAtMs = performance.now() + TURN_MS;
  }
}

/** Makes something of each item, in turns. */
export function mapInTurns<T, R>(
  items: readonly T[],
  make: (item: T, index: number) => R,
  turn: Turn = new Turn(),
): Promise<readonly R[]> {
  return makeInTurns(items.length, (index) => make(items[index] as T, index), turn);
}

/** Makes so many, in turns. */
export async function makeInTurns<R>(count: number, make: (nth: number) => R, turn: Turn): Promise<readonly R[]> {
  const made: R[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    made.push(make(nth));
    if (turn.isOver) await turn.next();
  }
  return made;
}
