// Turns a draft into what the log stores: body, salt and claims. Also for entries that only the log itself writes.
import { randomFillSync } from "node:crypto";
import { SALT_BYTES } from "../../model/chain.js";
import { claimsOf } from "../../model/claims.js";
import type { ReservedFieldsByKind, ReservedKind } from "../../model/entry.js";
import { Fault } from "../../model/fault.js";
import { uuidV7 } from "../../model/ids.js";
import type { JsonObject } from "../../model/json.js";
import { limits } from "../../model/limits.js";
import { Rejection, reject } from "../../model/rejection.js";
import { formatTime } from "../../model/time.js";
import type { LogEntry } from "../port.js";
import type { Draft } from "./draft.js";

/** Clock, randomness, and the key that entries come in with; tests pass their own. */
export interface WriteContext {
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** The id of the key; undefined if keys are not required. */
  readonly recorded_by?: string | undefined;
}

export interface Packed {
  readonly id: string;
  readonly created_at: string;
  readonly draft: Draft;
  readonly entry: LogEntry;
}

/**
 * Encodes a text as UTF-8, with room for the salt in front. (The library's declarations must not need Node's types.)
 */
export type Room = (text: string) => Uint8Array;

export function pack(draft: Draft, writeContext: WriteContext, room: Room = ownRoom): Packed | Rejection {
  const nowMs = writeContext.nowMs();
  const id = draft.id ?? uuidV7({ nowMs, random: writeContext.randomBytes(10) });
  const text = encodeBody(id, draft);
  if (typeof text !== "string") return text;
  // Salt and body are adjacent, as they are hashed together.
  const bytes = room(text);
  bytes.set(writeContext.randomBytes(SALT_BYTES));
  const salt = bytes.subarray(0, SALT_BYTES);
  const body = bytes.subarray(SALT_BYTES);
  if (body.byteLength > limits.entry_bytes) return tooLarge(body.byteLength);
  const recorded_at = formatTime(nowMs);
  const claims = claimsOf(draft.kind, draft.body as JsonObject, id);
  return {
    id,
    created_at: (draft.body.created_at as string | undefined) ?? recorded_at,
    draft,
    entry: { kind: draft.kind, recorded_at, recorded_by: writeContext.recorded_by ?? "", salt, body, claims },
  };
}

function encodeBody(id: string, draft: Draft): string | Rejection {
  try {
    return JSON.stringify({ id, ...draft.body });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return reject({ code: "field_invalid", field: "entry", message: `the entry is not JSON: ${reason}` });
  }
}

function tooLarge(bytes: number): Rejection {
  return reject({
    code: "entry_too_large",
    message: `the entry's JSON has ${bytes} bytes; at most ${limits.entry_bytes} (16 MiB) are allowed`,
    hint: "Store large blobs elsewhere and record where they are.",
  });
}

const SHARED_ROOM_BYTES = 256 * 1024;
/** The most UTF-8 bytes per UTF-16 unit. */
const CHAR_BYTES_MAX = 3;

function ownRoom(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(SALT_BYTES + Buffer.byteLength(text));
  bytes.write(text, SALT_BYTES, "utf8");
  return bytes;
}

/**
 * Buffers for a batch of entries: thousands of single buffers would have to be allocated and collected. If a text fits
 * in any case, its bytes are not counted first.
 */
export function sharedRoom(): Room {
  let rest = Buffer.alloc(0);
  return (text) => {
    const bytesMax = SALT_BYTES + text.length * CHAR_BYTES_MAX;
    if (bytesMax > SHARED_ROOM_BYTES / 4) return ownRoom(text);
    if (bytesMax > rest.length) rest = Buffer.allocUnsafeSlow(SHARED_ROOM_BYTES);
    const end = SALT_BYTES + rest.write(text, SALT_BYTES, "utf8");
    const taken = rest.subarray(0, end);
    rest = rest.subarray(end);
    return taken;
  };
}

/** Random bytes from a pool, since asking the system for sixteen at a time costs more than the entry's hash. */
export function pooledRandomBytes(): (count: number) => Uint8Array {
  const pool = Buffer.allocUnsafe(8192);
  let used = pool.length;
  return (count) => {
    if (used + count > pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const bytes = Uint8Array.prototype.slice.call(pool, used, used + count);
    used += count;
    return bytes;
  };
}

export interface OwnEntry {
  readonly id: string;
  readonly entry: LogEntry;
}

/** Packs an entry of a reserved kind. Its project is that of what it is about, and is forgotten with it. */
export function packOwn<K extends ReservedKind>(
  kind: K,
  fields: ReservedFieldsByKind[K],
  writeContext: WriteContext,
  labels: { readonly id?: string | undefined; readonly project?: string; readonly client?: string } = {},
): OwnEntry {
  const { id, project = "", client = "" } = labels;
  const where = { ...(project !== "" && { project }), ...(client !== "" && { client }) };
  const packed = pack({ kind, id, body: { ...where, ...fields } }, writeContext);
  // Only its size could be refused, and callers keep it small.
  if (packed instanceof Rejection) throw new Fault("store_failed", packed.message, { hint: packed.hint ?? "" });
  return packed;
}
