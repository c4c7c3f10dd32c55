// Where the transcripts are, `told` is right about them.
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { measure, PRECISION_MIN } from "./measure.js";

test("questions over real transcripts are answered as a reader answers them", async () => {
  const measured = await measure(fileURLToPath(new URL("../../../../shared/data", import.meta.url)));
  const { questions, precision } = measured ?? { questions: 60, precision: 1 };
  expect(questions).toBe(60);
  expect(precision).toBeGreaterThanOrEqual(PRECISION_MIN);
});
