// What is promised of masking: of the secrets in the labelled lists nearly all are hidden, and nearly nothing else.
import { expect, test } from "vitest";
import { createMask } from "../../src/guard/masking/mask.js";
import { noMask } from "../../src/model/mask.js";
import { lists, SHARE_MIN } from "./lists.js";
import { measure } from "./measure.js";
import { sampleOf } from "./sample.js";

test.each(lists)("recall and precision on the list %s meet their targets", (_, samples) => {
  const { recall, precision, missed, falseAlarms } = measure(createMask(), samples);
  const named = { missed: missed.map(({ about }) => about), falseAlarms: falseAlarms.map(({ about }) => about) };
  expect({ recall, ...named }).toMatchObject({ recall: expect.toSatisfy((share: number) => share >= SHARE_MIN) });
  expect({ precision, ...named }).toMatchObject({ precision: expect.toSatisfy((share: number) => share >= SHARE_MIN) });
});

test("the labelled list has 150 secrets and 150 harmless texts, no text twice", () => {
  const samples = lists[0]?.[1] ?? [];
  const secrets = samples.filter((sample) => sample.secrets.length > 0);
  expect(secrets.length).toBeGreaterThanOrEqual(150);
  expect(samples.length - secrets.length).toBeGreaterThanOrEqual(150);
  expect(new Set(samples.map(({ text }) => text)).size).toBe(samples.length);
});

test("a partly masked secret counts as missed, and a match next to it as a false alarm", () => {
  const samples = [sampleOf("a secret", "a ⟦secret⟧ b"), sampleOf("nothing", "a secret b")];
  const half = { ...noMask, find: () => [{ start: 0, end: 5, rule: "x" }] };
  expect(measure(half, samples)).toMatchObject({ recall: 0, missed: [samples[0]], falseAlarms: [samples[1]] });
  const whole = { ...noMask, find: () => [{ start: 2, end: 8, rule: "x" }] };
  expect(measure(whole, samples)).toMatchObject({ recall: 1, precision: 0.5, falseAlarms: [samples[1]] });
});
