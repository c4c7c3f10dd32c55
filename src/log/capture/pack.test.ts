// Packing: the bytes that are stored, the claims that are taken, and what JSON cannot hold.
import { describe, expect, test } from "vitest";
import { repeatableContext } from "../../../test/support/write-context.js";
import { isUuidV7 } from "../../model/ids.js";
import { limits } from "../../model/limits.js";
import { Rejection } from "../../model/rejection.js";
import { type Draft, type Packed, pack, pooledRandomBytes, sharedRoom } from "./draft.js";

const writeContext = repeatableContext();

test("the body is the id and what the caller gave, in order, as JSON in UTF-8", () => {
  const { entry } = packed({
    kind: "error",
    id: "e-1",
    body: { project: "p", error: "é🙂\ud800\0", extra: { b: 1, a: 2 } },
  });
  expect(Buffer.from(entry.body).toString("utf8")).toBe(
    '{"id":"e-1","project":"p","error":"é🙂\\ud800\\u0000","extra":{"b":1,"a":2}}',
  );
});

test("the salt has sixteen bytes and precedes the body, because they are hashed together", () => {
  const { salt, body } = packed({ kind: "error", id: "e-1", body: { error: "e" } }).entry;
  expect(salt).toHaveLength(16);
  expect([body.buffer, body.byteOffset]).toEqual([salt.buffer, salt.byteOffset + 16]);
});

test("an entry without an id gets a UUIDv7, and one without a time gets the time of recording", () => {
  const first = packed({ kind: "error", id: undefined, body: { error: "e" } });
  const second = packed({ kind: "error", id: undefined, body: { error: "e" } });
  expect(isUuidV7(first.id)).toBe(true);
  expect(second.id).not.toBe(first.id);
  expect(first.created_at).toBe(first.entry.recorded_at);
  expect(Buffer.from(first.entry.body).toString()).not.toContain("created_at");
});

test("a given time is when it happened, not when it was recorded", () => {
  const at = "1999-12-31T23:59:59.000Z";
  const { created_at, entry } = packed({ kind: "error", id: "e", body: { created_at: at, error: "e" } });
  expect(created_at).toBe(at);
  expect(entry.recorded_at).toMatch(/^2026-/);
});

test("an entry claims its id, and a response also claims the completion of its interaction", () => {
  expect(packed({ kind: "error", id: "e-1", body: {} }).entry.claims).toEqual(["id:e-1"]);
  const response = packed({ kind: "response", id: "r-1", body: { interaction_id: "i-1" } });
  expect(response.entry.claims).toEqual(["id:r-1", "completes:i-1"]);
});

describe("what JSON cannot represent", () => {
  test("is refused if it cannot be written at all", () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const broken = {
      get field() {
        throw new Error("no such field");
      },
    };
    for (const result of [1n, { deep: [1n] }, circle, broken]) {
      expect(pack({ kind: "tool_call", id: "t", body: { tool: "t", result } }, writeContext)).toMatchObject({
        code: "field_invalid",
        message: expect.stringContaining("not JSON"),
      });
    }
  });

  test("is stored as JSON writes it, if JSON can", () => {
    const result = { date: new Date(0), nothing: undefined, infinite: Number.POSITIVE_INFINITY, list: [undefined] };
    const { entry } = packed({ kind: "tool_call", id: "t", body: { tool: "t", result } });
    expect(JSON.parse(Buffer.from(entry.body).toString()).result).toEqual({
      date: "1970-01-01T00:00:00.000Z",
      infinite: null,
      list: [null],
    });
  });
});

describe("an entry's JSON", () => {
  const around = Buffer.byteLength('{"id":"e","error":""}');

  test("may have 16 MiB, and not a byte more", () => {
    expect(limits.entry_bytes).toBe(16 * 1024 * 1024);
    const most = "x".repeat(limits.entry_bytes - around);
    expect(packed({ kind: "error", id: "e", body: { error: most } }).entry.body).toHaveLength(limits.entry_bytes);
    expect(pack({ kind: "error", id: "e", body: { error: `${most}x` } }, writeContext)).toMatchObject({
      code: "entry_too_large",
      message: expect.stringContaining("16 MiB"),
      hint: expect.any(String),
    });
  });

  test("is measured in bytes, escapes included", () => {
    const third = Math.floor(limits.entry_bytes / 3);
    for (const error of ["日".repeat(third), "\0".repeat(third)]) {
      expect(pack({ kind: "error", id: "e", body: { error } }, writeContext)).toMatchObject({
        code: "entry_too_large",
      });
    }
  });
});

test("entries in a shared buffer have the same bytes as alone, short ones and long ones", () => {
  const room = sharedRoom();
  const errors = [1, 5_000, 30_000, 2, 90_000, 21_000, 7].map((chars) =>
    "é🙂a日\ud800".repeat(chars / 5 + 1).slice(0, chars),
  );
  const drafts = errors.map((error, nth): Draft => ({ kind: "error", id: `e-${nth}`, body: { error } }));
  const shared = drafts.map((draft) => (pack(draft, writeContext, room) as Packed).entry);
  expect(shared.map(({ body }) => Buffer.from(body).toString("utf8"))).toEqual(
    errors.map((error, nth) => JSON.stringify({ id: `e-${nth}`, error })),
  );
  for (const { salt, body } of shared) {
    expect([body.buffer, body.byteOffset]).toEqual([salt.buffer, salt.byteOffset + 16]);
  }
});

test("random bytes from the pool are never given out twice", () => {
  const random = pooledRandomBytes();
  const given = Array.from({ length: 2_000 }, () => Buffer.from(random(16)).toString("hex"));
  expect(new Set(given).size).toBe(given.length);
  expect(random(10)).toHaveLength(10);
  const kept = random(16);
  const before = Buffer.from(kept).toString("hex");
  for (let calls = 0; calls < 2_000; calls += 1) random(16);
  expect(Buffer.from(kept).toString("hex")).toBe(before);
});

function packed(draft: Draft): Packed {
  const result = pack(draft, writeContext);
  if (result instanceof Rejection) throw new Error(`refused: ${result.message}`);
  return result;
}
