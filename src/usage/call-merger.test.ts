// Calls are counted once, however many entries tell of them and in whatever order they came.
import { expect, test } from "vitest";
import type { CallTelling } from "../index/call-fold.js";
import { CallMerger } from "./call-merger.js";

let position = 0;

function told(fields: Partial<CallTelling>): CallTelling {
  position += 1;
  return { position, created_ms: position, ...fields };
}

function tokens(input: number, output: number): { readonly tokens: readonly number[] } {
  return { tokens: [input, output, 0, 0, 0] };
}

function counted(tellings: readonly CallTelling[]): readonly (readonly number[])[] {
  const calls = new CallMerger();
  for (const telling of tellings) calls.add(telling);
  return [...calls.counted()].map((call) => call.tokens.slice(0, 2));
}

test("a response takes the place of its interaction's word; one that brings no tokens leaves it", () => {
  expect(counted([told({ of: "i", ...tokens(1, 1) }), told({ of: "i", ...tokens(10, 0) })])).toEqual([[10, 0]]);
  expect(counted([told({ of: "i", ...tokens(1, 1) }), told({ of: "i", model: "m" })])).toEqual([[1, 1]]);
  expect(counted([told({ of: "i", model: "m" })])).toEqual([]);
});

test("what goes on from a message adds its tokens and is no call of its own, with and without a provider's id", () => {
  const parts = [tokens(1, 10), { adds: true, ...tokens(0, 20) }, { adds: true, ...tokens(0, 5) }] as const;
  expect(counted(parts.map((part) => told({ of: "m", ...part })))).toEqual([[1, 35]]);
  expect(counted(parts.map((part) => told({ message: "msg", session_id: "s", ...part })))).toEqual([[1, 35]]);
});

test("a transcript, a copy of it and the provider's body tell of one call, and the whole count of them holds", () => {
  const tellings = [
    told({ of: "body", model: "asked-for", session_id: "s" }),
    told({ of: "body", message: "msg", request: "req", model: "exact", ...tokens(1, 30) }),
    told({ message: "msg", request: "req", session_id: "s", project: "p", client: "c", ...tokens(1, 12) }),
    told({ message: "msg", request: "req", session_id: "fork", ...tokens(1, 12) }),
    told({ message: "msg", session_id: "fork", adds: true, ...tokens(0, 8) }),
  ];
  const calls = new CallMerger();
  for (const telling of tellings) calls.add(telling);
  expect([...calls.counted()]).toEqual([
    {
      position: tellings[0]?.position,
      created_ms: tellings[0]?.created_ms,
      session_id: "s",
      project: "p",
      client: "c",
      user: "",
      model: "exact",
      tokens: [1, 30, 0, 0, 0],
    },
  ]);
});

test("two that were taken for two are one as soon as an entry shows it", () => {
  const byRequest = told({ of: "a", request: "req", ...tokens(1, 1) });
  const byMessage = told({ message: "msg", ...tokens(2, 2) });
  const other = told({ of: "other", ...tokens(7, 7) });
  const byBoth = told({ of: "b", request: "req", message: "msg" });
  expect(counted([byRequest, byMessage, other])).toHaveLength(3);
  expect(counted([byRequest, byMessage, other, byBoth])).toEqual([
    [2, 2],
    [7, 7],
  ]);
});

test("answers with ids of their own are calls of their own, although they share the id of a request", () => {
  const both = (message: string, request: string, output: number): CallTelling =>
    told({ message, request, session_id: `${output}`, ...tokens(0, output) });
  expect(counted([both("m1", "r1", 1), both("m2", "r1", 2), both("m2", "r1", 2), both("m1", "r2", 3)])).toEqual([
    [0, 1],
    [0, 2],
    [0, 3],
  ]);
  // The same text as an id of another kind is another thing.
  expect(counted([told({ of: "x", ...tokens(0, 1) }), told({ message: "x", ...tokens(0, 1) })])).toHaveLength(2);
});

test("two calls with more tellings than a function takes arguments are found to be one", () => {
  const first = told({ message: "msg", ...tokens(1, 1) });
  const many = Array.from({ length: 150_000 }, () => told({ request: "req", ...tokens(2, 2) }));
  expect(counted([first, ...many, told({ message: "msg", request: "req", ...tokens(3, 3) })])).toEqual([[3, 3]]);
});
