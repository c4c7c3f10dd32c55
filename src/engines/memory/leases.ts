// Leases in memory: nobody else is there to hold one.
import type { Leases } from "../../model/lease.js";

export class MemoryLeases implements Leases {
  readonly engine = "memory";

  async hold(): Promise<boolean> {
    return true;
  }

  async release(): Promise<void> {}

  async close(): Promise<void> {}
}
