// What an engine must be able to do for keys: keep their hashes, and say of each what holds at this very moment.
import type { Scope } from "../model/scope.js";

/** A key as it is kept: everything but the key itself. */
export interface StoredKey {
  readonly id: string;
  readonly scope: Scope;
  readonly name: string;
  /** SHA-256 of the key's text. */
  readonly hash: Uint8Array;
  readonly created_at: string;
  /** Absent while the key opens the door. */
  readonly revoked_at?: string;
}

export interface KeyLookup {
  /** Whether no key was ever made; revoked ones count, so that revoking the last key opens nothing. */
  readonly isEmpty: boolean;
  readonly key?: StoredKey;
}

export interface KeyStore {
  readonly engine: string;
  /** Durable when it returns. An id is never taken twice. */
  add(key: StoredKey): Promise<void>;
  /** The oldest first, those of one moment by their ids; revoked ones too. */
  list(): Promise<readonly StoredKey[]>;
  /** Durable when it returns. A key that was revoked before keeps its time; undefined where there is none. */
  revoke(id: string, at: string): Promise<StoredKey | undefined>;
  /** Sees whatever any process has finished before the call: this is asked with every request. */
  lookUp(id: string | undefined): Promise<KeyLookup>;
  close(): Promise<void>;
}
