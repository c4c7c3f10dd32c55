// Parsing times: every form that people type, and nothing that only looks like one.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { formatTime, parseTime, parseTimeBound } from "./time.js";

describe("a time is read as UTC with milliseconds:", () => {
  test.each([
    ["2026-11-15", "2026-11-15T00:00:00.000Z"],
    ["2026-11-15T06", "2026-11-15T06:00:00.000Z"],
    ["2026-11-15T06:39", "2026-11-15T06:39:00.000Z"],
    ["2026-11-15T06:39:37", "2026-11-15T06:39:37.000Z"],
    ["2026-11-15 06:39:37", "2026-11-15T06:39:37.000Z"],
    ["2026-11-15T06:39:37Z", "2026-11-15T06:39:37.000Z"],
    ["2026-11-15t06:39:37z", "2026-11-15T06:39:37.000Z"],
    ["2026-11-15 06:39:37 Z", "2026-11-15T06:39:37.000Z"],
    // Fractions are truncated, not rounded, however long they are.
    ["2026-11-15T06:39:37.1Z", "2026-11-15T06:39:37.100Z"],
    ["2026-11-15T06:39:37.123Z", "2026-11-15T06:39:37.123Z"],
    ["2026-11-15T06:39:37,5Z", "2026-11-15T06:39:37.500Z"],
    ["2026-11-15T06:39:37.123999999Z", "2026-11-15T06:39:37.123Z"],
    ["2026-11-15T06:39:37.0009Z", "2026-11-15T06:39:37.000Z"],
    // Offsets.
    ["2026-11-15T06:39:37+02:00", "2026-11-15T04:39:37.000Z"],
    ["2026-11-15T06:39:37-0530", "2026-11-15T12:09:37.000Z"],
    ["2026-11-15T06:39:37+02", "2026-11-15T04:39:37.000Z"],
    ["2026-11-15T06:39:37.5 +02:00", "2026-11-15T04:39:37.500Z"],
    ["2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00.000Z"],
    ["2026-11-15T06:39:37-00:00", "2026-11-15T06:39:37.000Z"],
    // A plus sign in a URL arrives as a space.
    ["2026-11-15T06:39:37 02:00", "2026-11-15T04:39:37.000Z"],
    ["2026-11-15T06:39:37.123 02:00", "2026-11-15T04:39:37.123Z"],
    // The basic format.
    ["20261115", "2026-11-15T00:00:00.000Z"],
    ["20261115T0639", "2026-11-15T06:39:00.000Z"],
    ["20261115T063937Z", "2026-11-15T06:39:37.000Z"],
    ["20261115T063937.123+0200", "2026-11-15T04:39:37.123Z"],
    // The edges of the calendar.
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["2000-02-29", "2000-02-29T00:00:00.000Z"],
    ["2026-11-15T24:00:00Z", "2026-11-16T00:00:00.000Z"],
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
    ["1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"],
    ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"],
    ["0099-12-31", "0099-12-31T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ])("%s", (text, expected) => {
    const ms = parseTime(text);
    expect(ms === undefined ? ms : formatTime(ms)).toBe(expected);
  });
});

describe("what is not a time is refused:", () => {
  test.each([
    "",
    " ",
    "now",
    "yesterday",
    "1763188777",
    "1763188777123",
    "2026",
    "2026-11",
    "202611",
    "2026-1-5",
    "26-11-15",
    "15.11.2026",
    "11/15/2026",
    "2026-W46-7",
    "2026-319",
    "2026-02-29",
    "2026-02-30",
    "1900-02-29",
    "2026-04-31",
    "2026-00-10",
    "2026-13-01",
    "2026-11-00",
    "2026-11-32",
    "20260230",
    "2026-11-15T25:00",
    "2026-11-15T24:00:01",
    "2026-11-15T06:60",
    "2026-11-15T06:39:61",
    "2026-11-15T06:39:37.",
    "2026-11-15T06:39:37.Z",
    "2026-11-15T",
    "2026-11-15Z",
    "2026-11-15+02:00",
    "2026-11-15T06:39:37+24:00",
    "2026-11-15T06:39:37+02:60",
    "2026-11-15T06:39:37+2",
    "2026-11-15T06:39:37 UTC",
    "2026-11-15T06:39:37Z and more",
    "2026-11-15\n",
    " 2026-11-15",
    "-2026-11-15",
    "+002026-11-15",
    "0000-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
    "２０２６-11-15",
    "7d",
  ])("%j", (text) => {
    expect(parseTime(text)).toBeUndefined();
  });
});

describe("a time bound of a filter", () => {
  const nowMs = Date.UTC(2026, 10, 15, 6, 39, 37, 123);
  const bound = (text: string, end = false): string | undefined => {
    const ms = parseTimeBound(text, { nowMs, end });
    return ms === undefined ? undefined : formatTime(ms);
  };

  test.each([
    ["45s", "2026-11-15T06:38:52.123Z"],
    ["30m", "2026-11-15T06:09:37.123Z"],
    ["12h", "2026-11-14T18:39:37.123Z"],
    ["7d", "2026-11-08T06:39:37.123Z"],
    ["2w", "2026-11-01T06:39:37.123Z"],
    ["7D", "2026-11-08T06:39:37.123Z"],
    ["0d", "2026-11-15T06:39:37.123Z"],
  ])("may be relative to now: %s", (text, expected) => {
    expect(bound(text)).toBe(expected);
    expect(bound(text, true)).toBe(expected);
  });

  test("is limited to the beginning of the calendar", () => {
    expect(bound("999999999w")).toBe("0000-01-01T00:00:00.000Z");
  });

  test.each(["2026-11-15", "20261115"])("is the end of the day if an upper one is a bare date: %s", (date) => {
    expect(bound(date)).toBe("2026-11-15T00:00:00.000Z");
    expect(bound(date, true)).toBe("2026-11-15T23:59:59.999Z");
  });

  test("with a time of day is that moment as lower and as upper one", () => {
    expect(bound("2026-11-15T06:39", true)).toBe("2026-11-15T06:39:00.000Z");
    expect(bound("2026-11-15T00:00:00Z", true)).toBe("2026-11-15T00:00:00.000Z");
  });

  test.each(["7", "d", "7 d", "-7d", "7y", "1.5h", "7d ago", "2026-02-30", "", "1234567890d"])(
    "is refused where it is neither: %j",
    (text) => {
      expect(bound(text)).toBeUndefined();
      expect(bound(text, true)).toBeUndefined();
    },
  );
});

test("every moment is unchanged after writing and reading it", () => {
  const moments = fc.date({
    min: new Date("0000-01-01T00:00:00.000Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(moments, (date) => {
      expect(parseTime(formatTime(date.getTime()))).toBe(date.getTime());
    }),
    fuzz(500),
  );
});

test("no text makes it throw", () => {
  const nearlyTimes = fc.stringMatching(/^[0-9TZ:+., -]{0,30}$/);
  fc.assert(
    fc.property(fc.oneof(nearlyTimes, fc.string({ unit: "binary" })), (text) => {
      const ms = parseTime(text);
      if (ms !== undefined) expect(formatTime(ms)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }),
    fuzz(1_000),
  );
});
