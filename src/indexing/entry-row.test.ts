// What the index keeps of an entry: time, labels and references, and no recorded text.
import { expect, test } from "vitest";
import type { Entry } from "../model/entry.js";
import { toEntryRow } from "./entry-row.js";

const envelope = {
  position: 3,
  id: "e",
  created_at: "2026-11-14T10:00:00.500Z",
  recorded_at: "2026-11-15T06:39:37.123Z",
  session_id: "s",
  project: "p",
  client: "c",
  hash: "00",
  extra: {},
};
const answer = { response: "r", response_summary: "", memories_used: ["m"], chunks_used: ["c"], model: "", usage: {} };

test("the row of an interaction has its time, labels and references", () => {
  const entry: Entry = { ...envelope, kind: "interaction", prompt: "secret", context_pack: {}, ...answer };
  expect(toEntryRow(entry, undefined)).toEqual({
    position: 3,
    kind: "interaction",
    created_ms: Date.UTC(2026, 10, 14, 10, 0, 0, 500),
    session_id: "s",
    project: "p",
    client: "c",
    memories: ["m"],
    chunks: ["c"],
  });
});

test("the row of a response says which interaction it completes", () => {
  const entry: Entry = { ...envelope, kind: "response", interaction_id: "i", ...answer };
  expect(toEntryRow(entry, 2)).toMatchObject({ kind: "response", completes: 2, memories: ["m"], chunks: ["c"] });
});

test("other kinds use nothing, whatever their extra says", () => {
  const entry: Entry = { ...envelope, kind: "error", error: "e", context: "", extra: { memories_used: ["m"] } };
  expect(toEntryRow(entry, undefined)).toMatchObject({ memories: [], chunks: [] });
});
