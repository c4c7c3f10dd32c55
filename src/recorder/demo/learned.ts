// What could be learned from the story: memories that somebody accepted, and candidates that wait for a verdict.
import type { Recorder } from "../recorder.js";

type Added = Parameters<Recorder["memories"]["add"]>[0];
type Proposed = Parameters<Recorder["memories"]["propose"]>[0];

export const added: readonly Added[] = [
  {
    id: "demo-memory-ledger",
    type: "project",
    content: "The ledger always wins over the invoice",
    project: "atlas-billing",
    evidence: [{ entry_id: "demo-said-ledger", quote: "remember that the ledger always wins over the invoice" }],
  },
  {
    id: "demo-memory-pins",
    type: "knowledge",
    content: "Route pins expire after 10 minutes",
    project: "kestrel-search",
  },
  {
    id: "m-quotes",
    type: "knowledge",
    content: "A phrase in double quotes is found verbatim",
    project: "kestrel-search",
  },
];

/** What was proposed early in the week, and judged. */
export const judged: readonly {
  readonly memory: Proposed & { readonly id: string };
  readonly verdict: "promote" | "reject";
  readonly reason?: string;
}[] = [
  {
    memory: {
      id: "demo-memory-balanced",
      type: "knowledge",
      content: "The weekly job pins its customers to one search instance",
      evidence: [
        { entry_id: "demo-said-mondays", quote: "Search takes four seconds on Monday mornings and 200 ms otherwise." },
        { entry_id: "demo-answer-pins", quote: "The weekly job pins its customers to `search-0`" },
      ],
    },
    verdict: "promote",
  },
  {
    memory: {
      id: "demo-memory-export",
      type: "project",
      content: "The March export is at fixtures/ledger/2026-03.csv",
      evidence: [{ entry_id: "demo-said-ledger", quote: "The export is at fixtures/ledger/2026-03.csv." }],
    },
    verdict: "reject",
    reason: "temporary",
  },
];

export const proposed: readonly Proposed[] = [
  {
    id: "demo-candidate-rounding",
    type: "adaptation",
    content: "Use banker's rounding for all invoice totals",
    evidence: [{ entry_id: "demo-decision-rounding", quote: "Use banker's rounding for all invoice totals" }],
  },
  {
    id: "demo-candidate-unlock",
    type: "preference",
    content: "Always run make unlock before a second deploy",
    evidence: [{ entry_id: "demo-said-unlock", quote: "From now on always run make unlock before a second deploy." }],
  },
  {
    id: "demo-candidate-cent",
    type: "preference",
    content: "Preise immer in Cent, niemals als Gleitkommazahl",
    evidence: [{ entry_id: "demo-said-cent", quote: "Preise immer in Cent, niemals als Gleitkommazahl" }],
  },
  {
    id: "demo-candidate-weekday",
    type: "adaptation",
    content: "曜日は 0 から 6 の数字で保存する",
    evidence: [{ entry_id: "demo-decision-weekday", quote: "曜日は 0 から 6 の数字で保存する" }],
  },
  {
    id: "demo-candidate-pins",
    type: "knowledge",
    content: "Route pins expire after 60 minutes",
    evidence: [{ entry_id: "demo-read-pins", quote: "route pins expire after 60 minutes" }],
  },
];
