// Ids, labels and session ids: what is accepted, what is refused with which code, and how new ids look.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { isPositionText, isUuidV7, type LabelName, parseId, parseLabel, parseSessionId, uuidV7 } from "./ids.js";
import { Rejection } from "./rejection.js";

describe("an id", () => {
  test.each([
    "a",
    "A",
    "a.b_c:d-e",
    "0x",
    "1a",
    "-",
    ".",
    "..",
    "_",
    "x".repeat(128),
    "019a85d2-7c1e-7000-8000-000000000001",
  ])("may be %s", (id) => {
    expect(parseId(id)).toBe(id);
  });

  test.each([
    "",
    "1",
    "0123456789",
    "9".repeat(128),
    "x".repeat(129),
    "a b",
    "a/b",
    "a\n",
    "\na",
    "é",
    "🙂",
    "a\0",
    "\ud800",
    1,
    true,
    {},
    ["a"],
  ])("may not be %j", (id) => {
    expect(parseId(id)).toMatchObject({ code: "id_invalid", field: "id", hint: expect.any(String) });
  });

  test("consisting of digits alone would be a position", () => {
    expect(isPositionText("42")).toBe(true);
    expect(isPositionText("٤٢")).toBe(false);
    expect(isPositionText("4.2")).toBe(false);
    expect(isPositionText("")).toBe(false);
  });
});

describe.each(["project", "client", "session_id", "parent"] as const)("the label %s", (name) => {
  const bytesMax = name === "project" || name === "client" ? 256 : 512;
  const code = bytesMax === 256 ? "label_invalid" : "session_id_invalid";
  const refused = (flaw: RegExp) => ({ code, field: name, message: expect.stringMatching(flaw) });

  test.each([undefined, null, ""])("is empty if it is %j", (absent) => {
    expect(parseLabel(name, absent)).toBe("");
  });

  test.each(["a:b", "a/b", "a b", " ", "--", "-a", "...", "日本語", "🙂", "עברית", "\u202e", "\u00a0", "null", "0"])(
    "is kept exactly: %j",
    (label) => {
      expect(parseLabel(name, label)).toBe(label);
    },
  );

  test("is limited in bytes, not in characters", () => {
    expect(parseLabel(name, "x".repeat(bytesMax))).toHaveLength(bytesMax);
    expect(parseLabel(name, "é".repeat(bytesMax / 2))).toHaveLength(bytesMax / 2);
    expect(parseLabel(name, "🙂".repeat(bytesMax / 4))).toHaveLength(bytesMax / 2);
    for (const long of ["x".repeat(bytesMax + 1), `${"é".repeat(bytesMax / 2)}x`, "🙂".repeat(bytesMax / 4 + 1)]) {
      expect(parseLabel(name, long)).toMatchObject(refused(new RegExp(`longer than ${bytesMax} bytes`)));
    }
  });

  test.each(["\0", "a\nb", "\t", "\u001b[31m", "\u007f", "\u0085", "\u009f"])(
    "refuses control characters: %j",
    (label) => {
      expect(parseLabel(name, label)).toMatchObject(refused(/control characters/));
    },
  );

  test.each(["\ud800", "a\udfff", "\udc00\ud800"])("refuses lone surrogates: %j", (label) => {
    expect(parseLabel(name, label)).toMatchObject(refused(/lone surrogate/));
  });

  test("refuses a lone hyphen, which selects entries without one", () => {
    expect(parseLabel(name, "-")).toMatchObject(refused(/exactly "-"/));
  });

  test.each([1, 0, false, true, {}, [], ["a"]])("refuses values that are not strings: %j", (value) => {
    expect(parseLabel(name, value)).toMatchObject(refused(/must be a string/));
  });

  test.each([".", ".."])("refuses %s only as a session id", (dots) => {
    if (bytesMax === 256) expect(parseLabel(name, dots)).toBe(dots);
    else expect(parseLabel(name, dots)).toMatchObject(refused(/"\." or "\.\."/));
  });
});

test("accepted labels fit their limit and have no control character", () => {
  const names = fc.constantFrom<LabelName>("session_id", "project", "client");
  fc.assert(
    fc.property(names, fc.string({ unit: "binary", maxLength: 300 }), (name, text) => {
      const label = parseLabel(name, text);
      if (label instanceof Rejection) return;
      expect(label).toBe(text);
      expect(Buffer.from(label).toString()).toBe(label);
      expect(Buffer.byteLength(label)).toBeLessThanOrEqual(512);
    }),
    fuzz(500),
  );
});

test("an empty session id is refused under the name of its field", () => {
  expect(parseSessionId("s:1")).toBe("s:1");
  for (const empty of ["", undefined, null]) {
    expect(parseSessionId(empty, "id")).toMatchObject({ code: "session_id_invalid", field: "id" });
  }
});

describe("a new id", () => {
  const random = Uint8Array.from({ length: 10 }, (_, index) => 0x11 * (index + 1));

  test("is a UUID of version 7 that begins with the time", () => {
    const id = uuidV7({ nowMs: Date.UTC(2026, 10, 15, 6, 39, 37, 123), random });
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const time = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
    expect(new Date(time).toISOString()).toBe("2026-11-15T06:39:37.123Z");
    expect(isUuidV7(id)).toBe(true);
    expect(parseId(id)).toBe(id);
  });

  test("sorts by time as text", () => {
    const moments = fc.uniqueArray(fc.integer({ min: 0, max: 2 ** 48 - 1 }), { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(moments, fc.uint8Array({ minLength: 10, maxLength: 10 }), (times, bytes) => {
        const inOrder = times.toSorted((left, right) => left - right);
        const ids = inOrder.map((nowMs) => uuidV7({ nowMs, random: bytes }));
        expect(ids.toSorted()).toEqual(ids);
        for (const id of ids) expect(isUuidV7(id)).toBe(true);
      }),
      fuzz(200),
    );
  });

  test("changes with every random bit that it takes", () => {
    const ids = new Set<string>();
    for (let bit = 0; bit < 80; bit += 1) {
      const bytes = new Uint8Array(10);
      bytes[bit >> 3] = 1 << (bit & 7);
      ids.add(uuidV7({ nowMs: 0, random: bytes }));
    }
    // A UUID has room for 74 of the 80 bits.
    expect(ids.size).toBeGreaterThanOrEqual(70);
  });

  test.each([
    "019A85D2-7C1E-7000-8000-000000000001",
    "019a85d2-7c1e-4000-8000-000000000001",
    "019a85d27c1e70008000000000000001",
    "",
  ])("differs from %j", (other) => {
    expect(isUuidV7(other)).toBe(false);
  });
});
