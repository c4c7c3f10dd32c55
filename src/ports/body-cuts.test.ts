// Cuts of bodies: put together again they are the body, byte for byte.
import { expect, test } from "vitest";
import { BodyCuts } from "./body-cuts.js";

test("the cuts of a stretch are all its bytes, also where it begins at the end of a long string", () => {
  const long = "x".repeat(300);
  const bodies = [
    { results: [long, long], seconds: 16.9, result: long, raw: { query: long } },
    { results: [{ title: long }, long], result: long },
    { before: long, results: [1, long, 2, long], empty: [], after: long },
    { results: [[long], [long, long]], result: "short" },
  ].map((body) => Buffer.from(JSON.stringify(body)));
  for (const body of bodies) {
    const cuts = new BodyCuts(body);
    expect(cuts.lists).not.toEqual([]);
    const edges = [0, ...cuts.lists.flatMap(({ from, ends }) => [from, ...ends]), body.length];
    edges.slice(1).forEach((to, nth) => {
      const from = edges[nth] as number;
      const pieces = cuts.within(from, to).map((cut) => body.subarray(cut.from, cut.to).toString());
      expect(pieces.join("")).toBe(body.subarray(from, to).toString());
    });
  }
});
