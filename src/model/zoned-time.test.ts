// Local times: zones, and the hours that occur twice or never.
import { describe, expect, test } from "vitest";
import { formatTime, parseClock, WallClock } from "./time.js";

function utc(zone: string, time: unknown): string | undefined {
  const ms = new WallClock(zone).parse(time);
  return ms === undefined ? undefined : formatTime(ms);
}

describe("a time without a zone is read in the given one", () => {
  test.each([
    ["UTC", "2026-03-01T10:00:00.123456", "2026-03-01T10:00:00.123Z"],
    ["Europe/Berlin", "2026-01-15T12:00:00", "2026-01-15T11:00:00.000Z"],
    ["Europe/Berlin", "2026-07-15 12:00:00", "2026-07-15T10:00:00.000Z"],
    ["Asia/Kolkata", "2026-07-15T12:00", "2026-07-15T06:30:00.000Z"],
    ["Asia/Kathmandu", "2026-07-15T12:00:00", "2026-07-15T06:15:00.000Z"],
    ["Pacific/Kiritimati", "2026-01-01T00:00:00", "2025-12-31T10:00:00.000Z"],
    ["America/St_Johns", "2026-01-01T00:00:00", "2026-01-01T03:30:00.000Z"],
    ["Europe/Berlin", "2026-07-15", "2026-07-14T22:00:00.000Z"],
  ])("%s %s", (zone, time, expected) => {
    expect(utc(zone, time)).toBe(expected);
  });

  test("of the hour that occurs twice, the first one is meant", () => {
    expect(utc("Europe/Berlin", "2026-10-25T02:30:00")).toBe("2026-10-25T00:30:00.000Z");
    expect(utc("America/New_York", "2026-11-01T01:30:00")).toBe("2026-11-01T05:30:00.000Z");
  });

  test("the skipped hour is read as if the clock had not changed yet", () => {
    expect(utc("Europe/Berlin", "2026-03-29T02:30:00")).toBe("2026-03-29T01:30:00.000Z");
    expect(utc("Australia/Lord_Howe", "2026-10-04T02:15:00")).toBe("2026-10-03T15:45:00.000Z");
  });
});

test("a zone in the time itself takes precedence", () => {
  expect(utc("Asia/Tokyo", "2026-03-01T10:00:00Z")).toBe("2026-03-01T10:00:00.000Z");
  expect(utc("Asia/Tokyo", "2026-03-01T10:00:00.5+02:00")).toBe("2026-03-01T08:00:00.500Z");
  expect(utc("Asia/Tokyo", "2026-03-01T10:00:00-0330")).toBe("2026-03-01T13:30:00.000Z");
});

test("numbers are seconds or milliseconds since 1970", () => {
  expect(utc("Asia/Tokyo", 1_772_359_200)).toBe("2026-03-01T10:00:00.000Z");
  expect(utc("Asia/Tokyo", 1_772_359_200_123)).toBe("2026-03-01T10:00:00.123Z");
  expect(utc("Asia/Tokyo", 1_772_359_200.5)).toBe("2026-03-01T10:00:00.500Z");
});

test.each([null, undefined, "", "yesterday", {}, [], true, Number.NaN, 1e300, "2026-13-01", "99999999999"])(
  "%j is no time",
  (time) => {
    expect(utc("UTC", time)).toBeUndefined();
  },
);

test("every written time is read back as the same moment, through a whole year", () => {
  for (const zone of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"]) {
    const clock = new WallClock(zone);
    const start = Date.UTC(2026, 0, 1);
    for (let ms = start; ms < start + 366 * 86_400_000; ms += 1_795_123) expect(clock.parse(clock.format(ms))).toBe(ms);
  }
});

test("without a name it is the machine's own zone", () => {
  const ms = new WallClock().parse("2026-07-15T12:00:00");
  expect(ms).toBe(new Date(2026, 6, 15, 12).getTime());
});

test("names of zones are checked", () => {
  for (const name of ["Europe/Berlin", "UTC", "utc", "America/New_York", "", undefined]) {
    expect(parseClock(name)).toBeInstanceOf(WallClock);
  }
  for (const name of ["Mars/Olympus", "Europe/Berlin; x", 5 as unknown as string]) {
    expect(parseClock(name)).toMatchObject({ code: "field_invalid", field: "timezone" });
  }
});
