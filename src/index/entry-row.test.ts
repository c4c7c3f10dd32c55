// What the index keeps of an entry: time, labels and references, and the first words of prompts and answers.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../model/json.js";
import { toEntryRow } from "./derivation.js";

const labels = { created_at: "2026-11-14T10:00:00.500Z", session_id: "s", project: "p", client: "c" };

function placed(kind: string, body: JsonObject) {
  return { position: 3, kind, recorded_at: "2026-11-15T06:39:37.123Z", body: { id: "e", ...body } };
}

test("the row of an interaction has its time, labels and references", () => {
  const body = { ...labels, prompt: "secret", response: "r", model: "x", memories_used: ["m"], chunks_used: ["c"] };
  expect(toEntryRow(placed("interaction", body))).toEqual({
    position: 3,
    kind: "interaction",
    created_ms: Date.UTC(2026, 10, 14, 10, 0, 0, 500),
    session_id: "s",
    project: "p",
    client: "c",
    references: [
      { what: "memory", reference: "m" },
      { what: "chunk", reference: "c" },
      { what: "model", reference: "x" },
    ],
    facts: { same: expect.anything(), session: { prompt: "secret", asks: expect.any(Number), answer: "r" } },
  });
});

test("what was not given reads as the contract says: the time of recording, empty labels, no references", () => {
  expect(toEntryRow(placed("interaction", { prompt: "p", response: "r" }))).toMatchObject({
    created_ms: Date.UTC(2026, 10, 15, 6, 39, 37, 123),
    session_id: "",
    project: "",
    client: "",
    references: [],
  });
});

test("the row of a response says which interaction its references count for", () => {
  const body = { interaction_id: "i", memories_used: ["m"], chunks_used: ["c"] };
  expect(toEntryRow(placed("response", body), 2)).toMatchObject({
    about: 2,
    references: [
      { what: "memory", reference: "m" },
      { what: "chunk", reference: "c" },
      { what: "is", reference: "answered" },
    ],
  });
});

test("a call is found by its tool, and what failed, was unsure or waits by what it is", () => {
  const referencesOf = (kind: string, body: JsonObject) => toEntryRow(placed(kind, body))?.references;
  expect(referencesOf("tool_call", { tool: "bash", is_error: true })).toEqual([
    { what: "tool", reference: "bash" },
    { what: "is", reference: "failed" },
  ]);
  expect(referencesOf("interaction", { prompt: "p" })).toEqual([{ what: "is", reference: "asked" }]);
  expect(referencesOf("message", { role: "assistant", confidence: 0.2, extra: { model: "x" } })).toEqual([
    { what: "model", reference: "x" },
    { what: "is", reference: "unsure" },
  ]);
});

test("other kinds have no references, whatever their extra says", () => {
  const body = { decision: "d", extra: { memories_used: ["m"], model: "x" } };
  expect(toEntryRow(placed("decision", body))).toMatchObject({ references: [] });
});

describe("a damaged body that still parses has no row, where", () => {
  test.each<[string, JsonObject]>([
    ["its id is no string", { id: 5 }],
    ["its time is none", { created_at: "yesterday" }],
    ["a label is no string", { project: 5 }],
    ["its references are no list", { memories_used: "m" }],
    ["a reference is no string", { chunks_used: [null] }],
  ])("%s", (_, body) => {
    expect(toEntryRow(placed("interaction", body))).toBeUndefined();
  });
});
