// Cursors: where a list goes on, bound to the filters of the list that gave them.
import { hash } from "node:crypto";
import { type Rejection, reject } from "../model/rejection.js";
import { cursorParameter, type ParameterDoc } from "./parameters.js";

type CursorNumber = number | null;

/** Where pages of a list go on: so many numbers, and what they mean to its query. */
export interface Cursor<After = unknown> extends ParameterDoc {
  readonly numbers: number;
  readonly resume: (
    numbers: readonly CursorNumber[],
    query: { readonly filter: object },
  ) => { readonly after?: After; readonly filter?: object };
}

export function cursorOf<After>(numbers: number, resume: Cursor<After>["resume"]): Cursor<After> {
  return { ...cursorParameter, numbers, resume };
}

const CURSOR_CHARS_MAX = 400;
/** Between the parts of a cursor: a character that needs no care in addresses and on command lines. */
const GAP = ".";
const SUM_CHARS = 6;
/** Short, so a cursor fits on a line of a terminal with its option. */
const RADIX = 36;

export function formatCursor(fingerprint: string, numbers: readonly CursorNumber[]): string {
  const given = [fingerprint, ...numbers.map((number) => number?.toString(RADIX) ?? "")].join(GAP);
  return `${given}${GAP}${sumOf(given)}`;
}

/** The numbers of a cursor; undefined where none was given. */
export function parseCursor(
  text: string | null | undefined,
  expected: { readonly fingerprint: string; readonly numbers: number },
): readonly CursorNumber[] | undefined | Rejection {
  if (text === undefined || text === null || text === "") return undefined;
  const parts = decode(text);
  if (parts === undefined) return cursorInvalid("the cursor is invalid");
  const [fingerprint, ...numbers] = parts;
  if (fingerprint !== expected.fingerprint || numbers.length !== expected.numbers) {
    return cursorInvalid("the cursor belongs to a list with other filters");
  }
  return numbers;
}

/** What a cursor is bound to: a short hash of whatever chooses and orders the list. */
export function fingerprintOf(parts: readonly unknown[]): string {
  return hash("sha256", JSON.stringify(parts), "base64url").slice(0, 8);
}

/** Tells a cursor that was cut or mistyped from one that a list gave. */
function sumOf(given: string): string {
  return hash("sha256", given, "base64url").slice(0, SUM_CHARS);
}

function decode(text: unknown): readonly [fingerprint: string, ...numbers: CursorNumber[]] | undefined {
  if (typeof text !== "string" || text.length > CURSOR_CHARS_MAX) return undefined;
  const end = text.lastIndexOf(GAP);
  if (end === -1 || text.slice(end + GAP.length) !== sumOf(text.slice(0, end))) return undefined;
  const [fingerprint = "", ...digits] = text.slice(0, end).split(GAP);
  const numbers = digits.map((each) => (each === "" ? null : Number.parseInt(each, RADIX)));
  return numbers.every((number) => number === null || Number.isSafeInteger(number))
    ? [fingerprint, ...numbers]
    : undefined;
}

function cursorInvalid(message: string): Rejection {
  return reject({
    code: "cursor_invalid",
    field: "cursor",
    message,
    hint: "Pass next_cursor back unchanged, with the same filters.",
  });
}
