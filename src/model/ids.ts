// Identifiers: valid ids, labels and session ids, and how new ids are made.
import { hexOf } from "./hex.js";
import { limits } from "./limits.js";
import { type Rejection, reject } from "./rejection.js";

const ID = /^[A-Za-z0-9._:-]{1,128}$/;
const DIGITS = /^[0-9]+$/;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its purpose.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Who did something, where nobody is named: the person whose machine it is. */
export const ACTOR_DEFAULT = "person";

export function isUuidV7(id: string): boolean {
  return UUID_V7.test(id);
}

/** Key ids are never taken for positions, so they may consist of digits. */
export function isKeyId(id: unknown): id is string {
  return typeof id === "string" && ID.test(id);
}

/** Digits alone would be taken for a position. */
export function isPositionText(text: string): boolean {
  return DIGITS.test(text);
}

export function parseId(value: unknown): string | Rejection {
  if (typeof value === "string" && ID.test(value) && !DIGITS.test(value)) return value;
  return reject({
    code: "id_invalid",
    field: "id",
    message: "id must be 1 to 128 characters of A-Z a-z 0-9 . _ : - and not digits alone",
    hint: "Leave id out to have one generated.",
  });
}

/** Makes UUIDv7 ids that sort by time: 48 bits of milliseconds, then random bits. */
export function uuidV7(options: { readonly nowMs: number; readonly random: Uint8Array }): string {
  const { nowMs, random } = options;
  const time = Math.floor(nowMs).toString(16).padStart(12, "0");
  const rest = hexOf(random);
  const variant = VARIANT[(random[2] ?? 0) & 3];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-${variant}${rest.slice(4, 7)}-${rest.slice(7, 19)}`;
}

const VARIANT = ["8", "9", "a", "b"];

export type LabelName = "session_id" | "project" | "client" | "user_id";

/** A label as it is stored: `""` when absent. */
export function parseLabel(name: LabelName | "parent", value: unknown): string | Rejection {
  if (value === undefined || value === null || value === "") return "";
  const isSession = name === "session_id" || name === "parent";
  const bytesMax = isSession ? limits.session_id_bytes : limits.label_bytes;
  const code = isSession ? "session_id_invalid" : "label_invalid";
  const because = labelFlaw(value, bytesMax, isSession);
  if (because === undefined) return value as string;
  return reject({ code, field: name, message: `${name} ${because}` });
}

function labelFlaw(value: unknown, bytesMax: number, isSession: boolean): string | undefined {
  if (typeof value !== "string") return "must be a string";
  if (value.length > bytesMax || Buffer.byteLength(value) > bytesMax) return `is longer than ${bytesMax} bytes`;
  if (value === "-") return 'must not be exactly "-", which selects entries without one';
  if (isSession && (value === "." || value === "..")) return 'must not be "." or ".."';
  if (!value.isWellFormed()) return "must be well-formed Unicode (it has a lone surrogate)";
  if (CONTROL.test(value)) return "must not contain control characters";
  return undefined;
}

/** Labels as a list of tags: each once, in the order given. */
export function parseTags(value: unknown, field = "tags"): readonly string[] | Rejection {
  if (value === undefined || value === null) return [];
  const refuse = (because: string): Rejection =>
    reject({ code: "label_invalid", field, message: `${field} ${because}` });
  if (!Array.isArray(value)) return refuse("must be a list of strings");
  const tags = [...new Set<unknown>(value)];
  if (tags.length > limits.tags) return refuse(`has ${tags.length} items; at most ${limits.tags} are allowed`);
  for (const tag of tags) {
    const because = tag === "" ? "must not be empty" : labelFlaw(tag, limits.tag_bytes, false);
    if (because !== undefined) return refuse(`has an item that ${because}`);
  }
  return tags as readonly string[];
}

/** The id of another entry, which need not exist yet; `""` when absent. */
export function parseEntryId(value: unknown, field: string): string | Rejection {
  if (value === undefined || value === null || value === "") return "";
  const parsed = parseId(value);
  if (typeof parsed === "string") return parsed;
  const message = `${field} must be the id of an entry: 1 to 128 characters of A-Z a-z 0-9 . _ : - and not digits alone`;
  return reject({ code: "id_invalid", field, message });
}

/** A required session id: empty is refused too. */
export function parseSessionId(value: unknown, field = "session_id"): string | Rejection {
  const parsed = parseLabel("session_id", value);
  if (parsed !== "") return parsed;
  return reject({ code: "session_id_invalid", field, message: `${field} is required and must not be empty` });
}
