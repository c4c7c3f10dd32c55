// Proposals and what they are judged by, for tests: everything is as it should be, but for what the test says.

import { judge } from "../../src/memories/judge/gates.js";
import type { GateContext } from "../../src/memories/judge/judgement.js";
import type { QuotedEntry, Speaker } from "../../src/memories/text/quoted-entry.js";
import { Stems } from "../../src/memories/text/stems.js";
import type { Proposal } from "../../src/model/memory.js";

const stems = new Stems();

type Judgement = ReturnType<typeof judge>;

export function entrySaid(by: Speaker, text: string, about: Partial<QuotedEntry> = {}): QuotedEntry {
  return { entry_id: "e1", session_id: "s1", project: "atlas", said: [{ by, text }], ...about };
}

export function gateContextOf(entries: readonly QuotedEntry[], about: Partial<GateContext> = {}): GateContext {
  return { entriesById: new Map(entries.map((entry) => [entry.entry_id, entry])), given: [], memories: [], ...about };
}

/** By default what the user said, word for word, as a preference that an agent proposes. */
export function proposalOf(content: string, about: Partial<Proposal> = {}): Proposal {
  return {
    type: "preference",
    content,
    source: "agent",
    evidence: [{ entry_id: "e1", quote: content }],
    project: "atlas",
    tags: [],
    generation: "",
    ...about,
  };
}

/** The judgement of a proposal that quotes one text. */
export function judged({
  content,
  said = content,
  by = "user",
  proposal = {},
  ground = {},
  entry = {},
}: {
  readonly content: string;
  readonly said?: string;
  readonly by?: Speaker;
  readonly proposal?: Partial<Proposal>;
  readonly ground?: Partial<GateContext>;
  readonly entry?: Partial<QuotedEntry>;
}): Judgement {
  const quoting = proposalOf(content, { evidence: [{ entry_id: "e1", quote: said }], ...proposal });
  return judge(quoting, gateContextOf([entrySaid(by, said, entry)], ground), stems);
}

export function keptOf(judgement: Judgement) {
  if ("kept" in judgement) return judgement.kept;
  throw new Error(`dropped by ${judgement.dropped}: ${judgement.reason}`);
}

/** The gate that dropped it, or undefined. */
export function droppedBy(judgement: Judgement): string | undefined {
  return "dropped" in judgement ? judgement.dropped : undefined;
}
