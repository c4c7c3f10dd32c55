// Leases: which of all processes on a store does what only one of them should, such as learning in the background.

export interface Leases {
  readonly engine: string;
  /**
   * Whether this instance holds the lease of this name at this moment, after trying to take one that is free. It never
   * waits. No two instances hold the same at once, in whichever processes they are; of several that ask at the same time
   * perhaps none gets it, and it asks again later.
   *
   * A lease lasts until it is given back or its process ends, however that ends: nothing has to run out before another
   * takes it over. It can also be lost, with the connection to a database or a file that somebody removed. So whoever
   * works under one asks again before every piece of the work.
   *
   * A name is made of lower-case letters and hyphens.
   */
  hold(name: string): Promise<boolean>;
  /** Gives it back; a lease that is not held here stays with whoever holds it. */
  release(name: string): Promise<void>;
  /** Gives all of them back. */
  close(): Promise<void>;
}

/** A single lease. */
export interface NamedLease {
  hold(): Promise<boolean>;
  close(): void;
}

export function leaseOf(leases: Leases, name: string): NamedLease {
  return {
    hold: () => leases.hold(name),
    // What cannot be given back now, because the store is away, goes with the connection to it.
    close: () => void leases.release(name).catch(() => undefined),
  };
}
