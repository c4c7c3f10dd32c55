// Validation: what each kind takes, how it is stored, and what is refused with which code and field.
import { describe, expect, test } from "vitest";
import { captureKinds } from "../../model/kinds.js";
import { Rejection } from "../../model/rejection.js";
import { type Draft, parseDraft } from "./draft.js";

/** The minimum that each kind needs. */
const least = {
  interaction: { kind: "interaction", prompt: "p" },
  response: { kind: "response", interaction_id: "i" },
  message: { kind: "message", session_id: "s", role: "user", content: "c" },
  tool_call: { kind: "tool_call", tool: "t" },
  error: { kind: "error", error: "e" },
  decision: { kind: "decision", decision: "d" },
  consolidation: { kind: "consolidation", session_id: "s", through: 1 },
  clear: { kind: "clear", session_id: "s" },
  withdrawal: { kind: "withdrawal", session_id: "s", withdraws: 1 },
  feedback: { kind: "feedback", entry_id: "i", score: 0 },
  session_info: { kind: "session_info", session_id: "s" },
  raw: { kind: "raw", source: "s", record: {} },
} as const;

const everything = {
  interaction: {
    prompt: " p ",
    response: "r",
    response_summary: "rs",
    memories_used: ["m"],
    chunks_used: ["c"],
    context_pack: { a: [1] },
    model: "m",
    usage: { input_tokens: 1 },
    latency_ms: 0.5,
    error: "e",
  },
  response: { interaction_id: "i", response: "", memories_used: [], usage: {}, latency_ms: 0, error: "e" },
  message: {
    role: "tool",
    content: [{ type: "text" }, "x"],
    confidence: 0,
    tool_calls: [{}],
    tool_call_id: "t",
    name: "n",
  },
  tool_call: { tool: "t", args: {}, result: [null, 1], is_error: false, duration_ms: -1, tool_call_id: "t" },
  error: { error: "", context: "c" },
  decision: { decision: "", rationale: "r", confidence: 1 },
  consolidation: { through: 7, summary: "s" },
  clear: {},
  withdrawal: { withdraws: 7 },
  feedback: { entry_id: "i", score: -1, label: "l", comment: "c" },
  session_info: { title: "t", metadata: { a: 1 }, parent: "p" },
  raw: { source: "", record: { a: { b: 1 } } },
} as const;

describe.each(captureKinds)("a %s", (kind) => {
  test("needs only its required fields, and stores only what it was given", () => {
    const { kind: _, ...given } = least[kind];
    expect(parseDraft(least[kind])).toMatchObject({ kind, id: undefined });
    expect(draftOf(least[kind]).body).toEqual(given);
  });

  test("stores every field as it was given", () => {
    const { body } = draftOf({ ...least[kind], ...everything[kind] });
    expect(body).toEqual({ ...("session_id" in least[kind] ? { session_id: "s" } : {}), ...everything[kind] });
  });

  test("needs each of its required fields", () => {
    for (const name of Object.keys(least[kind])) {
      for (const absent of [undefined, null]) {
        const code =
          name === "session_id"
            ? "session_id_invalid"
            : name === "prompt"
              ? /field_missing|prompt_blank/
              : "field_missing";
        expect(refusalOf({ ...least[kind], [name]: absent })).toMatchObject({
          code: expect.stringMatching(code),
          field: name,
        });
      }
    }
  });

  test("treats null in an optional field as absent", () => {
    const nothing = Object.fromEntries(
      [...Object.keys(everything[kind]), "id", "created_at", "project", "client", "extra"]
        .filter((name) => !(name in least[kind]))
        .map((name) => [name, null]),
    );
    expect(draftOf({ ...nothing, ...least[kind] }).body).toEqual(draftOf(least[kind]).body);
  });

  test("takes labels, an id and a time, which is stored in UTC", () => {
    const envelope = { id: "i-1", created_at: "2026-11-15T08:39:37+02:00", session_id: "s", project: "p", client: "c" };
    const { id, body } = draftOf({ ...least[kind], ...envelope });
    expect(id).toBe("i-1");
    expect(body).toMatchObject({ created_at: "2026-11-15T06:39:37.000Z", session_id: "s", project: "p", client: "c" });
    expect(Object.keys(body).slice(0, 4)).toEqual(["created_at", "session_id", "project", "client"]);
  });

  test("keeps unknown fields in extra, together with the caller's own", () => {
    const { body } = draftOf({ ...least[kind], extra: { a: 1 }, b: [2], position: 9, hash: "h", recorded_at: "now" });
    expect(body.extra).toEqual({ a: 1, b: [2], position: 9, hash: "h", recorded_at: "now" });
    expect(body).not.toHaveProperty("position");
  });
});

