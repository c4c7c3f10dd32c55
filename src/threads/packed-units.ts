// Units on their way to the log's thread, as one run of bytes: cloning one buffer costs a fraction of cloning the objects.
import { SALT_BYTES } from "../model/chain.js";
import type { AppendUnit, LogEntry } from "../ports/entry-log.js";

const LENGTH_BYTES = 4;

/** What is not bytes by nature; small, and quickest as JSON. */
type EntryHead = readonly [kind: string, recorded_at: string, recorded_by: string, ...claims: readonly string[]];

/**
 * Four bytes each for the call and the length of the heads; the heads, of all entries of all units at
 * once, because thousands of short texts take longer to write than one long one; then for each entry the length of its
 * body, salt and body.
 */
export function packUnits(call: number, units: readonly AppendUnit[]): Uint8Array<ArrayBuffer> {
  const heads = Buffer.from(JSON.stringify(units.map((unit) => unit.map(headOf))));
  const bytes = Buffer.from(new ArrayBuffer(2 * LENGTH_BYTES + heads.byteLength + sizeOf(units)));
  let at = bytes.writeUInt32LE(call, 0);
  at = bytes.writeUInt32LE(heads.byteLength, at);
  at += heads.copy(bytes, at);
  for (const unit of units) {
    for (const entry of unit) {
      at = bytes.writeUInt32LE(entry.body.byteLength, at);
      bytes.set(entry.salt, at);
      bytes.set(entry.body, at + SALT_BYTES);
      at += SALT_BYTES + entry.body.byteLength;
    }
  }
  return bytes as Uint8Array<ArrayBuffer>;
}

export function unpackUnits(packed: Uint8Array): { readonly call: number; readonly units: readonly AppendUnit[] } {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  let at = 0;
  const takeNumber = (): number => {
    at += LENGTH_BYTES;
    return bytes.readUInt32LE(at - LENGTH_BYTES);
  };
  const take = (count: number): Buffer => {
    at += count;
    return bytes.subarray(at - count, at);
  };
  const call = takeNumber();
  const heads = JSON.parse(take(takeNumber()).toString("utf8")) as readonly (readonly EntryHead[])[];
  const units = heads.map((unit) =>
    unit.map(([kind, recorded_at, recorded_by, ...claims]): LogEntry => {
      const bodyBytes = takeNumber();
      return { kind, recorded_at, recorded_by, claims, salt: take(SALT_BYTES), body: take(bodyBytes) };
    }),
  );
  return { call, units };
}

function headOf({ kind, recorded_at, recorded_by, claims }: LogEntry): EntryHead {
  return [kind, recorded_at, recorded_by, ...claims];
}

/** Of what follows the heads. */
function sizeOf(units: readonly AppendUnit[]): number {
  let size = 0;
  for (const unit of units) for (const { body } of unit) size += LENGTH_BYTES + SALT_BYTES + body.byteLength;
  return size;
}
