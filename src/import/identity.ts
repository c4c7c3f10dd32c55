// Ids of imported records: the same every time the same record is imported, from anywhere.
import { hash } from "node:crypto";
import { parseId, parseLabel } from "../model/ids.js";
import type { JsonObject } from "../model/json.js";
import { Rejection } from "../model/rejection.js";

const HASH_CHARS = 32;

/**
 * `<importer>:<native id>` if that is a valid id, otherwise a hash; the native id then belongs in `extra.native_id`.
 */
export function idOf(importer: string, native: string): { readonly id: string; readonly isNative: boolean } {
  const id = `${importer}:${native}`;
  return parseId(id) === id ? { id, isNative: true } : { id: hashedId(importer, [native]), isNative: false };
}

export function hashedId(importer: string, parts: readonly unknown[]): string {
  return `${importer}:${hash("sha256", canonical(parts), "hex").slice(0, HASH_CHARS)}`;
}

/** A session's key if that is a valid session id, otherwise a hash. */
export function sessionOf(
  importer: string,
  key: string,
): { readonly session_id: string; readonly native_id: string | undefined } {
  const isAllowed = key !== "" && !(parseLabel("session_id", key) instanceof Rejection);
  return isAllowed
    ? { session_id: key, native_id: undefined }
    : { session_id: hashedId(importer, ["session", key]), native_id: key };
}

/**
 * Ids for records without one: a hash of the session and the whole record. Equal records with a time are one, however
 * often they were copied. Without a time, a copy cannot be distinguished from a second "yes", so repetitions are
 * numbered: two are two, and a file that has grown gets the ids it had before.
 */
export class ContentIds {
  readonly #importer: string;
  readonly #seen: OccurrenceCounter;

  constructor(importer: string, known?: OccurrenceCounts) {
    this.#importer = importer;
    this.#seen = new OccurrenceCounter(known);
  }

  /** State for a reading that resumes later. */
  state(): OccurrenceCounts {
    return this.#seen.state();
  }

  idOf(session_id: string, record: JsonObject, isDated: boolean): string {
    return hashedId(this.#importer, [session_id, record, isDated ? 0 : this.#timesBefore(session_id, record)]);
  }

  #timesBefore(session_id: string, record: JsonObject): number {
    return this.#seen.count(hash("sha256", canonical([session_id, record]), "hex"));
  }
}

/** JSON with sorted keys, since their order has no meaning. */
function canonical(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** Copies only what contains an object, since most identities are a few texts. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.some((item) => typeof item === "object") ? value.map(sorted) : value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted((value as JsonObject)[name])]));
}

const KEY_DIGITS = 13;
const SLOTS_MIN = 1024;
/** With more slots in use than this, finding a free one takes long. */
const FULL_SHARE = 0.6;

/** State for a reading that resumes later. */
export interface OccurrenceCounts {
  readonly keys: Float64Array;
  readonly times: Uint32Array;
}

/**
 * Counts occurrences by the first 52 bits of a hash, in two typed arrays: 12 bytes a slot, an eighth of a map of
 * strings, since a file of a gigabyte has a million records. A collision only gives one record a number that is one too
 * high.
 */
export class OccurrenceCounter {
  #keys = new Float64Array(SLOTS_MIN);
  #times = new Uint32Array(SLOTS_MIN);
  #used = 0;

  constructor(known?: OccurrenceCounts) {
    if (known === undefined) return;
    while (known.keys.length > this.#keys.length * FULL_SHARE) this.#resize(this.#keys.length * 2);
    for (const [at, key] of known.keys.entries()) this.#put(key, known.times[at] as number);
    this.#used = known.keys.length;
  }

  /** Only the slots in use. */
  state(): OccurrenceCounts {
    return { keys: this.#keys.filter((key) => key !== 0), times: this.#times.filter((times) => times !== 0) };
  }

  /** How often this hash, as hexadecimal text, occurred before. */
  count(hash: string): number {
    // No slot in use holds zero.
    const key = Number.parseInt(hash.slice(0, KEY_DIGITS), 16) + 1;
    const slot = this.#slotOf(key);
    const times = this.#times[slot] as number;
    this.#times[slot] = times + 1;
    if (times > 0) return times;
    this.#keys[slot] = key;
    this.#used += 1;
    if (this.#used > this.#keys.length * FULL_SHARE) this.#resize(this.#keys.length * 2);
    return 0;
  }

  clear(): void {
    this.#keys = new Float64Array(SLOTS_MIN);
    this.#times = new Uint32Array(SLOTS_MIN);
    this.#used = 0;
  }

  /** The slot of a key, or the free one where it belongs. */
  #slotOf(key: number): number {
    const mask = this.#keys.length - 1;
    let slot = key % this.#keys.length;
    while (this.#keys[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #put(key: number, times: number): void {
    const slot = this.#slotOf(key);
    this.#keys[slot] = key;
    this.#times[slot] = times;
  }

  #resize(slots: number): void {
    const keys = this.#keys;
    const times = this.#times;
    this.#keys = new Float64Array(slots);
    this.#times = new Uint32Array(slots);
    for (const [slot, key] of keys.entries()) if (key !== 0) this.#put(key, times[slot] as number);
  }
}
