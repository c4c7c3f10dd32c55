// How statements come in: proposed, which passes the gates or is dropped by one of them, or added on a person's word.

import type { OwnEntry } from "../../log/capture/draft.js";
import { idClaim } from "../../model/claims.js";
import { itemAt } from "../../model/item-at.js";
import type { Evidence, Proposal } from "../../model/memory.js";
import { orThrow, RecorderError, type Rejection, reject } from "../../model/rejection.js";
import type { SerialQueue } from "../../model/scheduling.js";
import { type EvidenceLookup, HELD_BACK, type KeptProposal, type QuotedEvidence } from "../judge/judgement.js";
import { projectAmong } from "../judge/statement.js";
import type { DroppedProposal, MemorySummary } from "../review/memory-answers.js";
import type { ParsedMemory } from "../review/memory-input.js";
import type { MemoryLedger } from "../review/memory-ledger.js";

export interface ProposingParts {
  readonly ledger: MemoryLedger;
  /** Shared by all who propose in this process, so duplicates are seen. */
  readonly queue: SerialQueue;
  /** Forgets an entry about a memory whose evidence was forgotten meanwhile. */
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
    const { quoted, projects } = orThrow(await this.#evidenceOf(given));
    const proposal = { ...given, project: orThrow(placeOf(given, projects)) };
    if (whose.id === undefined || (await this.#ledger.byId([whose.id])).length === 0)
      await this.#ledger.rejectDuplicate(proposal.content, proposal.project);
    // A person's memory passes no gate, but says what it resembles.
    const judged = await calls.judge(proposal);
    const { similar_to, conflicts_with } = "kept" in judged ? judged.kept : { similar_to: [], conflicts_with: [] };
    const [statement, ...words] = entries.statement({ ...proposal, similar_to, conflicts_with }, quoted, whose);
    const id = (statement as OwnEntry).id;
    const promoted = entries.verdict("memory_promoted", id, proposal.project, whose);
    const taken = await this.#ledger.attempt([statement as OwnEntry, ...words, ...promoted]);
    return taken === undefined ? this.#ledger.named(id) : this.#same(id, proposal.content);
  }

  async #propose(parsed: ParsedMemory): Promise<MemorySummary | DroppedProposal> {
    const { proposal, cites_only, limited_ms, ...whose } = parsed;
    const judged = await this.#ledger.calls.judge({
      ...proposal,
      ...(cites_only === undefined ? {} : { cites_only }),
      ...(limited_ms === undefined ? {} : { limited: { proposed_by: whose.actor, now_ms: limited_ms } }),
    });
    if ("dropped" in judged) {
      // Counted, and shown in the review: nothing that was proposed goes by unseen.
      if (judged.dropped === HELD_BACK) await this.#ledger.attempt([this.#ledger.entries.heldBack(whose.actor)]);
      const { quoted = [], ...dropped } = judged;
      if (dropped.adds_evidence_to !== undefined) await this.#support(dropped.adds_evidence_to, quoted, whose.actor);
      return dropped;
    }
    const { kept, quoted, confidence } = judged;
    const sure = whose.confidence ?? confidence;
    const entries = this.#ledger.entries.statement(kept, quoted, { ...whose, confidence: sure });
    const id = itemAt(entries, 0).id;
    const taken = await this.#ledger.attempt(entries);
    if (taken === undefined) {
      const lost =
        (await this.#forgottenEvidence(kept.evidence, [id])) ?? (await this.#lostRace(id, kept, quoted, whose.actor));
      if (lost !== undefined) return lost;
      const [memory] = await this.#ledger.byId([id]);
      return memory ?? { dropped: "evidence", reason: "The quoted entry was forgotten meanwhile." };
    }
    if (taken.some(({ claim }) => claim === idClaim(id))) return this.#same(id, kept.content);
    return { dropped: "known", reason: "It was already proposed from the same quotes." };
  }

  /** Adds evidence to a candidate, entry by entry, because some of it may be there already. */
  async #support(id: string, quoted: readonly QuotedEvidence[], actor: string): Promise<void> {
    const { project } = await this.#ledger.named(id);
    for (const one of quoted) {
      const words = this.#ledger.entries.words(id, project, one, actor);
      if ((await this.#ledger.attempt([words])) === undefined) await this.#forgottenEvidence(one.evidence, [words.id]);
    }
  }

  /** Another process may have proposed the same between check and write: then the first proposal stays and gets the evidence of both. */
  async #lostRace(
    id: string,
    { content, project }: KeptProposal,
    quoted: readonly QuotedEvidence[],
    actor: string,
  ): Promise<DroppedProposal | undefined> {
    const [first] = await this.#ledger.calls.duplicatesOf({ content, project });
    if (first === undefined || first.id === id) return undefined;
    const merged = { memory_id: id, superseded_by: first.id, status_before: "candidate", actor, reason: "duplicate" };
    await this.#ledger.attempt([this.#ledger.entries.superseded(merged, project)]);
    const reason = `The same statement was proposed at the same time: memory ${first.id}.`;
    if (first.status !== "candidate") return { dropped: "known", reason };
    await this.#support(first.id, quoted, actor);
    return { dropped: "known", reason, adds_evidence_to: first.id };
  }

  /** A quoted entry may have been forgotten between check and write; then its quotes are forgotten, too. */
  async #forgottenEvidence(
    evidence: readonly Evidence[],
    ids: readonly string[],
  ): Promise<DroppedProposal | undefined> {
    if (evidence.length === 0) return undefined;
    const found = await this.#ledger.calls.resolveEvidence(evidence);
    if (!("missing" in found)) return undefined;
    for (const id of ids) await this.#forget(id);
    return { dropped: "evidence", reason: `${found.missing}.` };
  }

  /** The same id with the same content is a repeated call; with other content it is a conflict. */
  async #same(id: string, content: string): Promise<MemorySummary> {
    const [memory] = await this.#ledger.byId([id]);
    const detail = memory === undefined ? undefined : await this.#ledger.calls.getMemory(id);
    if (memory !== undefined && detail?.history[0]?.content === content) return memory;
    const message = `id ${id} was used before; nothing was stored`;
    throw new RecorderError({ code: "id_conflict", field: "id", message, hint: "Leave id out to have one generated." });
  }

  /** The evidence that a person cites, which must be there. */
  async #evidenceOf({
    evidence,
  }: Proposal): Promise<Exclude<EvidenceLookup, { readonly missing: string }> | Rejection> {
    if (evidence.length === 0) return { quoted: [], projects: [] };
    const found = await this.#ledger.calls.resolveEvidence(evidence);
    return "missing" in found ? reject({ code: "field_invalid", field: "evidence", message: found.missing }) : found;
  }
}

/** The project of a person's memory: that of its evidence; without evidence, the one they name. */
function placeOf({ project, type }: Proposal, projects: readonly string[]): string | Rejection {
  if (projects.length === 0) return project;
  const place = projectAmong(projects, type);
  if (place !== undefined) return place;
  const message = `the evidence is of several projects (${projects.join(", ")}), and only a preference or identity can be`;
  return reject({ code: "field_invalid", field: "evidence", message });
}
