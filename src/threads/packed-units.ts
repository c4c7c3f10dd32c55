// Units on their way to another thread: one buffer that is handed over instead of thousands of small copies.
import { SALT_BYTES } from "../model/chain.js";
import type { AppendUnit, LogEntry } from "../ports/entry-log.js";

const COMMITMENT_BYTES = 32;

export interface PackedUnits {
  /** Salt, commitment and body of every entry, one after the other. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly body_lengths: readonly number[];
  readonly kinds: readonly string[];
  readonly times: readonly string[];
  readonly claims: readonly (readonly string[])[];
  readonly unit_lengths: readonly number[];
}

export function packUnits(units: readonly AppendUnit[]): PackedUnits {
  const entries = units.length === 1 ? (units[0] as AppendUnit) : units.flat();
  let size = 0;
  for (const entry of entries) size += SALT_BYTES + COMMITMENT_BYTES + entry.body.byteLength;
  const bytes = new Uint8Array(new ArrayBuffer(size));
  let at = 0;
  for (const entry of entries) {
    bytes.set(entry.salt, at);
    bytes.set(entry.commitment, at + SALT_BYTES);
    bytes.set(entry.body, at + SALT_BYTES + COMMITMENT_BYTES);
    at += SALT_BYTES + COMMITMENT_BYTES + entry.body.byteLength;
  }
  return {
    bytes,
    body_lengths: entries.map((entry) => entry.body.byteLength),
    kinds: entries.map((entry) => entry.kind),
    times: entries.map((entry) => entry.recorded_at),
    claims: entries.map((entry) => entry.claims),
    unit_lengths: units.map((unit) => unit.length),
  };
}

export function unpackUnits(packed: PackedUnits): readonly AppendUnit[] {
  let at = 0;
  let index = 0;
  const take = (count: number): Uint8Array => {
    at += count;
    return packed.bytes.subarray(at - count, at);
  };
  return packed.unit_lengths.map((length) => {
    const unit: LogEntry[] = [];
    for (let i = 0; i < length; i += 1) {
      const salt = take(SALT_BYTES);
      const commitment = take(COMMITMENT_BYTES);
      const body = take(packed.body_lengths[index] as number);
      unit.push({
        kind: packed.kinds[index] as string,
        recorded_at: packed.times[index] as string,
        claims: packed.claims[index] as readonly string[],
        salt,
        commitment,
        body,
      });
      index += 1;
    }
    return unit;
  });
}
