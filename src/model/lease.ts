// Leases: which of the processes on a store does work that only one of them should do, such as learning in the
// background.

export interface Leases {
  readonly engine: string;
  /**
   * Whether this instance holds the named lease now, after trying to take a free one. It never waits. No two instances
   * hold the same lease at once, in any processes; if several ask at the same time, perhaps none gets it, and they ask
   * again later. A lease ends when it is given back or when its process ends, in whatever way: no timeout has to pass
   * before another takes it over. It can also be lost, with the connection to a database or a deleted file, so its
   * holder asks again before every step. A name consists of lower-case letters and hyphens.
   */
  hold(name: string): Promise<boolean>;
  /** Gives it back; does nothing if another instance holds it. */
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
    // If the store is unreachable, the lease ends with the connection.
    close: () => void leases.release(name).catch(() => undefined),
  };
}
