// A file that is read as if nothing could change it, and the look that tells whether somebody did.
import { existsSync, statSync } from "node:fs";
import { Fault } from "../../model/fault.js";

export class StillFile {
  readonly #path: string;
  readonly #seen: string;

  constructor(path: string) {
    this.#path = path;
    this.#seen = this.#look();
  }

  /** Called after what was read, which may be of two states where somebody has begun to write. */
  assertStill(): void {
    if (this.#look() === this.#seen) return;
    throw new Fault("store_busy", `${this.#path} has begun to change while it was read`, {
      hint: "Another program writes to it now; ask again.",
    });
  }

  #look(): string {
    return [this.#path, `${this.#path}-wal`].map(stateOf).join(" ");
  }
}

/** An empty WAL is laid out by whoever opens a database, and says nothing. */
function stateOf(path: string): string {
  if (!existsSync(path)) return "0";
  const { size, mtimeMs } = statSync(path);
  return size === 0 ? "0" : `${size}@${mtimeMs}`;
}
