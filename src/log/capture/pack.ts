// A draft becomes the bytes that the log stores: body and salt.
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

/** Where time and chance come from, and by whose key; tests give their own. */
export interface WriteContext {
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** The id of the key that entries come in with; without one, nobody was asked for a key. */
  readonly recorded_by?: string | undefined;
}

export interface Packed {
  readonly id: string;
  readonly created_at: string;
  readonly draft: Draft;
  readonly entry: LogEntry;
}

/** A text as UTF-8, behind room for a salt, in a buffer; the declarations of the library need no types of Node's. */
export type Room = (text: string) => Uint8Array;

export function pack(draft: Draft, surroundings: WriteContext, room: Room = ownRoom): Packed | Rejection {
  const nowMs = surroundings.nowMs();
  const id = draft.id ?? uuidV7({ nowMs, random: surroundings.randomBytes(10) });
  const text = encodeBody(id, draft);
  if (typeof text !== "string") return text;
  // Salt and body lie side by side, as they are hashed together.
  const bytes = room(text);
  bytes.set(surroundings.randomBytes(SALT_BYTES));
  const salt = bytes.subarray(0, SALT_BYTES);
  const body = bytes.subarray(SALT_BYTES);
  if (body.byteLength > limits.entry_bytes) return tooLarge(body.byteLength);
  const recorded_at = formatTime(nowMs);
  const claims = claimsOf(draft.kind, draft.body as JsonObject, id);
  return {
    id,
    created_at: (draft.body.created_at as string | undefined) ?? recorded_at,
    draft,
    entry: { kind: draft.kind, recorded_at, recorded_by: surroundings.recorded_by ?? "", salt, body, claims },
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
/** No character of a JavaScript text takes more of UTF-8. */
const CHAR_BYTES_MAX = 3;

function ownRoom(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(SALT_BYTES + Buffer.byteLength(text));
  bytes.write(text, SALT_BYTES, "utf8");
  return bytes;
}

/**
 * Room for entries that are written together: of thousands of buffers each has to be made, and cleared away again. Where a text
 * fits in any case, its bytes need not be counted before they are written.
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

// Entries of the kinds that capture refuses, because the log itself writes them.

export interface OwnEntry {
  readonly id: string;
  readonly entry: LogEntry;
}

/** An entry that is ready to be appended. A project is that of what it is about, and goes when that is forgotten. */
export function packOwn<K extends ReservedKind>(
  kind: K,
  fields: ReservedFieldsByKind[K],
  surroundings: WriteContext,
  labels: { readonly id?: string | undefined; readonly project?: string; readonly client?: string } = {},
): OwnEntry {
  const { id, project = "", client = "" } = labels;
  const where = { ...(project !== "" && { project }), ...(client !== "" && { client }) };
  const packed = pack({ kind, id, body: { ...where, ...fields } }, surroundings);
  // Only its size could be refused, and whoever makes such an entry keeps it small.
  if (packed instanceof Rejection) throw new Fault("store_failed", packed.message, { hint: packed.hint ?? "" });
  return packed;
}
