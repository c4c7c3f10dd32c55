// What a fault is: a name for the table, where it can be injected, and a run of it.
import type { Engine, FireRun } from "./fire-run.js";

export interface Fault {
  readonly name: string;
  readonly engines: readonly Engine[];
  /** Its share of the runs. */
  readonly weight: number;
  /** Whether `npm test` runs it once: it is quick and needs nothing that has to be installed. */
  readonly isQuick?: boolean;
  /** Why this machine cannot inject it; undefined where it can. */
  readonly missing?: () => string | undefined;
  /** Whether it needs programs that only `npm run fire` installs. */
  readonly needsTools?: boolean;
  /** Leaves the store at rest; the caller compares it with what was acknowledged. */
  readonly run: (fire: FireRun) => Promise<void>;
}

export const both: readonly Engine[] = ["sqlite", "postgres"];
