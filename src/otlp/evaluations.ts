// Evaluations of an answer: events of its span, or log records written for it.
import type { Attributes } from "./attributes.js";
import type { SpanItem } from "./telemetry-items.js";

const EVALUATION = "gen_ai.evaluation.result";

export function evaluationsOf({ events, logs }: SpanItem): readonly Attributes[] {
  return [
    ...events.filter(({ name }) => name === EVALUATION).map(({ attributes }) => attributes),
    ...logs.filter(({ event }) => event === EVALUATION).map(({ attributes }) => attributes),
  ];
}
