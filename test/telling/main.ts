// `npm run telling -- [FOLDER]`: prints how often `told` is right on questions over real transcripts, which are in
// ../shared/data by default, and fails below what is promised.
import { existsSync } from "node:fs";
import { measure, PRECISION_MIN, realTranscripts } from "./measure.js";

const source = realTranscripts(process.argv[2]);
if (!existsSync(source.folder)) console.log(`There are no transcripts at ${source.folder}.`);
else {
  const { questions, right, precision, wrong } = await measure(source);
  console.log(`${right} of ${questions} right: precision ${precision.toFixed(3)} (at least ${PRECISION_MIN})`);
  for (const each of wrong) console.log(`  wrong: ${each}`);
  if (precision < PRECISION_MIN) process.exitCode = 1;
}
