// Which messages and interactions are the same call.
import { expect, test } from "vitest";
import { type CallStep, pairCalls } from "./same-calls.js";

type Given = Omit<CallStep, "position">;

const user = (asked: string): Given => ({ by: "user", asked });
const message = (fields: Partial<CallStep>): Given => ({ by: "message", ...fields });
const interaction = (asked: string, fields: Partial<CallStep>): Given => ({ by: "interaction", asked, ...fields });

/** Positions of interactions and their first messages. */
function pairs(...given: readonly Given[]): readonly (readonly number[])[] {
  return [...pairCalls(given.map((step, at) => ({ ...step, position: at + 1 }))).messageOf].sort(([a], [b]) => a - b);
}

test.each<[string, readonly Given[], readonly (readonly number[])[]]>([
  ["the same text in one turn", [user("q"), interaction("q", { said: "a" }), message({ said: "a" })], [[2, 3]]],
  ["the message first", [user("q"), message({ said: "a" }), interaction("q", { said: "a" })], [[3, 2]]],
  ["the user's words last", [interaction("q", { said: "a" }), user("q"), message({ said: "a" })], [[1, 3]]],
  [
    "the same text in two turns",
    [
      ...[user("q"), interaction("q", { said: "a" }), message({ said: "a" })],
      ...[user("q"), interaction("q", { said: "a" }), message({ said: "a" })],
    ],
    [
      [2, 3],
      [5, 6],
    ],
  ],
  [
    "the same text in another turn",
    [user("q"), interaction("q", { said: "a" }), user("r"), message({ said: "a" })],
    [],
  ],
  [
    "the same text twice in a turn",
    [
      user("q"),
      interaction("q", { said: "a" }),
      interaction("q", { said: "a" }),
      message({ said: "a" }),
      message({ said: "a" }),
    ],
    [
      [2, 4],
      [3, 5],
    ],
  ],
  [
    "the ids of tool calls, which a source may write as a message each",
    [user("q"), interaction("q", { calls: ["c1", "c2"] }), message({ calls: ["c1"] }), message({ calls: ["c2"] })],
    [[2, 3]],
  ],
  [
    "the provider's id, from far away and with other texts",
    [interaction("x", { answer: "m1", said: "a" }), user("q"), user("r"), message({ answer: "m1", said: "a…" })],
    [[1, 4]],
  ],
  [
    "one id for all answers of a server",
    [
      ...[user("q"), interaction("q", { answer: "1", said: "a" }), message({ answer: "1", said: "a" })],
      ...[user("r"), interaction("r", { answer: "1", said: "b" }), message({ answer: "1", said: "b" })],
    ],
    [
      [2, 3],
      [5, 6],
    ],
  ],
  [
    "the same text under two ids is two calls",
    [user("q"), interaction("q", { answer: "m1", said: "a" }), message({ answer: "m2", said: "a" })],
    [],
  ],
  [
    "a failed call and its repetition",
    [
      ...[
        user("q"),
        interaction("q", {}),
        interaction("q", {}),
        interaction("q", { said: "a" }),
        message({ said: "a" }),
      ],
    ],
    [[4, 5]],
  ],
])("%s", (_, given, expected) => {
  expect(pairs(...given)).toEqual(expected);
});

test("a prompt is known where a user's message of its turn says it", () => {
  const steps = [user("q"), interaction("q", {}), interaction("context: q", {}), user("r")];
  expect([...pairCalls(steps.map((step, at) => ({ ...step, position: at + 1 }))).prompted]).toEqual([2]);
});