describe("a field of the wrong type is refused by name:", () => {
  const wrong: readonly (readonly [keyof typeof least, string, readonly unknown[], string])[] = [
    ["interaction", "prompt", ["", " ", "\n\t\u00a0\u3000", 1, {}, []], "prompt_blank"],
    ["interaction", "response", [1, {}, [], true], "field_invalid"],
    ["interaction", "response_summary", [1], "field_invalid"],
    [
      "interaction",
      "memories_used",
      ["m", {}, 1, [null], [["m"]], [{}], ["m", undefined], [Number.NaN]],
      "field_invalid",
    ],
    ["interaction", "chunks_used", ["c", [null]], "field_invalid"],
    ["interaction", "context_pack", ["{}", [], 1, true], "field_invalid"],
    ["interaction", "model", [{}], "field_invalid"],
    ["interaction", "usage", [[], "1", 1], "field_invalid"],
    ["interaction", "latency_ms", ["1", {}, true, Number.NaN, Number.POSITIVE_INFINITY], "field_invalid"],
    ["response", "interaction_id", [1, {}, []], "field_invalid"],
    ["message", "role", ["", "User", "bot", 1, {}], "role_unknown"],
    ["message", "content", [1, true, {}, [1], [null], [[]]], "field_invalid"],
    ["message", "confidence", [-0.1, 1.1, "0.5", Number.NaN, true], "confidence_out_of_range"],
    ["message", "tool_calls", [{}, "[]", [1], [null], [[]]], "field_invalid"],
    ["message", "tool_call_id", [1], "field_invalid"],
    ["message", "name", [[]], "field_invalid"],
    ["tool_call", "tool", [1, {}], "field_invalid"],
    ["tool_call", "args", ["{}", []], "field_invalid"],
    ["tool_call", "is_error", ["true", 0, 1], "field_invalid"],
    ["tool_call", "duration_ms", ["5"], "field_invalid"],
    ["error", "error", [1, {}], "field_invalid"],
    ["error", "context", [{}], "field_invalid"],
    ["decision", "decision", [1], "field_invalid"],
    ["decision", "confidence", [2], "confidence_out_of_range"],
    ["consolidation", "through", [-1, 1.5, "1", 2 ** 53], "field_invalid"],
    ["session_info", "title", [1], "field_invalid"],
    ["session_info", "metadata", [[]], "field_invalid"],
    ["session_info", "parent", [1, "-", ".", "a\n", "x".repeat(513)], "session_id_invalid"],
    ["raw", "source", [1], "field_invalid"],
    ["raw", "record", [[], "{}", 1], "field_invalid"],
  ];
  test.each(wrong)("%s.%s", (kind, field, values, code) => {
    for (const value of values) {
      expect(refusalOf({ ...least[kind], [field]: value }), JSON.stringify(value)).toMatchObject({
        code,
        field,
        message: expect.stringContaining(field),
      });
    }
  });

  test.each([
    ["id", ["", "12", "a b", 5, {}], "id_invalid"],
    ["created_at", ["2026-02-30", "yesterday", "", 1763188777, {}], "time_invalid"],
    ["session_id", ["-", "..", 5, "\0", "x".repeat(513)], "session_id_invalid"],
    ["project", ["-", 5, "a\nb", "\ud800", "x".repeat(257)], "label_invalid"],
    ["client", ["-", [], "é".repeat(129)], "label_invalid"],
    ["extra", [[], "{}", 1], "field_invalid"],
  ])("the envelope's %s", (field, values, code) => {
    for (const value of values as readonly unknown[]) {
      expect(refusalOf({ ...least.error, [field]: value }), JSON.stringify(value)).toMatchObject({ code, field });
    }
  });
});

test("a prompt is blank if trimming leaves nothing: a byte order mark is blank, a control character is not", () => {
  expect(refusalOf({ kind: "interaction", prompt: "\ufeff" })).toMatchObject({ code: "prompt_blank" });
  for (const prompt of ["\u001c", "\u0085", "\u200b"]) {
    expect(draftOf({ kind: "interaction", prompt }).body).toEqual({ prompt });
  }
});

describe("the kind", () => {
  test.each(["redaction", "audit", "memory_proposed", "memory_promoted", "memory_edited"])("%s is reserved", (kind) => {
    expect(refusalOf({ kind })).toMatchObject({ code: "kind_reserved", field: "kind" });
  });

  test.each(["", "Error", "constructor", "__proto__", "toString", 5, {}, ["error"], true])("%j is unknown", (kind) => {
    const known = expect.stringContaining("tool_call");
    expect(refusalOf({ kind, error: "e" })).toMatchObject({ code: "kind_unknown", field: "kind", hint: known });
  });

  test("may be left out only if the caller says which one is meant", () => {
    expect(refusalOf({ prompt: "p" })).toMatchObject({ code: "field_missing", field: "kind" });
    expect(parseDraft({ prompt: "p" }, "interaction")).toMatchObject({ kind: "interaction" });
    expect(parseDraft({ kind: null, prompt: "p" }, "interaction")).toMatchObject({ kind: "interaction" });
  });
});

test.each([undefined, null, "text", 1, true, [], [{}], () => 1])("an entry is an object, not %j", (input) => {
  expect(parseDraft(input)).toMatchObject({ code: "field_invalid", field: "entry" });
});

