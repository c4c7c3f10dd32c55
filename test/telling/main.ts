// `npm run telling -- [FOLDER]`: prints how often `told` is right on questions over real transcripts, which lie in
// ../shared/data by default, and fails below what is promised.
import { fileURLToPath } from "node:url";
import { measure, PRECISION_MIN } from "./measure.js";

const folder = process.argv[2] ?? fileURLToPath(new URL("../../../../shared/data", import.meta.url));
const measured = await measure(folder);
if (measured === undefined) console.log(`There are no transcripts at ${folder}.`);
else {
  const { questions, right, precision, wrong } = measured;
  console.log(`${right} of ${questions} right: precision ${precision.toFixed(3)} (at least ${PRECISION_MIN})`);
  for (const each of wrong) console.log(`  wrong: ${each}`);
  if (precision < PRECISION_MIN) process.exitCode = 1;
}
