// The fourth gate: what somebody supposed, tried or asked is no fact, in the statement as little as in what it quotes.
import type { Evidence } from "../../model/memory.js";
import type { Ground } from "../ground.js";
import { hedgeIn, isQuestion } from "../hedges.js";
import { sentencesOf } from "../sentences.js";
import type { Gate } from "./gate.js";

/** How far around a quote its sentence is looked for. */
const AROUND_CHARS = 400;

export const hedge: Gate = (trial, { proposal, ground }) => {
  if (isQuestion(proposal.content)) return { dropped: "It is a question, and no statement." };
  const hedged = hedgeIn(trial.content);
  if (hedged !== undefined) return { dropped: `It says "${hedged}", and a guess is no fact.` };
  const hedges = trial.evidence.map((each) => hedgeAround(each, ground));
  const first = hedges[0];
  if (first === undefined || hedges.includes(undefined)) return { passed: trial };
  return { dropped: `What it quotes says "${first}", and a guess is no fact.` };
};

/** The hedge in a quote or in the sentence that it was cut from; undefined where one sentence of it has none. */
function hedgeAround({ entry_id, quote }: Evidence, { entriesById }: Ground): string | undefined {
  const text = entriesById.get(entry_id)?.said.find((said) => said.text.includes(quote))?.text;
  if (text === undefined) return hedgeIn(quote);
  const at = text.indexOf(quote);
  const from = Math.max(0, at - AROUND_CHARS);
  const around = text.slice(from, at + quote.length + AROUND_CHARS);
  const touched = [...sentencesOf(around)].filter(
    ({ start, end }) => from + end > at && from + start < at + quote.length,
  );
  const hedges = touched.map((sentence) => hedgeIn(sentence.text));
  return hedges.includes(undefined) ? undefined : hedges[0];
}
