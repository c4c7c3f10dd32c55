// Bodies as they are read back: absent fields filled in by kind, damage is a fault, and an erased entry has no made-up
// fields.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { fillFields, parseBody, toEntry } from "./body.js";
import { captureKinds } from "./kinds.js";

const stored = {
  position: 7,
  recorded_at: "2026-11-15T06:39:37.123Z",
  hash: Uint8Array.from({ length: 32 }, (_, byte) => byte),
};
const hash = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const envelope = {
  position: 7,
  id: "e",
  created_at: stored.recorded_at,
  recorded_at: stored.recorded_at,
  recorded_by: "",
  session_id: "",
  project: "",
  client: "",
  user_id: "",
  tags: [],
  parent_id: "",
  hash,
};

const answer = {
  response: "",
  response_summary: "",
  memories_used: [],
  chunks_used: [],
  model: "",
  usage: {},
  error: "",
};
const empty: { readonly [K in (typeof captureKinds)[number]]: object } = {
  interaction: { ...answer, context_pack: {} },
  response: answer,
  message: { content: "", tool_calls: [], tool_call_id: "", name: "", injected: "" },
  tool_call: { args: {}, result: "", tool_call_id: "" },
  error: { context: "" },
  decision: { rationale: "" },
  consolidation: { summary: "", kept: [], trigger: "" },
  clear: {},
  withdrawal: {},
  feedback: { label: "", comment: "" },
  session_info: { title: "", metadata: {}, parent: "" },
  raw: {},
};

describe.each(captureKinds)("of a %s", (kind) => {
  test("absent text reads as empty text, lists and objects as empty ones, numbers stay absent", () => {
    const filled = Object.fromEntries(Object.entries(fillFields(kind, {})).filter(([name]) => name !== "extra"));
    expect(filled).toMatchObject(empty[kind]);
    const others = Object.keys(filled).filter((name) => !(name in empty[kind]));
    // Fields that a kind requires are never absent in a recorded entry.
    expect(
      others.every((name) =>
        ["error", "decision", "tool", "source", "record", "interaction_id", "entry_id"].includes(name),
      ),
    ).toBe(true);
  });

  test("extra is always there", () => {
    expect(toEntry({ ...stored, kind, body: bytesOf({ id: "e" }) })).toMatchObject({ ...envelope, kind, extra: {} });
  });
});

test("given fields read back as they are, in the order envelope, fields, extra", () => {
  const body = {
    id: "e",
    created_at: "1999-12-31T23:59:59.000Z",
    project: "p",
    error: "x",
    extra: { z: 1, a: [null] },
  };
  const entry = toEntry({ ...stored, kind: "error", body: bytesOf(body) });
  expect(entry).toEqual({ ...envelope, ...body, kind: "error", context: "" });
  expect(Object.keys(entry).slice(0, 4)).toEqual(["position", "id", "kind", "created_at"]);
  expect(Object.keys(entry).at(-1)).toBe("extra");
});

test("null content with tool calls reads as empty text", () => {
  const body = bytesOf({ id: "e", session_id: "s", role: "assistant", content: null, tool_calls: [{}] });
  expect(toEntry({ ...stored, kind: "message", body })).toMatchObject({ content: "", tool_calls: [{}] });
});

test("false, zero and empty text that were given are not absent", () => {
  const body = bytesOf({ id: "e", tool: "", is_error: false, duration_ms: 0, result: false });
  expect(toEntry({ ...stored, kind: "tool_call", body })).toMatchObject({
    is_error: false,
    duration_ms: 0,
    result: false,
  });
});

test("a kind of a later version reads as its envelope and extra", () => {
  const entry = toEntry({ ...stored, kind: "memory_later", body: bytesOf({ id: "e", action: "export" }) });
  expect(entry).toEqual({ ...envelope, kind: "memory_later", extra: {} });
});

test("an erased entry has what the chain holds, and says that it is erased", () => {
  expect(toEntry({ ...stored, kind: "error" })).toEqual({ ...envelope, id: "", kind: "error", erased: true });
});

test.each(["", "{", "nonsense", "null", "[]", '"text"', "5", "{}", '{"id":5}', "\u0000"])(
  "a body that is not an entry is a loud fault: %j",
  (text) => {
    expect(() => parseBody(7, Buffer.from(text))).toThrow(
      expect.objectContaining({
        name: "Fault",
        code: "entry_corrupt",
        message: expect.stringContaining("entry 7"),
        hint: expect.stringContaining("hansard verify"),
      }),
    );
  },
);

test("any JSON is read back unchanged, lone surrogates and __proto__ included", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ stringUnit: "binary" })), (extra) => {
      const text = JSON.stringify({ id: "e", extra });
      expect(parseBody(7, Buffer.from(text)).extra).toEqual(JSON.parse(JSON.stringify(extra)));
    }),
    fuzz(200),
  );
  const hostile = '{"id":"e","extra":{"__proto__":{"a":"\\ud800\\u0000"}}}';
  expect(JSON.stringify(parseBody(7, Buffer.from(hostile)))).toBe(hostile);
});

test("bytes in the middle of a larger buffer are read correctly", () => {
  const text = '{"id":"e"}';
  const larger = Buffer.from(`xx${text}yy`);
  expect(parseBody(7, larger.subarray(2, 2 + text.length))).toEqual({ id: "e" });
});

function bytesOf(body: object): Uint8Array {
  return Buffer.from(JSON.stringify(body));
}
