// Times as people on this machine read and write them: in its time zone, or the one of --timezone.
import { parseTime } from "../../model/time.js";

const HAS_ZONE = /[T ]\d{2}.*(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;
const IS_DATE = /^\d{4}-?\d{2}-?\d{2}$/;
const DAY_MS = 86_400_000;

/** A time of a filter without a zone is one of this machine; everything else stays as it was given. */
export function localBound(name: string, text: string): string {
  if (name !== "since" && name !== "until") return text;
  const given = text.trim();
  const ms = HAS_ZONE.test(given) ? undefined : parseTime(given);
  if (ms === undefined) return text;
  // The end of a day, which has 23 hours where the clock changes.
  if (name === "until" && IS_DATE.test(given)) return new Date(fromWall(ms + DAY_MS) - 1).toISOString();
  const local = fromWall(ms);
  return local === ms ? text : new Date(local).toISOString();
}

/** The moment at which the clock on the wall shows what a time in UTC would show. */
function fromWall(ms: number): number {
  const wall = new Date(ms);
  const local = new Date(2000, 0, 1);
  local.setFullYear(wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate());
  local.setHours(wall.getUTCHours(), wall.getUTCMinutes(), wall.getUTCSeconds(), wall.getUTCMilliseconds());
  return local.getTime();
}

/** To the minute; with the year and the day only, if the year is not this one and `year` is `other`. */
export function localTime(time: string, { year }: { readonly year: boolean | "other" }): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return time;
  const day = `${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const full = `${String(at.getFullYear()).padStart(4, "0")}-${day}`;
  const isOther = at.getFullYear() !== new Date().getFullYear();
  if (year === "other" && isOther) return full;
  const minute = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return `${year === true ? full : day} ${minute}`;
}

/** To the second, with the date: `2026-11-15 12:09:31`. */
export function localSecond(time: string): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : `${localTime(time, { year: true })}:${two(at.getSeconds())}`;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
