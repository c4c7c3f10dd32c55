// How well the mask tells secrets from what only looks like them: recall and precision over a list of samples.
import type { Mask } from "../../src/model/mask.js";
import type { Sample } from "./sample.js";

export interface Measured {
  readonly secrets: number;
  readonly harmless: number;
  /** The share of texts whose secrets are masked completely. */
  readonly recall: number;
  /** The share of texts that were touched, and rightly so. */
  readonly precision: number;
  readonly missed: readonly Sample[];
  readonly falseAlarms: readonly Sample[];
}

export function measure(mask: Mask, samples: readonly Sample[]): Measured {
  const secrets = samples.filter((sample) => sample.secrets.length > 0);
  const missed = secrets.filter((sample) => !isHidden(mask, sample));
  const falseAlarms = samples.filter((sample) => hasFalseAlarm(mask, sample));
  const found = secrets.length - missed.length;
  return {
    secrets: secrets.length,
    harmless: samples.length - secrets.length,
    recall: found / secrets.length,
    precision: found / (found + falseAlarms.length),
    missed,
    falseAlarms,
  };
}

/** Whether every character of every secret is in a match. */
function isHidden(mask: Mask, { text, secrets }: Sample): boolean {
  const spans = mask.find(text);
  return secrets.every(([start, end]) => {
    let reached = start;
    for (const span of spans) if (span.start <= reached && span.end > reached) reached = span.end;
    return reached >= end;
  });
}

/** Whether something was found that has no part in a secret. */
function hasFalseAlarm(mask: Mask, { text, secrets }: Sample): boolean {
  return mask.find(text).some((span) => !secrets.some(([start, end]) => span.start < end && span.end > start));
}
