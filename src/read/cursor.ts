// Cursors: where a list goes on, bound to the filters of the list that gave them.
import { hash } from "node:crypto";
import { type Rejection, reject } from "../model/rejection.js";

type CursorNumber = number | null;

const CURSOR_CHARS_MAX = 400;

export function formatCursor(fingerprint: string, numbers: readonly CursorNumber[]): string {
  const parts = [fingerprint, ...numbers];
  return Buffer.from(JSON.stringify([...parts, fingerprintOf(parts)])).toString("base64url");
}

/** The numbers of a cursor; undefined where none was given. */
export function parseCursor(
  text: string | null | undefined,
  expected: { readonly fingerprint: string; readonly numbers: number },
): readonly CursorNumber[] | undefined | Rejection {
  if (text === undefined || text === null || text === "") return undefined;
  const parts = decode(text);
  if (parts === undefined) return cursorInvalid("cursor is not one that a list gave");
  const [fingerprint, ...numbers] = parts;
  if (fingerprint !== expected.fingerprint || numbers.length !== expected.numbers) {
    return cursorInvalid("cursor comes from a list with other filters");
  }
  return numbers as readonly CursorNumber[];
}

/** What a cursor is bound to: a short hash of whatever chooses and orders the list. */
export function fingerprintOf(parts: readonly unknown[]): string {
  return hash("sha256", JSON.stringify(parts), "base64url").slice(0, 12);
}

function decode(text: unknown): readonly unknown[] | undefined {
  if (typeof text !== "string" || text.length > CURSOR_CHARS_MAX) return undefined;
  try {
    const bytes = Buffer.from(text, "base64url");
    // Decoding passes over what does not belong there.
    if (bytes.toString("base64url") !== text) return undefined;
    const parts: unknown = JSON.parse(bytes.toString("utf8"));
    if (!Array.isArray(parts) || parts.length < 2 || typeof parts[0] !== "string") return undefined;
    // The sum tells a cursor that was cut or mistyped from one that a list gave.
    const given = parts.slice(0, -1);
    if (parts.at(-1) !== fingerprintOf(given)) return undefined;
    return given.slice(1).every((part) => part === null || Number.isSafeInteger(part)) ? given : undefined;
  } catch {
    return undefined;
  }
}

function cursorInvalid(message: string): Rejection {
  return reject({
    code: "cursor_invalid",
    field: "cursor",
    message,
    hint: "Pass next_cursor back unchanged, with the same filters.",
  });
}
