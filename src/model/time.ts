// Times: one form inside (UTC, milliseconds), many forms accepted. Times without a zone are read in a given zone.
import { itemAt } from "./item-at.js";
import { type Rejection, reject } from "./rejection.js";

// A plus sign typed into a URL arrives as a space, so a space in its place is read as the plus it was.
const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2})(?::(\d{2})(?::(\d{2})(?:[.,](\d+))?)?)?\s?(Z|[+-]\d{2}(?::?\d{2})?| \d{2}:?\d{2})?)?$/i;
const BASIC = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(?:(\d{2})(?:[.,](\d+))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;
const RELATIVE = /^(\d{1,9})(s|m|h|d|w)$/i;
const MS_BY_UNIT = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const DAY_MS = 86_400_000;

/** Most times that are shown together are of one day, and computing the date is the slow part. */
let formattedDay = { day: 0, text: "1970-01-01T" };
/** Many entries are recorded in the same millisecond. */
let formattedMs = { ms: 0, text: "1970-01-01T00:00:00.000Z" };

export function formatTime(ms: number): string {
  if (formattedMs.ms !== ms) formattedMs = { ms, text: timeText(ms) };
  return formattedMs.text;
}

function timeText(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  if (formattedDay.day !== day) formattedDay = { day, text: new Date(day * DAY_MS).toISOString().slice(0, -13) };
  const inDay = ms - day * DAY_MS;
  const seconds = Math.floor(inDay / 1_000);
  const minutes = Math.floor(seconds / 60);
  const [h, m, s] = [Math.floor(minutes / 60), minutes % 60, seconds % 60];
  return `${formattedDay.text}${two(h)}:${two(m)}:${two(s)}.${three(inDay % 1_000)}Z`;
}

function two(number: number): string {
  return number < 10 ? `0${number}` : `${number}`;
}

function three(number: number): string {
  return number < 100 ? `0${two(number)}` : `${number}`;
}

const WRITTEN = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Whether a time is written exactly as the record writes it. */
export function isCanonicalTime(text: string): boolean {
  if (text.length !== 24 || !WRITTEN.test(text)) return false;
  // Only the last days of a month may be missing.
  const isLate = text[8] === "3" || (text[8] === "2" && text[9] === "9");
  return !isLate || Number(text.slice(8, 10)) <= daysInMonth(Number(text.slice(0, 4)), Number(text.slice(5, 7)));
}

/**
 * Milliseconds since 1970 of an ISO 8601 time, or undefined. Without a zone it is UTC; a bare date is the start of the
 * day.
 */
export function parseTime(text: unknown): number | undefined {
  if (typeof text !== "string") return undefined;
  // Most are in this form, and parsing others takes ten times as long.
  if (isCanonicalTime(text)) return Date.parse(text);
  const match = ISO.exec(text) ?? BASIC.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  const days = daysInMonth(Number(year), Number(month));
  if (Number(day) < 1 || Number(day) > days) return undefined;
  const h = Number(hour ?? 0);
  const m = Number(minute ?? 0);
  const s = Number(second ?? 0);
  // 24:00:00 is ISO's end of a day, :60 a leap second; both roll over.
  if (h > 24 || (h === 24 && (m > 0 || s > 0)) || m > 59 || s > 60) return undefined;
  const offset = zoneMinutes(zone);
  if (offset === undefined) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const millis = Number((fraction ?? "").slice(0, 3).padEnd(3, "0"));
  const ms = date.getTime() + h * 3_600_000 + m * 60_000 + s * 1_000 + millis - offset * 60_000;
  return isStorable(ms) ? ms : undefined;
}

/** A bound of a time filter: an ISO time, or relative to now such as `30m`, `12h`, `7d`, `2w`. */
export function parseTimeBound(
  text: string,
  options: { readonly nowMs: number; readonly end: boolean },
): number | undefined {
  const relative = RELATIVE.exec(text);
  if (relative !== null) {
    const unit = itemAt(relative, 2).toLowerCase() as keyof typeof MS_BY_UNIT;
    const ms = options.nowMs - Number(relative[1]) * MS_BY_UNIT[unit];
    return Math.max(ms, EARLIEST_MS);
  }
  const ms = parseTime(text);
  if (ms === undefined || !options.end) return ms;
  // As an upper bound, a bare date means its end.
  if (/^\d{4}-?\d{2}-?\d{2}$/.test(text)) return ms + DAY_MS - 1;
  return ms;
}

const EARLIEST_MS = new Date("0000-01-01T00:00:00.000Z").getTime();
const LATEST_MS = new Date("9999-12-31T23:59:59.999Z").getTime();

function isStorable(ms: number): boolean {
  return ms >= EARLIEST_MS && ms <= LATEST_MS;
}

function daysInMonth(year: number, month: number): number {
  if (month < 1 || month > 12) return 0;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return itemAt([31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], month - 1);
}

function zoneMinutes(zone: string | undefined): number | undefined {
  if (zone === undefined || zone === "" || zone.toUpperCase() === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", "") || 0);
  if (hours > 23 || minutes > 59) return undefined;
  return (zone[0] === "-" ? -1 : 1) * (hours * 60 + minutes);
}

const HAS_ZONE = /[T ]\d{2}.*?(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;
const QUARTER_MS = 900_000;
const CACHED_MAX = 4_096;
/**
 * Larger numbers are milliseconds since 1970, smaller ones seconds: it is the year 5138 as seconds, 1973 as
 * milliseconds.
 */
const SECONDS_MAX = 100_000_000_000;

/** The clock of a named zone; of the machine's own zone if none is named. */
export function parseClock(timezone = ""): WallClock | Rejection {
  try {
    return new WallClock(timezone === "" ? undefined : timezone);
  } catch {
    const message = `${JSON.stringify(String(timezone).slice(0, 40))} is not a time zone`;
    return reject({ code: "field_invalid", field: "timezone", message, hint: "For example Europe/Berlin, or UTC." });
  }
}

/** The local time of one zone: an IANA name, or the machine's own zone. */
export class WallClock {
  /** Created when needed: that takes tens of milliseconds, and most times have a zone of their own. */
  #format: Intl.DateTimeFormat | undefined;
  readonly #offsetByQuarter = new Map<number, number>();

  constructor(timezone?: string) {
    // An unknown zone throws at once.
    if (timezone !== undefined) this.#format = wallFormat(timezone);
  }

  /** Its IANA name. */
  get zone(): string {
    return this.#clock().resolvedOptions().timeZone;
  }

  /** Milliseconds since 1970 of a text with or without a zone, or of a number of seconds or milliseconds. */
  parse(time: unknown): number | undefined {
    if (typeof time === "number") return numberMs(time);
    if (typeof time !== "string") return undefined;
    const text = time.trim();
    const ms = parseTime(text);
    return ms === undefined || HAS_ZONE.test(text) ? ms : this.#fromWall(ms);
  }

  /**
   * Local time with six digits of a second, as Python writes it. In the hour that occurs twice the zone is added, since
   * the time would be ambiguous otherwise.
   */
  format(ms: number): string {
    const offset = this.#offsetAt(ms);
    const wall = formatTime(ms + offset).replace("Z", "000");
    return this.#fromWall(ms + offset) === ms ? wall : formatTime(ms).replace("Z", "000+00:00");
  }

  /**
   * Daylight saving time: a local time that occurs twice is read as the first one, and one that is skipped as if the
   * clock had not changed yet, as in Python.
   */
  #fromWall(wallMs: number): number {
    const before = this.#offsetAt(wallMs - DAY_MS);
    const after = this.#offsetAt(wallMs + DAY_MS);
    const fitting = [before, after].filter((offset) => this.#offsetAt(wallMs - offset) === offset);
    return wallMs - (fitting.length === 0 ? before : Math.max(...fitting));
  }

  /** The offset from UTC. It changes at most every quarter of an hour, so the result is cached for that long. */
  #offsetAt(ms: number): number {
    const quarter = Math.floor(ms / QUARTER_MS);
    const known = this.#offsetByQuarter.get(quarter);
    if (known !== undefined) return known;
    if (this.#offsetByQuarter.size >= CACHED_MAX) this.#offsetByQuarter.clear();
    const start = quarter * QUARTER_MS;
    const parts = Object.fromEntries(
      this.#clock()
        .formatToParts(start)
        .map(({ type, value }) => [type, value]),
    );
    const year = parts.era === "BC" ? 1 - Number(parts.year) : Number(parts.year);
    const wall = new Date(0);
    wall.setUTCFullYear(year, Number(parts.month) - 1, Number(parts.day));
    wall.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second));
    const offset = wall.getTime() - start;
    this.#offsetByQuarter.set(quarter, offset);
    return offset;
  }

  #clock(): Intl.DateTimeFormat {
    this.#format ??= wallFormat();
    return this.#format;
  }
}

function wallFormat(timezone?: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-US", {
    ...(timezone === undefined ? {} : { timeZone: timezone }),
    hourCycle: "h23",
    era: "short",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
}

function numberMs(time: number): number | undefined {
  const ms = new Date(Math.abs(time) > SECONDS_MAX ? time : time * 1_000).getTime();
  return isStorable(ms) ? ms : undefined;
}
