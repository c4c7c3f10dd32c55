// At least eight of ten proposals and uses are right, on every list.
import { expect, test } from "vitest";
import { lists, PRECISION_MIN } from "./lists.js";

test.each(lists)("$name", ({ measure }) => {
  const { samples, precision, recallInReach } = measure();
  expect(samples).toBeGreaterThan(0);
  expect(precision).toBeGreaterThanOrEqual(PRECISION_MIN);
  expect(recallInReach).toBeGreaterThanOrEqual(PRECISION_MIN);
});
