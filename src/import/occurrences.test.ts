// Counting by hash agrees with a map, for any number of values.
import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { OccurrenceCounter } from "./identity.js";

test("counts earlier occurrences as a map would, while it grows and after it resumes from saved state", () => {
  let occurrences = new OccurrenceCounter();
  const times = new Map<string, number>();
  for (let number = 0; number < 20_000; number += 1) {
    const key = hash("sha256", String((number * number) % 7_919), "hex");
    expect(occurrences.count(key)).toBe(times.get(key) ?? 0);
    times.set(key, (times.get(key) ?? 0) + 1);
    if (number % 3_000 === 0) occurrences = new OccurrenceCounter(occurrences.state());
  }
  expect(occurrences.state().keys.length).toBe(times.size);
  occurrences.clear();
  expect(occurrences.count("0".repeat(64))).toBe(0);
  expect(occurrences.count("0".repeat(64))).toBe(1);
});
