// `npm run masking`: prints recall and precision of the mask on the labelled lists, and fails below what is promised.
import { createMask } from "../../src/guard/masking/mask.js";
import { lists, SHARE_MIN } from "./lists.js";
import { type Measured, measure } from "./measure.js";
import type { Sample } from "./sample.js";

const mask = createMask();
for (const [name, samples] of lists) {
  const measured = measure(mask, samples);
  console.log(lineOf(name, measured));
  for (const sample of measured.missed) console.log(`  missed: ${shown(sample)}`);
  for (const sample of measured.falseAlarms) console.log(`  false alarm: ${shown(sample)}`);
  if (Math.min(measured.recall, measured.precision) < SHARE_MIN) process.exitCode = 1;
}

function lineOf(name: string, { secrets, harmless, recall, precision }: Measured): string {
  const shares = `recall ${recall.toFixed(3)}, precision ${precision.toFixed(3)}`;
  return `${name}: ${secrets} secrets, ${harmless} harmless texts: ${shares} (at least ${SHARE_MIN} each)`;
}

function shown({ about, text }: Sample): string {
  return `${about}: ${JSON.stringify(mask.text(text))}`;
}
