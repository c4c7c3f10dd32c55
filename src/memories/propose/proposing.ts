// How statements come in: proposed, which passes the gates or is dropped by one of them, or added on a person's word.

import type { OwnEntry } from "../../log/capture/own-entries.js";
import { idClaim } from "../../model/claims.js";
import { itemAt } from "../../model/item-at.js";
import type { Evidence, Proposal } from "../../model/memory.js";
import { orThrow, RecorderError, type Rejection, reject } from "../../model/rejection.js";
import type { SerialQueue } from "../../model/scheduling.js";
import { projectAmong } from "../judge/gates/project.js";
import type { DroppedProposal, HeardWords, Hearing, KeptProposal } from "../judge/judged.js";
import type { MemorySummary } from "../read/memory-answers.js";
import type { ParsedMemory } from "../review/memory-input.js";
import type { MemoryLedger } from "../review/memory-ledger.js";

export interface ProposingParts {
  readonly ledger: MemoryLedger;
  /** Shared by all who propose here: two that say the same at once would not know of each other. */
  readonly queue: SerialQueue;
  /** Forgets an entry about a memory, whose evidence was forgotten meanwhile. */
  readonly forget: (id: string) => Promise<unknown>;
}

export class Proposing {
  readonly #ledger: MemoryLedger;
  readonly #queue: SerialQueue;
  readonly #forget: ProposingParts["forget"];

  constructor({ ledger, queue, forget }: ProposingParts) {
    this.#ledger = ledger;
    this.#queue = queue;
    this.#forget = forget;
  }

  /** Proposes a statement, once those before it are done. */
  propose(parsed: ParsedMemory): Promise<MemorySummary | DroppedProposal> {
    return this.#queue.run(() => this.#propose(parsed));
  }

  /** Adds a memory on a person's word, once what came before it is done: it is active at once. */
  add(parsed: ParsedMemory): Promise<MemorySummary> {
    return this.#queue.run(() => this.#add(parsed));
  }

  async #add({ proposal: given, ...whose }: ParsedMemory): Promise<MemorySummary> {
    const { calls, entries } = this.#ledger;
    const { words: heard, projects } = orThrow(await this.#heard(given));
    const proposal = { ...given, project: orThrow(placeOf(given, projects)) };
    if (whose.id === undefined || (await this.#ledger.byId([whose.id])).length === 0)
      await this.#ledger.refuseTwin(proposal.content, proposal.project);
    // A person's word passes, and is told what else is known.
    const judged = await calls.judge(proposal);
    const { similar_to, conflicts_with } = "kept" in judged ? judged.kept : { similar_to: [], conflicts_with: [] };
    const [statement, ...words] = entries.statement({ ...proposal, similar_to, conflicts_with }, heard, whose);
    const id = (statement as OwnEntry).id;
    const promoted = entries.verdict("memory_promoted", id, proposal.project, whose);
    const taken = await this.#ledger.attempt([statement as OwnEntry, ...words, ...promoted]);
    return taken === undefined ? this.#ledger.named(id) : this.#same(id, proposal.content);
  }

  async #propose({ proposal, ...whose }: ParsedMemory): Promise<MemorySummary | DroppedProposal> {
    const judged = await this.#ledger.calls.judge(proposal);
    if ("dropped" in judged) {
      const { heard = [], ...dropped } = judged;
      if (dropped.adds_evidence_to !== undefined) await this.#support(dropped.adds_evidence_to, heard, whose.actor);
      return dropped;
    }
    const { kept, heard } = judged;
    const entries = this.#ledger.entries.statement(kept, heard, whose);
    const id = itemAt(entries, 0).id;
    const taken = await this.#ledger.attempt(entries);
    if (taken === undefined) {
      const lost = (await this.#lostWords(kept.evidence, [id])) ?? (await this.#lostRace(id, kept, heard, whose.actor));
      if (lost !== undefined) return lost;
      const [memory] = await this.#ledger.byId([id]);
      return memory ?? { dropped: "evidence", reason: "What it quotes was forgotten meanwhile." };
    }
    if (taken.some(({ claim }) => claim === idClaim(id))) return this.#same(id, kept.content);
    return { dropped: "known", reason: "It was proposed before, from the same words." };
  }

  /** Adds words to what a candidate rests on, one entry's after the other's, since some may be there already. */
  async #support(id: string, heard: readonly HeardWords[], actor: string): Promise<void> {
    const { project } = await this.#ledger.named(id);
    for (const heardWords of heard) {
      const words = this.#ledger.entries.words(id, project, heardWords, actor);
      if ((await this.#ledger.attempt([words])) === undefined) await this.#lostWords(heardWords.evidence, [words.id]);
    }
  }

  /** Another process may have been told the same between the look and the writing; then the first of both waits, with all words. */
  async #lostRace(
    id: string,
    { content, project }: KeptProposal,
    heard: readonly HeardWords[],
    actor: string,
  ): Promise<DroppedProposal | undefined> {
    const [first] = await this.#ledger.calls.twins({ content, project });
    if (first === undefined || first.id === id) return undefined;
    const merged = { memory_id: id, superseded_by: first.id, status_before: "candidate", actor, reason: "duplicate" };
    await this.#ledger.attempt([this.#ledger.entries.superseded(merged, project)]);
    const reason = `The same was proposed at the same time: memory ${first.id}.`;
    if (first.status !== "candidate") return { dropped: "known", reason };
    await this.#support(first.id, heard, actor);
    return { dropped: "known", reason, adds_evidence_to: first.id };
  }

  /** What was quoted may have been forgotten between the look and the writing; then the quotes must not outlive it. */
  async #lostWords(evidence: readonly Evidence[], ids: readonly string[]): Promise<DroppedProposal | undefined> {
    if (evidence.length === 0) return undefined;
    const heard = await this.#ledger.calls.hear(evidence);
    if (!("missing" in heard)) return undefined;
    for (const id of ids) await this.#forget(id);
    return { dropped: "evidence", reason: `${heard.missing}.` };
  }

  /** What was sent again with the same id is what it was, unless it says something else. */
  async #same(id: string, content: string): Promise<MemorySummary> {
    const [memory] = await this.#ledger.byId([id]);
    const detail = memory === undefined ? undefined : await this.#ledger.calls.getMemory(id);
    if (memory !== undefined && detail?.history[0]?.content === content) return memory;
    const message = `id ${id} was used before; nothing was stored`;
    throw new RecorderError({ code: "id_conflict", field: "id", message, hint: "Leave id out to have one made." });
  }

  /** Words of entries as a person cites them: they must be there. */
  async #heard({ evidence }: Proposal): Promise<Exclude<Hearing, { readonly missing: string }> | Rejection> {
    if (evidence.length === 0) return { words: [], projects: [] };
    const heard = await this.#ledger.calls.hear(evidence);
    return "missing" in heard ? reject({ code: "field_invalid", field: "evidence", message: heard.missing }) : heard;
  }
}

/** Where a person's memory belongs: with what it quotes, as with all others; where it quotes nothing, where they say. */
function placeOf({ project, type }: Proposal, projects: readonly string[]): string | Rejection {
  if (projects.length === 0) return project;
  const place = projectAmong(projects, type);
  if (place !== undefined) return place;
  const message = `the evidence is of several projects (${projects.join(", ")}), and only a preference or identity can be`;
  return reject({ code: "field_invalid", field: "evidence", message });
}
