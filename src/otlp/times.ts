// OTLP's times: nanoseconds since 1970 as digits. They are cut to milliseconds as text, since a double would round them.
import type { JsonValue } from "../model/json.js";
import { formatTime } from "../model/time.js";

const DIGITS = /^\d{1,20}$/;
const NANOS_DIGITS = 6;
/** The end of the year 9999. */
const MS_MAX = 253_402_300_799_999;

/** Undefined for a time that was not set, or is none. */
export function msOfNanos(nanos: JsonValue | undefined): number | undefined {
  const digits = typeof nanos === "number" && Number.isSafeInteger(nanos) ? String(nanos) : nanos;
  if (typeof digits !== "string" || !DIGITS.test(digits)) return undefined;
  const ms = Number(digits.slice(0, -NANOS_DIGITS) || "0");
  return ms === 0 || ms > MS_MAX ? undefined : ms;
}

export function timeOfNanos(nanos: JsonValue | undefined): string | undefined {
  const ms = msOfNanos(nanos);
  return ms === undefined ? undefined : formatTime(ms);
}

/** How long it took; undefined where the clocks disagree, or a time is missing. */
export function durationOf(start: JsonValue | undefined, end: JsonValue | undefined): number | undefined {
  if (msOfNanos(start) === undefined || msOfNanos(end) === undefined) return undefined;
  const nanos = BigInt(end as string | number) - BigInt(start as string | number);
  if (nanos < 0n) return undefined;
  return Number(nanos / 1_000n) / 1_000;
}
