// Notes the first altered body that any thread reads from the log, so `/health` can report it.
import type { EntryLog } from "./port.js";

/** Memory shared by threads; it holds the position, 0 while none was read. */
export class AlteredNote {
  readonly memory: BigInt64Array;

  constructor(memory: BigInt64Array = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))) {
    this.memory = memory;
  }

  /** Position of the first altered body that was read. */
  get position(): number | undefined {
    const position = Number(Atomics.load(this.memory, 0));
    return position === 0 ? undefined : position;
  }

  note(position: number): void {
    Atomics.compareExchange(this.memory, 0, 0n, BigInt(position));
  }
}

type Found = readonly ({ readonly position: number; readonly flaw?: string } | undefined)[];
type Read = (...query: readonly unknown[]) => Promise<Found>;

const READS: ReadonlySet<unknown> = new Set(["read", "readBodies", "get", "getBodies"] satisfies (keyof EntryLog)[]);

/** The same log, whose reads note altered bodies. */
export function notingAltered(log: EntryLog, note: AlteredNote): EntryLog {
  // Of an object of its own: what a proxy hands out of a frozen one must be exactly what that one has.
  return new Proxy({} as EntryLog, {
    has: (_, name) => name in log,
    get(_, name) {
      const value: unknown = Reflect.get(log, name);
      if (typeof value !== "function") return value;
      const method = value.bind(log) as Read;
      if (!READS.has(name)) return method;
      return async (...query: readonly unknown[]): Promise<Found> => {
        const found = await method(...query);
        for (const stored of found) if (stored?.flaw !== undefined) note.note(stored.position);
        return found;
      };
    },
  });
}