describe("references", () => {
  test("that are numbers or booleans become their JSON text", () => {
    const { body } = draftOf({ ...least.interaction, memories_used: ["m", 7, -1.5, 1e21, true, false, ""] });
    expect(body.memories_used).toEqual(["m", "7", "-1.5", "1e+21", "true", "false", ""]);
  });

  test("that are refused are named by their index", () => {
    expect(refusalOf({ ...least.interaction, chunks_used: ["a", 1, null] }).message).toContain("chunks_used[2]");
  });

  test("with a hole in the list are refused like null", () => {
    const holed = ["a", "b"];
    delete holed[0];
    expect(refusalOf({ ...least.interaction, memories_used: holed })).toMatchObject({ field: "memories_used" });
  });
});

describe("a message without content", () => {
  test.each([undefined, null])("is accepted with tool calls (content %j)", (content) => {
    const { body } = draftOf({ ...least.message, content, tool_calls: [{ id: "c" }] });
    expect(body.content ?? null).toBeNull();
  });

  test.each([undefined, null, []])("is refused without them (tool_calls %j)", (tool_calls) => {
    for (const content of [undefined, null]) {
      const refused = refusalOf({ ...least.message, content, tool_calls });
      expect(refused).toMatchObject({
        code: "field_missing",
        field: "content",
        hint: expect.stringContaining("tool_calls"),
      });
    }
  });

  test("may be empty text", () => {
    expect(draftOf({ ...least.message, content: "" }).body.content).toBe("");
    expect(draftOf({ ...least.message, content: [] }).body.content).toEqual([]);
  });
});

describe("extra", () => {
  test("is refused if it repeats a field that is also given directly", () => {
    const refused = refusalOf({ ...least.error, note: 1, extra: { note: 2 } });
    expect(refused).toMatchObject({ code: "field_invalid", field: "note" });
  });

  test("may use the names of known fields, which stay separate", () => {
    const { body } = draftOf({ ...least.error, extra: { error: "inner", kind: "inner" } });
    expect(body).toMatchObject({ error: "e", extra: { error: "inner", kind: "inner" } });
  });

  test.each(["__proto__", "constructor", "toString", ""])("keeps %j as an ordinary key", (name) => {
    const input = JSON.parse(`{"kind":"error","error":"e",${JSON.stringify(name)}:{"polluted":true}}`);
    const { body } = draftOf(input);
    expect(Object.keys(body.extra as object)).toEqual([name]);
    expect(JSON.stringify(body.extra)).toBe(`{${JSON.stringify(name)}:{"polluted":true}}`);
    expect({}).not.toHaveProperty("polluted");
  });

  test("__proto__ cannot add fields to an entry", () => {
    const input = JSON.parse('{"kind":"error","__proto__":{"error":"borrowed","id":"borrowed"}}');
    expect(refusalOf(input)).toMatchObject({ code: "field_missing", field: "error" });
  });
});

describe("nesting", () => {
  const nested = (levels: number): object => {
    let value: object = {};
    for (let level = 1; level < levels; level += 1) value = level % 2 === 0 ? { deeper: value } : [value];
    return value;
  };

  test("of 200 levels is accepted, of 201 refused; the entry itself is the first level", () => {
    expect(parseDraft({ ...least.tool_call, result: nested(199) })).not.toBeInstanceOf(Rejection);
    expect(refusalOf({ ...least.tool_call, result: nested(200) })).toMatchObject({
      code: "nesting_too_deep",
      message: expect.stringContaining("200"),
      hint: expect.any(String),
    });
  });

  test("of a hundred thousand levels is refused in the same way", () => {
    expect(refusalOf({ ...least.tool_call, result: nested(100_000) })).toMatchObject({ code: "nesting_too_deep" });
  });

  test("that is circular is refused too", () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(refusalOf({ ...least.tool_call, args: circle })).toMatchObject({ code: "nesting_too_deep" });
  });
});

function draftOf(input: unknown): Draft {
  const draft = parseDraft(input);
  if (draft instanceof Rejection) throw new Error(`refused: ${draft.message}`);
  return draft;
}

function refusalOf(input: unknown): Rejection {
  const draft = parseDraft(input);
  if (!(draft instanceof Rejection)) throw new Error(`taken: ${JSON.stringify(draft).slice(0, 200)}`);
  return draft;
}

test.each([
  ["an Error", new Error("boom"), "error.message"],
  ["a Map", new Map([["a", 1]]), "Object.fromEntries"],
  ["a Set", new Set([1]), "[...set]"],
])("%s, which JSON cannot represent, is refused with a hint how to write it", (what, value, way) => {
  for (const held of [value, { cause: [value] }]) {
    expect(parseDraft({ kind: "tool_call", tool: "t", result: held })).toMatchObject({
      code: "field_invalid",
      field: "result",
      message: expect.stringContaining(what),
      hint: expect.stringContaining(way),
    });
  }
  const writesItself = Object.assign(new Error("boom"), { toJSON: () => ({ message: "boom" }) });
  expect(parseDraft({ kind: "tool_call", tool: "t", result: writesItself })).toMatchObject({
    body: { result: { message: "boom" } },
  });
});
