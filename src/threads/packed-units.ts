// Units on their way to the log's thread, as one run of bytes: cloning one buffer costs a fraction of cloning the objects.
import { SALT_BYTES } from "../model/chain.js";
import type { AppendUnit, LogEntry } from "../ports/entry-log.js";

const LENGTH_BYTES = 4;

/** What is not bytes by nature; small, and quickest as JSON. */
type EntryHead = readonly [kind: string, recorded_at: string, recorded_by: string, ...claims: readonly string[]];

/**
 * Four bytes each for the call and the number of units; then for each unit the number of its entries, and for each entry
 * the length of its head and of its body, the head, salt and body.
 */
export function packUnits(call: number, units: readonly AppendUnit[]): Uint8Array<ArrayBuffer> {
  const heads = units.map((unit) => unit.map(headOf));
  const bytes = Buffer.from(new ArrayBuffer(sizeOf(units, heads)));
  let at = bytes.writeUInt32LE(call, 0);
  at = bytes.writeUInt32LE(units.length, at);
  for (const [unitIndex, unit] of units.entries()) {
    at = bytes.writeUInt32LE(unit.length, at);
    for (const [index, entry] of unit.entries()) {
      const head = heads[unitIndex]?.[index] as string;
      const headBytes = bytes.write(head, at + 2 * LENGTH_BYTES, "utf8");
      at = bytes.writeUInt32LE(headBytes, at);
      at = bytes.writeUInt32LE(entry.body.byteLength, at) + headBytes;
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
  const units = Array.from({ length: takeNumber() }, () =>
    Array.from({ length: takeNumber() }, (): LogEntry => {
      const headBytes = takeNumber();
      const bodyBytes = takeNumber();
      const [kind, recorded_at, recorded_by, ...claims] = JSON.parse(take(headBytes).toString("utf8")) as EntryHead;
      return {
        kind,
        recorded_at,
        recorded_by,
        claims,
        salt: take(SALT_BYTES),
        body: take(bodyBytes),
      };
    }),
  );
  return { call, units };
}

function headOf(entry: LogEntry): string {
  const head: EntryHead = [entry.kind, entry.recorded_at, entry.recorded_by, ...entry.claims];
  return JSON.stringify(head);
}

function sizeOf(units: readonly AppendUnit[], heads: readonly (readonly string[])[]): number {
  let size = 2 * LENGTH_BYTES;
  for (const [unitIndex, unit] of units.entries()) {
    size += LENGTH_BYTES;
    for (const [index, entry] of unit.entries()) {
      const head = heads[unitIndex]?.[index] as string;
      size += 2 * LENGTH_BYTES + Buffer.byteLength(head) + SALT_BYTES + entry.body.byteLength;
    }
  }
  return size;
}
