// States of an entry that its own body shows.
import { expect, test } from "vitest";
import { isState, marksOf, modelOf } from "./states.js";

test.each([
  ["error", { error: "e" }, ["failed"]],
  ["tool_call", { is_error: true }, ["failed"]],
  ["tool_call", { is_error: false }, []],
  ["tool_call", {}, []],
  ["message", { role: "assistant", confidence: 0.49 }, ["unsure"]],
  ["message", { role: "timmy", confidence: 0 }, ["unsure"]],
  ["message", { role: "assistant", confidence: 0.5 }, []],
  ["message", { role: "user", confidence: 0.1 }, []],
  ["message", { role: "user", injected: "file" }, ["injected"]],
  ["message", { role: "user", injected: "" }, []],
  ["message", { role: 5, confidence: 0.1 }, []],
  ["interaction", {}, ["asked"]],
  ["interaction", { response: "" }, ["asked"]],
  ["interaction", { response: "r" }, []],
  ["interaction", { error: "refused" }, ["failed"]],
  ["response", { response: "r" }, ["answered"]],
  ["response", { error: "cut off" }, ["failed", "answered"]],
  ["decision", { decision: "d" }, []],
])("%s %j is %j", (kind, body, marks) => {
  expect(marksOf(kind, body)).toEqual(marks);
});

test("interactions and responses name a model, and so may messages", () => {
  expect(modelOf("interaction", { model: "m" })).toBe("m");
  expect(modelOf("message", { extra: { model: "m" } })).toBe("m");
  expect(modelOf("message", { extra: { model: 5 } })).toBeUndefined();
  expect(modelOf("interaction", { model: "" })).toBeUndefined();
});

test("states have exact names", () => {
  expect(["error", "low_confidence", "unanswered", "disliked"].every(isState)).toBe(true);
  expect(["Error", "", "toString", undefined, 5].some(isState)).toBe(false);
});
