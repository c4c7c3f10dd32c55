// Times without a zone, as programs write that look at the clock on the wall: read in a zone, and written in one.
import { type Rejection, reject } from "./rejection.js";
import { formatTime, parseTime } from "./time.js";

const HAS_ZONE = /[T ]\d{2}.*?(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;
const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
const CACHED_MAX = 4_096;
/** Numbers above this are milliseconds since 1970, those below are seconds: it is the year 5138 in the one, 1973 in the other. */
const SECONDS_MAX = 100_000_000_000;
/** The first and last moment of the years that are written with four digits. */
const FIRST_MS = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** The clock of the zone that somebody named; the machine's own where that is none. */
export function parseClock(timezone = ""): WallClock | Rejection {
  try {
    return new WallClock(timezone === "" ? undefined : timezone);
  } catch {
    const message = `${JSON.stringify(String(timezone).slice(0, 40))} is not a time zone`;
    return reject({ code: "field_invalid", field: "timezone", message, hint: "For example Europe/Berlin, or UTC." });
  }
}

/** The clock on the wall of one zone: an IANA name, or the machine's own zone. */
export class WallClock {
  /** Made when it is first needed: it takes tens of milliseconds, and most times have a zone of their own. */
  #format: Intl.DateTimeFormat | undefined;
  readonly #offsetByQuarter = new Map<number, number>();

  constructor(timezone?: string) {
    // Whoever names a zone is told at once that there is none of that name.
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
   * The wall's time with six digits of a second, as Python writes it. In the hour that a clock shows twice the zone is
   * added, since it could not be read back otherwise.
   */
  format(ms: number): string {
    const offset = this.#offsetAt(ms);
    const wall = formatTime(ms + offset).replace("Z", "000");
    return this.#fromWall(ms + offset) === ms ? wall : formatTime(ms).replace("Z", "000+00:00");
  }

  /**
   * Clocks are put forward and back. A time that was shown twice is taken as its first showing, and one that was never
   * shown as if the clock had not been put forward yet; Python reads both alike.
   */
  #fromWall(wallMs: number): number {
    const before = this.#offsetAt(wallMs - DAY_MS);
    const after = this.#offsetAt(wallMs + DAY_MS);
    const fitting = [before, after].filter((offset) => this.#offsetAt(wallMs - offset) === offset);
    return wallMs - (fitting.length === 0 ? before : Math.max(...fitting));
  }

  /** How far the wall is ahead of UTC. Offsets change at most every quarter of an hour, so one look serves it whole. */
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
  return ms >= FIRST_MS && ms <= LAST_MS ? ms : undefined;
}
