// Keys: creating, listing and revoking them, identifying who sent one, and how engines store them.

import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { ACTOR_DEFAULT } from "../model/ids.js";
import type { Mask } from "../model/mask.js";
import { knownOptions, optionNames } from "../model/options.js";
import { orThrow, RecorderError, type Rejection, reject } from "../model/rejection.js";
import { formatTime } from "../model/time.js";
import { isScope, type Scope, scopes } from "./scopes.js";

/** A key as it is listed, without its text. */
export interface KeySummary {
  readonly id: string;
  readonly scope: Scope;
  readonly name: string;
  readonly created_at: string;
  /** Absent while the key is valid. */
  readonly revoked_at?: string;
}

/** A new key: the only time its text is returned. */
export interface CreatedKey {
  readonly id: string;
  readonly key: string;
  readonly scope: Scope;
  readonly name: string;
}

export interface KeyOptions {
  readonly scope: Scope;
  readonly name?: string | undefined;
  /** Who creates it, for the audit: `person` by default. */
  readonly actor?: string;
}

const keyOptionNames = optionNames<KeyOptions>({ scope: true, name: true, actor: true });

/** Who sends the request, and with which scope. */
export interface Caller {
  /** For the audit: `key:ID`, or `person` if there are no keys. */
  readonly actor: string;
  /** The id of the key; `""` if there are no keys. */
  readonly key_id: string;
  readonly scope: Scope;
}

/** The caller if there are no keys: everybody has full access. */
export const person: Caller = { actor: ACTOR_DEFAULT, key_id: "", scope: "admin" };

const NAME_BYTES_MAX = 256;

export class Keys {
  readonly #store: KeyStore;
  readonly #nowMs: () => number;
  readonly #note: KeysParts["note"];
  readonly #mask: Mask;

  constructor({ store, nowMs, note, mask }: KeysParts) {
    this.#store = store;
    this.#nowMs = nowMs;
    this.#note = note;
    this.#mask = mask;
  }

  /** Creates a key; its text is returned here and nowhere else. */
  async create(options: KeyOptions): Promise<CreatedKey> {
    const { scope, name } = orThrow(parseKey(knownOptions(options, keyOptionNames)));
    const { id, key } = newKey(randomBytes);
    // The audit entry first: no key may exist without one.
    await this.#note({ action: "key_created", actor: options.actor ?? ACTOR_DEFAULT, target: id });
    await this.#store.add({ id, scope, name, hash: hashOfKey(key), created_at: formatTime(this.#nowMs()) });
    return { id, key, scope, name };
  }

