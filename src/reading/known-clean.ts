// A mask that remembers which entries have nothing to hide. What was recorded never changes, and looking for secrets takes
// longer than all else that a list does with an entry it has shown before.
import type { EntrySummary } from "../model/entry.js";
import type { Mask } from "../model/mask.js";

/** Positions by the million, a bit each. */
const POSITIONS_MAX = 64 * 1024 * 1024;

export function knowingClean(mask: Mask): Mask {
  const clean = new PositionSet();
  return {
    find: (text) => mask.find(text),
    text: (text) => mask.text(text),
    value: (value) => mask.value(value),
    cut: (cut) => mask.cut(cut),
    entry<E extends object = EntrySummary>(entry: E): E {
      const position = fixedPosition(entry);
      if (position === undefined) return mask.entry(entry);
      if (clean.has(position)) return entry;
      const masked = mask.entry(entry);
      if (masked === entry) clean.add(position);
      return masked;
    },
  };
}

/** Of an entry that every view shows alike; an interaction is shown short and whole, and with a response that comes later. */
function fixedPosition(entry: object): number | undefined {
  const { position, kind } = entry as { readonly position?: unknown; readonly kind?: unknown };
  return typeof position === "number" && kind !== "interaction" && kind !== "response" ? position : undefined;
}

class PositionSet {
  #bits = new Uint32Array(1024);

  has(position: number): boolean {
    if (position >= POSITIONS_MAX) return false;
    return (((this.#bits[position >>> 5] ?? 0) >>> position) & 1) === 1;
  }

  add(position: number): void {
    if (position >= POSITIONS_MAX) return;
    const word = position >>> 5;
    if (word >= this.#bits.length) {
      const grown = new Uint32Array(Math.max(word + 1, this.#bits.length * 2));
      grown.set(this.#bits);
      this.#bits = grown;
    }
    this.#bits[word] = (this.#bits[word] as number) | (1 << position);
  }
}
