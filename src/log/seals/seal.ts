// A seal: a small signed statement of what a log contained at one moment, to be kept elsewhere. It can show later that
// entries were removed from the end, which the chain alone cannot.
import { createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { HASH_BYTES } from "../../model/chain.js";
import { hexOf } from "../../model/hex.js";
import { Rejection, reject } from "../../model/rejection.js";
import { formatTime, parseTime } from "../../model/time.js";
import { type Seal, sealFlaws } from "../../model/verification.js";
import type { EntryLog, Head } from "../port.js";

const VERSION = 1;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** The DER prefix of a 32-byte Ed25519 key. */
const DER_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

export function sealHead(head: Head, options: { readonly key: KeyObject; readonly nowMs: number }): Seal {
  const { log_id, position } = head;
  const statement = { log_id, position, hash: hexOf(head.hash), sealed_at: formatTime(options.nowMs) };
  const signature = sign(null, signedBytes(statement), options.key);
  const public_key = hexOf(publicBytes(options.key));
  return { hansard_seal: VERSION, ...statement, public_key, signature: hexOf(signature) };
}

/** The signed bytes: lines of text, so any program can produce them. */
function signedBytes(seal: Pick<Seal, "log_id" | "position" | "hash" | "sealed_at">): Buffer {
  const { log_id, position, hash, sealed_at } = seal;
  return Buffer.from(`hansard seal ${VERSION}\n${log_id}\n${position}\n${hash}\n${sealed_at}\n`, "utf8");
}

/** Parses one seal, as text or object, or many, one per line. */
export function parseSeals(given: unknown): readonly [Seal, ...Seal[]] | Rejection {
  const whole = typeof given === "string" ? parseText(given) : given;
  const lines = typeof given === "string" && whole === undefined ? given.split("\n") : [];
  const seals: Seal[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const seal = parseSeal(parseText(line));
    if (seal instanceof Rejection) return lines.length === 1 ? seal : atLine(at + 1, seal);
    seals.push(seal);
  }
  const [first, ...others] = seals;
  if (first !== undefined) return [first, ...others];
  const seal = parseSeal(whole);
  return seal instanceof Rejection ? seal : [seal];
}

function atLine(number: number, { message, ...flaw }: Rejection): Rejection {
  return reject({ ...flaw, message: `line ${number}: ${message}` });
}

/** The newest seal of this log; it implies the older ones. */
export function newestSeal(seals: readonly [Seal, ...Seal[]], log_id: string): Seal {
  const own = seals.filter((seal) => seal.log_id === log_id);
  const newer = (left: Seal, right: Seal): Seal =>
    right.position > left.position || (right.position === left.position && right.sealed_at > left.sealed_at)
      ? right
      : left;
  return (own.length === 0 ? seals : own).reduce(newer);
}

function parseSeal(given: unknown): Seal | Rejection {
  const seal = given as Partial<Seal> | null | undefined;
  if (typeof seal !== "object" || seal === null) return invalid("it is not a JSON object");
  if (seal.hansard_seal !== VERSION) return invalid(`hansard_seal is not ${VERSION}`);
  if (typeof seal.log_id !== "string" || seal.log_id === "") return invalid("log_id is missing");
  if (!Number.isSafeInteger(seal.position) || (seal.position as number) < 0)
    return invalid("position is not a position");
  if (typeof seal.sealed_at !== "string" || parseTime(seal.sealed_at) === undefined)
    return invalid("sealed_at is not a time");
  const lengths = { hash: HASH_BYTES, public_key: KEY_BYTES, signature: SIGNATURE_BYTES } as const;
  for (const [name, bytes] of Object.entries(lengths)) {
    const text = seal[name as keyof typeof lengths];
    if (typeof text !== "string" || !isHex(text, bytes)) return invalid(`${name} is not ${bytes} bytes in hexadecimal`);
  }
  return seal as Seal;
}

/** Why the seal itself is invalid; undefined if genuine. Without a key, the one it names is used. */
export function sealFlaw(seal: Seal, key: KeyObject | undefined): string | undefined {
  if (key !== undefined && hexOf(publicBytes(key)) !== seal.public_key) return sealFlaws.other_key;
  const der = Buffer.concat([DER_PREFIX, Buffer.from(seal.public_key, "hex")]);
  const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
  const isGenuine = verify(null, signedBytes(seal), publicKey, Buffer.from(seal.signature, "hex"));
  return isGenuine ? undefined : sealFlaws.signature;
}

/** Why the log does not contain what was sealed; undefined if it does. */
export async function containmentFlaw(log: EntryLog, seal: Seal): Promise<string | undefined> {
  const head = await log.head();
  if (head.log_id !== seal.log_id) return sealFlaws.other_log;
  if (head.position < seal.position) return `the log was truncated: entries through ${seal.position} were sealed`;
  if (seal.position === 0) return undefined;
  const [stored] = await log.get([seal.position]);
  return stored !== undefined && hexOf(stored.hash) === seal.hash
    ? undefined
    : "the log does not contain what was sealed";
}

/** The 32-byte public key. */
function publicBytes(key: KeyObject): Buffer {
  const open = key.type === "private" ? createPublicKey(key) : key;
  return open.export({ format: "der", type: "spki" }).subarray(-KEY_BYTES);
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isHex(text: string, bytes: number): boolean {
  return text.length === bytes * 2 && /^[0-9a-f]*$/.test(text);
}

function invalid(flaw: string): Rejection {
  return reject({
    code: "seal_invalid",
    field: "against",
    message: `this is not a seal: ${flaw}`,
    hint: "Give what `hansard seal` printed, one seal per line.",
  });
}
