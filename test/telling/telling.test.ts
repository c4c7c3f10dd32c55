// `told` is right about transcripts: always about those among the fixtures, and about real ones where they are.
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { fixtures, measure, PRECISION_MIN, realTranscripts } from "./measure.js";

const real = realTranscripts();
const sources = [
  { name: "the fixtures", source: fixtures, questions: 24, precision_min: 1 },
  // Where the folder is there, a file of it that is missing is a failure.
  ...(existsSync(real.folder)
    ? [{ name: "real transcripts", source: real, questions: 60, precision_min: PRECISION_MIN }]
    : []),
];

test.each(sources)("questions over $name are answered as a reader answers them", async (expected) => {
  const { questions, precision, wrong } = await measure(expected.source);
  expect(questions).toBe(expected.questions);
  expect({ isEnough: precision >= expected.precision_min, wrong }).toEqual({
    isEnough: true,
    wrong: expect.any(Array),
  });
});
