// Memories that an earlier version kept.
import { expect, test } from "vitest";
import { documentToMemory, MEMORIES } from "./memory-fold.js";

test.each([
  ["rule", "`npm test` fails; `npm test -- --all` works", "rule:commands"],
  ["rule", "answer every question in German", "rule:words"],
  ["decision", "Retry once (the registry drops connections at night)", "decision"],
  ["agent", "`npm test` fails; `npm test -- --all` works", "agent"],
])("the source %s of %j reads as %s", (source, content, expected) => {
  const body = { rows: 1, memory: { id: "m", source, content } };
  const document = { collection: MEMORIES, key: "m", sort: 1, position: 1, labels: [], body };
  expect(documentToMemory(document)).toMatchObject({ id: "m", content, source: expected });
});
