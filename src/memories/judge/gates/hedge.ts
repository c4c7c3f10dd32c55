// The fourth gate: what somebody supposed, tried or asked is no fact, in the statement as little as in what it quotes.
import type { Evidence } from "../../../model/memory.js";
import { sentencesOf } from "../../text/sentences.js";
import type { Stems } from "../../text/stems.js";
import type { Ground } from "../ground.js";
import { hedgeIn, isQuestion, trialIn } from "../hedges.js";
import type { Gate } from "./gate.js";
import { mainSentences } from "./main-sentences.js";

/** How far around a quote its sentence is looked for. */
const AROUND_CHARS = 400;

export const hedge: Gate = (trial, { proposal, ground, stems }) => {
  if (isQuestion(proposal.content)) return { dropped: "It is a question, and no statement." };
  const hedged = hedgeIn(trial.content);
  if (hedged !== undefined) return { dropped: `It says "${hedged}", and a guess is no fact.` };
  // An agent that decides says so in the decision: what it gives as its reason makes no decision of a question or a trial.
  const undecided = proposal.source === "decision" ? undecidedIn(proposal.evidence) : undefined;
  if (undecided !== undefined) return { dropped: undecided };
  const flaws = trial.evidence.map((each) => flawAround(each, trial.content, ground, stems));
  const first = flaws[0];
  return first === undefined || flaws.includes(undefined) ? { passed: trial } : { dropped: first };
};

/**
 * What is wrong with a quote, in the sentence that it was cut from. Of several it is the one that says most of the statement:
 * whatever else is quoted with a guess does not make it more than one.
 */
function flawAround({ entry_id, quote }: Evidence, content: string, { entriesById }: Ground, stems: Stems) {
  const text = entriesById.get(entry_id)?.said.find((said) => said.text.includes(quote))?.text;
  if (text === undefined) return flawIn(quote);
  const at = text.indexOf(quote);
  const from = Math.max(0, at - AROUND_CHARS);
  const around = text.slice(from, at + quote.length + AROUND_CHARS);
  const touched = [...sentencesOf(around)].filter(
    ({ start, end }) => from + end > at && from + start < at + quote.length,
  );
  const flaws = mainSentences(touched, content, stems).map((sentence) => flawIn(sentence.text));
  return flaws.includes(undefined) ? undefined : flaws[0];
}

function undecidedIn(evidence: readonly Evidence[]): string | undefined {
  const [decision = "", rationale = ""] = evidence.map(({ quote }) => quote);
  if (isQuestion(decision)) return "The decision is a question.";
  const trial = trialIn(decision) ?? trialIn(rationale);
  return trial === undefined ? flawIn(decision) : `It says "${trial}", and a trial is no decision yet.`;
}

function flawIn(sentence: string): string | undefined {
  if (isQuestion(sentence)) return "What it quotes is a question, which says nothing.";
  const hedged = hedgeIn(sentence);
  return hedged === undefined ? undefined : `What it quotes says "${hedged}", and a guess is no fact.`;
}
