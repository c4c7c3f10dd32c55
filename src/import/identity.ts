// Who a record is: ids that come out the same whenever and from wherever the same thing is imported.
import { hash } from "node:crypto";
import { parseId, parseLabel } from "../model/ids.js";
import type { JsonObject } from "../model/json.js";
import { Rejection } from "../model/rejection.js";
import { Occurrences, type OccurrencesNote } from "./occurrences.js";

const HASH_CHARS = 32;

/** `<importer>:<native id>` where that is allowed, else a hash; the native one is then to be kept in `extra.native_id`. */
export function idOf(importer: string, native: string): { readonly id: string; readonly isNative: boolean } {
  const id = `${importer}:${native}`;
  return parseId(id) === id ? { id, isNative: true } : { id: hashedId(importer, [native]), isNative: false };
}

export function hashedId(importer: string, parts: readonly unknown[]): string {
  return `${importer}:${hash("sha256", canonical(parts), "hex").slice(0, HASH_CHARS)}`;
}

/** A session's key as it is where that is allowed, else a hash. */
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
 * Ids for records that have none of their own: a hash of the session and of all that the record says. Records with a
 * time of their own that say the very same are one, however often they were copied. Without a time nothing tells a copy
 * from a second "yes", so those are counted: two are two, and a file that has grown repeats the ids it had before.
 */
export class ContentIds {
  readonly #importer: string;
  readonly #seen: Occurrences;

  constructor(importer: string, known?: OccurrencesNote) {
    this.#importer = importer;
    this.#seen = new Occurrences(known);
  }

  /** What a reading that goes on later has to know. */
  note(): OccurrencesNote {
    return this.#seen.note();
  }

  idOf(session_id: string, record: JsonObject, isDated: boolean): string {
    return hashedId(this.#importer, [session_id, record, isDated ? 0 : this.#timesBefore(session_id, record)]);
  }

  #timesBefore(session_id: string, record: JsonObject): number {
    return this.#seen.count(hash("sha256", canonical([session_id, record]), "hex"));
  }
}

/** JSON with sorted keys: the order of keys is no part of what a record says. */
function canonical(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** A copy only where there is an object in it, since most identities are a few texts. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.some((item) => typeof item === "object") ? value.map(sorted) : value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted((value as JsonObject)[name])]));
}
