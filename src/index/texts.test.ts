// Which texts of an entry are searched, kind by kind.
import { expect, test } from "vitest";

import type { JsonObject } from "../model/json.js";
import { captureKinds, kindRules, reservedKinds } from "../model/kinds.js";
import { textsOf, toEntryTexts } from "./derivation.js";

function texts(kind: string, body: JsonObject): readonly string[] {
  return textsOf(kind, body).map(({ field, text }) => `${field}: ${text}`);
}

const answer = { response: "R", response_summary: "RS", memories_used: ["M"], chunks_used: ["C"], model: "MODEL" };

test.each<[string, JsonObject, readonly string[]]>([
  [
    "interaction",
    { prompt: "P", ...answer, context_pack: { k: "v" } },
    ["prompt: P", "response: R", "response_summary: RS"],
  ],
  ["response", { interaction_id: "i", ...answer }, ["response: R", "response_summary: RS"]],
  ["message", { role: "user", content: "C", name: "N", tool_call_id: "T" }, ["content: C", "name: N"]],
  ["error", { error: "E", context: "C" }, ["error: E", "context: C"]],
  ["decision", { decision: "D", rationale: "R", confidence: 0.5 }, ["decision: D", "rationale: R"]],
  ["consolidation", { through: 3, summary: "S" }, ["summary: S"]],
  ["clear", {}, []],
  ["session_info", { title: "T", metadata: { a: 1 } }, []],
  ["raw", { source: "S", record: { k: ["v", null, 7] } }, ["record: k", "record: v", "record: 7"]],
])("of %s: %j", (kind, body, expected) => {
  expect(texts(kind, body)).toEqual(expected);
});

test("keys and leaves of arguments, results and calls are texts of their own; null says nothing", () => {
  const args = { path: "a b", deep: [{ n: -1.5e-7 }, true, null, [""]], "": "" };
  expect(texts("tool_call", { tool: "T", args, result: '{"not":"parsed"}' })).toEqual([
    ...["tool: T", "args: path", "args: a b", "args: deep", "args: n", "args: -1.5e-7", "args: true"],
    'result: {"not":"parsed"}',
  ]);
  const tool_calls = [{ id: "c1", function: { name: "run", arguments: '{"cmd":"ls"}' } }];
  expect(texts("message", { content: null, tool_calls })).toEqual([
    ...["tool_calls: id", "tool_calls: c1", "tool_calls: function", "tool_calls: name", "tool_calls: run"],
    ...["tool_calls: arguments", 'tool_calls: {"cmd":"ls"}'],
  ]);
});

test.each([
  [0, ["result: 0"]],
  [false, ["result: false"]],
  [null, []],
  ["", []],
  [[], []],
])("a result of %j gives %j", (result, expected) => {
  expect(texts("tool_call", { tool: "", result })).toEqual(expected);
});

test("of content parts only what was said, called or answered is searched", () => {
  const content = [
    "plain",
    { type: "text", text: "said" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    { type: "tool_use", id: "t1", name: "run", input: { cmd: "ls" } },
    { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "listed" }] },
    { type: "tool_result", tool_use_id: "t2", content: "bare" },
  ];
  expect(texts("message", { content })).toEqual(
    ["plain", "said", "run", "cmd", "ls", "listed", "bare"].map((text) => `content: ${text}`),
  );
});

test("absent values of any kind have no text", () => {
  for (const kind of [...captureKinds, ...reservedKinds]) expect(textsOf(kind, {})).toEqual([]);
});

test("a damaged body is searched for what it holds, and breaks nothing", () => {
  expect(texts("interaction", { prompt: { a: "b" }, response: 5 })).toEqual(["prompt: a", "prompt: b", "response: 5"]);
  expect(texts("message", { content: { text: "odd" }, name: [["n"]] })).toEqual(["content: odd", "name: n"]);
});

test("only fields that the kinds have are searched", () => {
  const searched = captureKinds.flatMap((kind) => {
    const every = Object.fromEntries(
      [...Object.keys(kindRules[kind].fields), "extra", "id"].map((name) => [name, "x"]),
    );
    return textsOf(kind, every).map(({ field }) => field);
  });
  expect([...new Set(searched)].sort()).toEqual([
    ...["args", "comment", "content", "context", "decision", "error", "label", "name", "prompt", "rationale"],
    ...["record", "response", "response_summary", "result", "summary", "tool", "tool_calls"],
  ]);
});

test("an index gets texts in the form that is compared", () => {
  expect(toEntryTexts({ position: 3, kind: "error", body: { error: "CAFE\u0301", context: "" } })).toEqual({
    position: 3,
    texts: ["café"],
  });
});
