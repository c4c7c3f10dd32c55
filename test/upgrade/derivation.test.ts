// What entries become in the index has a number: where that changes and the number does not, older indexes lack something.
import { expect, test } from "vitest";
import { DERIVATION, describeIndexVersion, indexVersion } from "../../src/index/derivation.js";
import { allKinds } from "../../src/model/kinds.js";
import { derivationSamples } from "./derivation-samples.js";
import { committedSnapshot, derive, presentSnapshot, problemOf } from "./derived.js";

test("rows derived from the committed samples have not changed, or DERIVATION was raised", async () => {
  const committed = committedSnapshot();
  const derived = await derive(committed.samples);
  expect(problemOf(committed, derived, DERIVATION)).toBeUndefined();
  // Shows what differs, once the number was raised: the snapshot is then to be updated.
  expect(derived).toEqual(committed.derived);
});

test("the committed snapshot is of this DERIVATION and of these samples", async () => {
  expect(await presentSnapshot(DERIVATION)).toEqual(committedSnapshot());
});

test("every kind has a sample", () => {
  expect(new Set(derivationSamples.map(({ kind }) => kind))).toEqual(new Set(allKinds));
});

test("a changed output is refused with the same number, and accepted with a higher one", async () => {
  const committed = committedSnapshot();
  const changed = { ...committed.derived, documents: [] };
  const refused = "derived output changed: raise DERIVATION and update the snapshot";
  expect(problemOf(committed, changed, committed.derivation)).toContain(refused);
  expect(problemOf(committed, changed, committed.derivation + 1)).toBeUndefined();
  expect(problemOf(committed, committed.derived, committed.derivation - 1)).toContain("never goes down");
});

test("an index of newer tables or of a newer derivation has a higher version", () => {
  expect(indexVersion(9)).toBe(9_000 + DERIVATION);
  expect(indexVersion(10)).toBeGreaterThan(indexVersion(9));
  expect(describeIndexVersion(indexVersion(9))).toBe(`tables 9, derivation ${DERIVATION}`);
  expect(describeIndexVersion(9)).toBe("tables 9");
});
