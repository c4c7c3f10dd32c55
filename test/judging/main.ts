// `npm run judging`: prints precision and recall of proposals and of uses on the labelled lists, and fails below what is
// promised.
import { lists, PRECISION_MIN } from "./lists.js";

for (const { name, atFirst, measure } of lists) {
  const { samples, right, proposed, expected, precision, recall, recallInReach, wrong, missed } = measure();
  console.log(
    `${name}: ${samples} samples, ${right} of ${proposed} right (${atFirst} at first sight): precision ${precision.toFixed(3)} (at least ${PRECISION_MIN}), ` +
      `recall ${recall.toFixed(3)} of ${expected}, ${recallInReach.toFixed(3)} within reach`,
  );
  for (const each of wrong) console.log(`  wrong: ${each}`);
  for (const each of missed) console.log(`  missed: ${each}`);
  if (precision < PRECISION_MIN) process.exitCode = 1;
}
