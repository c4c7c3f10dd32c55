// Units on their way to the log's thread and outcomes on their way back: one buffer is cloned in a fraction of the time
// that objects take.

import type { AppendOutcome, AppendUnit, LogEntry, Placement, TakenClaim } from "../log/port.js";
import { SALT_BYTES } from "../model/chain.js";
import { makeInSlices, mapInSlices, TimeSlice } from "../model/scheduling.js";

const LENGTH_BYTES = 4;

/** The fields that are not bytes; small, and fastest as JSON. */
type EntryHead = readonly [kind: string, recorded_at: string, recorded_by: string, ...claims: readonly string[]];

export type PackedUnits = Uint8Array<ArrayBuffer>;

/**
 * Format: call number and length of the heads (four bytes each); the heads of all entries as one JSON text, because
 * thousands of short texts take longer to write; then for each entry the length of its body, salt and body.
 */
export function packUnits(units: readonly AppendUnit[]): PackedUnits {
  const heads = JSON.stringify(units.map((unit) => unit.map(headOf)));
  const { bytes, entriesAt } = begunWith(heads, sizeOf(units));
  let at = entriesAt;
  for (const unit of units) for (const entry of unit) at = writeEntry(bytes, at, entry);
  return bytes as PackedUnits;
}

/** The same of so many that it would hold everybody else up. */
export async function packInTurns(units: readonly AppendUnit[]): Promise<PackedUnits> {
  const slice = new TimeSlice();
  const heads: string[] = [];
  for (const unit of units) heads.push((await mapInSlices(unit, headText, slice)).join(","));
  await slice.next();
  const { bytes, entriesAt } = begunWith(`[${heads.map((texts) => `[${texts}]`).join(",")}]`, sizeOf(units));
  await slice.next();
  let at = entriesAt;
  for (const entry of units.flat()) {
    at = writeEntry(bytes, at, entry);
    if (slice.isOver) await slice.next();
  }
  return bytes as PackedUnits;
}

/** Sets the number of the call. */
export function addressed(packed: PackedUnits, call: number): PackedUnits {
  new DataView(packed.buffer).setUint32(0, call, true);
  return packed;
}

function begunWith(headsText: string, entriesSize: number): { readonly bytes: Buffer; readonly entriesAt: number } {
  const heads = Buffer.from(headsText);
  const bytes = Buffer.from(new ArrayBuffer(2 * LENGTH_BYTES + heads.byteLength + entriesSize));
  const at = bytes.writeUInt32LE(heads.byteLength, LENGTH_BYTES);
  return { bytes, entriesAt: at + heads.copy(bytes, at) };
}

function writeEntry(bytes: Buffer, from: number, { salt, body }: LogEntry): number {
  const at = bytes.writeUInt32LE(body.byteLength, from);
  bytes.set(salt, at);
  bytes.set(body, at + SALT_BYTES);
  return at + SALT_BYTES + body.byteLength;
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

function headText(entry: LogEntry): string {
  return JSON.stringify(headOf(entry));
}

/** Size of everything after the heads. */
function sizeOf(units: readonly AppendUnit[]): number {
  let size = 0;
  for (const unit of units) for (const { body } of unit) size += LENGTH_BYTES + SALT_BYTES + body.byteLength;
  return size;
}

const HASH_BYTES = 32;

export interface PackedOutcomes {
  readonly units: readonly PackedOutcome[];
  readonly hashes: Uint8Array;
}

/**
 * The first position of a unit and its number of entries; or item, claim and position of each taken claim in one flat
 * list: cloning thousands of objects takes several times as long, and blocks the receiving thread.
 */
type PackedOutcome = readonly [first: number, count: number] | { readonly taken: readonly (number | string)[] };

const TAKEN_WIDTH = 3;

export function packOutcomes(outcomes: readonly AppendOutcome[]): PackedOutcomes {
  const placements = outcomes.flatMap((outcome) => ("placed" in outcome ? outcome.placed : []));
  const hashes = new Uint8Array(placements.length * HASH_BYTES);
  for (const [index, placement] of placements.entries()) hashes.set(placement.hash, index * HASH_BYTES);
  const units = outcomes.map((outcome): PackedOutcome => {
    if ("placed" in outcome) return [outcome.placed[0]?.position ?? 0, outcome.placed.length];
    return { taken: outcome.taken.flatMap(({ item, claim, position }) => [item, claim, position]) };
  });
  return { units, hashes };
}

export function unpackOutcomes({ units, hashes }: PackedOutcomes): readonly AppendOutcome[] {
  let used = 0;
  return units.map((unit) => {
    if ("taken" in unit) {
      return { taken: Array.from({ length: unit.taken.length / TAKEN_WIDTH }, (_, nth) => takenAt(unit.taken, nth)) };
    }
    const [first, count] = unit;
    const from = used;
    used += count;
    return { placed: Array.from({ length: count }, (_, nth) => placementAt(hashes, from + nth, first + nth)) };
  });
}

/** The same of so many that it would hold everybody else up. */
export async function unpackInTurns({ units, hashes }: PackedOutcomes): Promise<readonly AppendOutcome[]> {
  const slice = new TimeSlice();
  const outcomes: AppendOutcome[] = [];
  let used = 0;
  for (const unit of units) {
    if ("taken" in unit) {
      const count = unit.taken.length / TAKEN_WIDTH;
      outcomes.push({ taken: await makeInSlices(count, (nth) => takenAt(unit.taken, nth), slice) });
      continue;
    }
    const [first, count] = unit;
    const from = used;
    used += count;
    outcomes.push({ placed: await makeInSlices(count, (nth) => placementAt(hashes, from + nth, first + nth), slice) });
  }
  return outcomes;
}

function placementAt(hashes: Uint8Array, nth: number, position: number): Placement {
  return { position, hash: hashes.subarray(nth * HASH_BYTES, (nth + 1) * HASH_BYTES) };
}

function takenAt(taken: readonly (number | string)[], nth: number): TakenClaim {
  const [item, claim, position] = taken.slice(nth * TAKEN_WIDTH, (nth + 1) * TAKEN_WIDTH);
  return { item: item as number, claim: claim as string, position: position as number };
}
