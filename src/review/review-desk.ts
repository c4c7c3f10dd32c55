// Where memories are worked with beside the index: recall, and the judgement of proposals by what was recorded.
import type { Entry } from "../model/entry.js";
import type { Evidence, Proposal } from "../model/memory.js";
import type { EntryReader } from "../read/entry-reader.js";
import { loadTokenCounter } from "../read/history/tokens.js";
import type { HeardWords, Hearing, Judged } from "../read/memories/judged.js";
import type { RecallQuery } from "../read/memories/memory-query.js";
import type { MemoryReader } from "../read/memories/memory-reader.js";
import type { Recalled } from "../read/memories/recalled.js";
import { spokenIn } from "./quoted-words.js";
import { Recall } from "./recall.js";

export interface ReviewDeskParts {
  readonly memories: MemoryReader;
  readonly entries: Pick<EntryReader, "getById">;
}

export class ReviewDesk {
  readonly #memories: MemoryReader;
  readonly #entries: ReviewDeskParts["entries"];
  #recall: Recall | undefined;

  constructor({ memories, entries }: ReviewDeskParts) {
    this.#memories = memories;
    this.#entries = entries;
  }

  async recall(query: RecallQuery): Promise<Recalled> {
    this.#recall ??= new Recall(await loadTokenCounter());
    return this.#recall.recall((await this.#memories.all()).values(), query);
  }

  /** Whose words these are, where all of them stand in the entries that they name. */
  async hear(evidence: readonly Evidence[]): Promise<Hearing> {
    const words: HeardWords[] = [];
    for (const entry_id of new Set(evidence.map((one) => one.entry_id))) {
      const entry = await this.#entries.getById(entry_id);
      if (entry === undefined || "erased" in entry)
        return { missing: `there is no entry ${entry_id}, or it was forgotten` };
      const own = evidence.filter((one) => one.entry_id === entry_id);
      const heard = heardIn(entry, own);
      if (heard === undefined) return { missing: `a quote does not stand in entry ${entry_id}` };
      words.push(heard);
    }
    return { words };
  }

  async judge(proposal: Proposal): Promise<Judged> {
    const heard = await this.hear(proposal.evidence);
    if ("missing" in heard) return { dropped: "evidence", reason: heard.missing };
    return { kept: { ...proposal, similar_to: [], conflicts_with: [] }, heard: heard.words };
  }
}

function heardIn(entry: Entry, evidence: readonly Evidence[]): HeardWords | undefined {
  const spoken = spokenIn(entry);
  const speakers = evidence.map(({ quote }) => spoken.find(({ text }) => text.includes(quote))?.by);
  const [said_by] = speakers;
  if (said_by === undefined || speakers.includes(undefined)) return undefined;
  return { entry_id: entry.id, evidence, said_by, said_in: entry.session_id, said_at: entry.created_at };
}
