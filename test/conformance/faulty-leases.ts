// Leases that are wrong in one respect each, to show that the conformance suite notices.
import type { Leases } from "../../src/model/lease.js";

/** Leases as they should be, among all that share a book. */
class BookLeases implements Leases {
  readonly engine: string = "memory";
  constructor(readonly book: Map<string, BookLeases>) {}

  async hold(name: string): Promise<boolean> {
    if (!this.book.has(name)) this.book.set(name, this);
    return this.book.get(name) === this;
  }

  async release(name: string): Promise<void> {
    if (this.book.get(name) === this) this.book.delete(name);
  }

  async close(): Promise<void> {
    for (const name of [...this.book.keys()]) await this.release(name);
  }
}

class HeldByAll extends BookLeases {
  override async hold(): Promise<boolean> {
    return true;
  }
}

class OneNameForAll extends BookLeases {
  override hold(): Promise<boolean> {
    return super.hold("any");
  }
}

class TakenOnce extends BookLeases {
  override async hold(name: string): Promise<boolean> {
    return !this.book.has(name) && super.hold(name);
  }
}

class GivenBackByAnybody extends BookLeases {
  override async release(name: string): Promise<void> {
    this.book.delete(name);
  }
}

class LeftBehind extends BookLeases {
  override async close(): Promise<void> {}
}

class AllAtOnce extends BookLeases {
  override async release(): Promise<void> {
    for (const name of [...this.book.keys()]) await super.release(name);
  }
}

type FaultyLeases = new (book: Map<string, BookLeases>) => Leases;

/** Each with a part of the behaviour that must be found broken; the first is right and breaks nothing. */
export const faultyLeases: readonly { readonly Faulty: FaultyLeases; readonly breaks: string | undefined }[] = [
  { Faulty: BookLeases, breaks: undefined },
  { Faulty: HeldByAll, breaks: "while one instance holds a lease" },
  { Faulty: OneNameForAll, breaks: "do not conflict" },
  { Faulty: TakenOnce, breaks: "held for as long as requested" },
  { Faulty: GivenBackByAnybody, breaks: "only its holder can release a lease" },
  { Faulty: LeftBehind, breaks: "is free for the next" },
  { Faulty: AllAtOnce, breaks: "is free for the next" },
];

/** Opens faulty leases by the name of a store, as the suite asks for them. */
export function openerOf(Faulty: FaultyLeases): (store: string) => Promise<Leases> {
  const books = new Map<string, Map<string, BookLeases>>();
  return async (store) => {
    const book = books.get(store) ?? new Map<string, BookLeases>();
    books.set(store, book);
    return new Faulty(book);
  };
}
