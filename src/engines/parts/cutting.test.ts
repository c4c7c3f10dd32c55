// Splitting bodies: the parts concatenated are the body, byte for byte.

import fc from "fast-check";
import { expect, test } from "vitest";
import { fuzz } from "../../../test/support/fuzz.js";
import { itemAt } from "../../model/item-at.js";
import { BodyCuts } from "./cutting.js";

test("the cuts of a range contain all its bytes, even if it begins at the end of a long string", () => {
  const long = "x".repeat(300);
  const bodies = [
    { results: [long, long], seconds: 16.9, result: long, raw: { query: long } },
    { results: [{ title: long }, long], result: long },
    { before: long, results: [1, long, 2, long], empty: [], after: long },
    { results: [[long], [long, long]], result: "short" },
  ].map((body) => Buffer.from(JSON.stringify(body)));
  for (const body of bodies) {
    expect(new BodyCuts(body).lists).not.toEqual([]);
    expectWhole(body);
  }
});

test("cutting any body keeps all its bytes, with long texts and lists in any place", () => {
  const { value } = fc.letrec((tie) => ({
    text: fc.oneof(
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.constantFrom("x".repeat(255), "y".repeat(300), '"\\'.repeat(200), "ä".repeat(256)),
    ),
    list: fc.array(tie("value"), { maxLength: 6 }),
    object: fc.dictionary(fc.constantFrom("a", "b", "content", "z".repeat(260)), tie("value"), { maxKeys: 4 }),
    value: fc.oneof({ depthSize: "medium" }, tie("text"), fc.integer(), tie("list"), tie("object")),
  }));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), (values) => {
      expectWhole(Buffer.from(JSON.stringify({ id: "x", ...values })));
    }),
    fuzz(500),
  );
});

function expectWhole(body: Buffer): void {
  const cuts = new BodyCuts(body, () => true);
  const edges = [0, ...cuts.lists.flatMap(({ from, ends }) => [from, ...ends]), body.length];
  for (const [nth, to] of edges.slice(1).entries()) {
    let at = itemAt(edges, nth);
    for (const cut of cuts.within(at, to)) {
      expect(cut.from).toBe(at);
      at = cut.to;
    }
    expect(at).toBe(to);
  }
}