  /** All keys, revoked ones included, the oldest first. */
  async list(): Promise<{ readonly keys: readonly KeySummary[] }> {
    return { keys: (await this.#store.list()).map((key) => this.#summary(key)) };
  }

  /** Once this returns, no server accepts the key. Revoking it again changes nothing. */
  async revoke(id: string, options: { readonly actor?: string } = {}): Promise<KeySummary> {
    const { actor = ACTOR_DEFAULT } = knownOptions(options, ["actor"]);
    const { key } = await this.#store.lookUp(id);
    if (key === undefined) throw keyNotFound(id);
    if (key.revoked_at !== undefined) return this.#summary(key);
    await this.#note({ action: "key_revoked", actor, target: id });
    return this.#summary((await this.#store.revoke(id, formatTime(this.#nowMs()))) ?? key);
  }

  /** Whether any key is valid. */
  async hasActiveKey(): Promise<boolean> {
    return (await this.#store.list()).some(({ revoked_at }) => revoked_at === undefined);
  }

  /** Who sent this `Authorization` header, or why it is refused. Sees changes by other processes at once. */
  async authenticate(authorization: string | undefined): Promise<Caller | Rejection> {
    const text = authorization === undefined ? undefined : bearerOf(authorization);
    const { isEmpty, key } = await this.#store.lookUp(claimedKeyId(authorization));
    if (isEmpty) return person;
    if (authorization === undefined) return keyMissing();
    if (text === undefined || key === undefined || !isKeyOf(text, key.hash)) return keyWrong();
    return key.revoked_at === undefined ? { actor: `key:${key.id}`, key_id: key.id, scope: key.scope } : keyWrong();
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #summary({ id, scope, name, created_at, revoked_at }: StoredKey): KeySummary {
    return { id, scope, name: this.#mask.text(name), created_at, ...(revoked_at === undefined ? {} : { revoked_at }) };
  }
}

export interface KeysParts {
  readonly store: KeyStore;
  readonly nowMs: () => number;
  /** For names, since people sometimes enter the key there. */
  readonly mask: Mask;
  /** Audits durably that a key was created or revoked. */
  readonly note: (note: {
    readonly action: "key_created" | "key_revoked";
    readonly actor: string;
    readonly target: string;
  }) => Promise<unknown>;
}

/** The id part of the key that was sent, valid or not; it is not secret. Undefined if nothing like a key was sent. */
export function claimedKeyId(authorization: string | undefined): string | undefined {
  const text = authorization === undefined ? undefined : bearerOf(authorization);
  return text === undefined ? undefined : idOfKey(text);
}

function bearerOf(authorization: string): string | undefined {
  return /^bearer +([^ ]{1,200}) *$/i.exec(authorization)?.[1];
}

function parseKey(options: {
  readonly scope?: unknown;
  readonly name?: unknown;
}): { readonly scope: Scope; readonly name: string } | Rejection {
  const { scope, name = "" } = options;
  if (!isScope(scope)) {
    const message = scope === undefined ? "scope is missing" : "unknown scope";
    const code = scope === undefined ? "field_missing" : "field_invalid";
    return reject({ code, field: "scope", message, hint: `Scopes are ${scopes.join(", ")}.` });
  }
  if (typeof name !== "string" || !isName(name)) {
    const message = `name must be a text of at most ${NAME_BYTES_MAX} bytes without control characters`;
    return reject({ code: "field_invalid", field: "name", message });
  }
  return { scope, name };
}

function isName(name: string): boolean {
  return Buffer.byteLength(name) <= NAME_BYTES_MAX && name.isWellFormed() && !/\p{Cc}/u.test(name);
}

function keyMissing(): Rejection {
  return reject({
    code: "key_missing",
    message: "a key is required",
    hint: "Send it as `Authorization: Bearer KEY`; `hansard keys create --scope read` creates one.",
  });
}

/** The same answer for a key that never existed, one of another store, and a revoked one. */
function keyWrong(): Rejection {
  return reject({
    code: "key_wrong",
    message: "unknown or revoked key",
    hint: "Send a valid key as `Authorization: Bearer KEY`; `hansard keys list` shows the keys of this store.",
  });
}

function keyNotFound(id: string): RecorderError {
  return new RecorderError({
    code: "key_not_found",
    message: `unknown key ${JSON.stringify(id.slice(0, 128))}`,
    hint: "`hansard keys list` shows their ids.",
  });
}

/** A key's text is its id and a secret of 256 random bits. Only its hash is stored. */
const ID_BYTES = 8;
const SECRET_BYTES = 32;
const SHAPE = /^hansard_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;

interface NewKey {
  readonly id: string;
  readonly key: string;
}

function newKey(randomBytes: (count: number) => Uint8Array): NewKey {
  const id = Buffer.from(randomBytes(ID_BYTES)).toString("hex");
  return { id, key: `hansard_${id}_${Buffer.from(randomBytes(SECRET_BYTES)).toString("base64url")}` };
}

/** The id part of a key's text; undefined if the text is not a key. */
function idOfKey(text: string): string | undefined {
  return SHAPE.exec(text)?.[1];
}

/** Without salt, because 256 random bits cannot be guessed. */
function hashOfKey(text: string): Uint8Array {
  return hash("sha256", text, "buffer");
}

/** Compares in constant time. */
function isKeyOf(text: string, stored: Uint8Array): boolean {
  const given = hashOfKey(text);
  return given.byteLength === stored.byteLength && timingSafeEqual(given, stored);
}

/** A key as an engine stores it: everything but its text. */
export interface StoredKey {
  readonly id: string;
  readonly scope: Scope;
  readonly name: string;
  /** SHA-256 of the key's text. */
  readonly hash: Uint8Array;
  readonly created_at: string;
  /** Absent while the key is valid. */
  readonly revoked_at?: string;
}

export interface KeyLookup {
  /** Whether no key was ever created. Revoked ones count: revoking the last key does not open the store. */
  readonly isEmpty: boolean;
  readonly key?: StoredKey;
}

export interface KeyStore {
  readonly engine: string;
  /** Durable when it returns. An id is never taken twice. */
  add(key: StoredKey): Promise<void>;
  /** The oldest first, those of one moment by their ids; revoked ones too. */
  list(): Promise<readonly StoredKey[]>;
  /** Durable when it returns. A key that was already revoked keeps its time; undefined if there is no such key. */
  revoke(id: string, at: string): Promise<StoredKey | undefined>;
  /** Sees whatever any process has finished before the call: it runs with every request. */
  lookUp(id: string | undefined): Promise<KeyLookup>;
  close(): Promise<void>;
}
