// Large parts of bodies that go out as they were recorded: lifted out of what is built, and put back where it is written.
import { randomUUID } from "node:crypto";
import { parseBody } from "./body.js";
import type { JsonObject } from "./json.js";
import { membersOf } from "./members.js";

/** What is smaller is built more quickly than it is lifted. */
const LARGE_BYTES = 64 * 1024;

export class LiftedParts {
  /** Nobody who recorded something can have known it. */
  readonly #mark = `lifted:${randomUUID()}:`;
  readonly #parts: Buffer[] = [];

  /** A body with a mark in place of each large member, but for those that somebody has to look into. */
  parseBody(position: number, bytes: Uint8Array, built: ReadonlySet<string> = new Set()): JsonObject {
    const members = bytes.byteLength < LARGE_BYTES ? undefined : membersOf(bytes);
    if (members === undefined) return parseBody(position, bytes);
    const pairs = [...members].map(([name, value]): readonly [string, unknown] => {
      const isLifted = value.byteLength >= LARGE_BYTES && !built.has(name);
      return [name, isLifted ? this.#lift(value) : JSON.parse(value.toString("utf8"))];
    });
    return Object.fromEntries(pairs) as JsonObject;
  }

  /** The JSON of what was made of such bodies, with all that was lifted at its place. */
  json(value: unknown): Buffer {
    const pieces: Buffer[] = [];
    // What stands between two marks, and the number of the second.
    for (const [at, piece] of JSON.stringify(value)
      .split(new RegExp(`"${this.#mark}(\\d+)"`))
      .entries()) {
      pieces.push(at % 2 === 0 ? Buffer.from(piece) : (this.#parts[Number(piece)] as Buffer));
    }
    return Buffer.concat(pieces);
  }

  #lift(value: Buffer): string {
    this.#parts.push(value);
    return `${this.#mark}${this.#parts.length - 1}`;
  }
}
