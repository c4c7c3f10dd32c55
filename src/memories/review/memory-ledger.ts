// Writing about memories: entries are appended all or none, and a taken claim means that another process was faster.

import { hash } from "node:crypto";
import { type OwnEntry, packOwn, type WriteContext } from "../../log/capture/draft.js";
import type { GroupCommit } from "../../log/capture/group-commit.js";
import type { TakenClaim } from "../../log/port.js";
import type { MemoryFieldsByKind } from "../../model/memory.js";
import { notFound, orThrow, RecorderError, type Rejection } from "../../model/rejection.js";
import { HELD_BACK, type KeptProposal, type QuotedEvidence } from "../judge/judgement.js";
import type { MemoryReads } from "../memory-calls.js";
import type { TurnUses } from "../pass-steps.js";
import type { MemorySummary } from "./memory-answers.js";
import type { ParsedMemory, ParsedVerdict } from "./memory-input.js";

export interface LedgerParts {
  readonly calls: MemoryReads;
  readonly commit: Pick<GroupCommit, "append">;
  readonly writeContext: WriteContext;
}

export class MemoryLedger {
  readonly calls: MemoryReads;
  readonly entries: MemoryEntries;
  readonly #commit: LedgerParts["commit"];

  constructor({ calls, commit, writeContext }: LedgerParts) {
    this.calls = calls;
    this.entries = new MemoryEntries(writeContext);
    this.#commit = commit;
  }

  /** Appends all entries, or none where claims are taken, and returns those. */
  async attempt(entries: readonly OwnEntry[]): Promise<readonly TakenClaim[] | undefined> {
    if (entries.length === 0) return undefined;
    const outcome = await this.#commit.append(entries.map(({ entry }) => entry));
    return "taken" in outcome ? outcome.taken : undefined;
  }

  /** Those of these ids that there are. */
  async byId(ids: readonly string[]): Promise<readonly MemorySummary[]> {
    return this.calls.memoriesById(ids);
  }

  /** Throws where another active memory or candidate says the same. */
  async rejectDuplicate(content: string, project: string, own = ""): Promise<void> {
    const duplicate = (await this.calls.duplicatesOf({ content, project })).find(({ id }) => id !== own);
    if (duplicate === undefined) return;
    const waits = "the same one is already waiting for review";
    const message = `${duplicate.status === "candidate" ? waits : "the same is known already"}: memory ${duplicate.id}`;
    const hint = duplicate.status === "candidate" ? { hint: "Promote that one." } : {};
    throw new RecorderError({ code: "memory_known", field: "content", message, ...hint });
  }

  /** The memory with this id; throws where there is none. */
  async named(id: string): Promise<MemorySummary> {
    const [memory] = await this.byId([String(id)]);
    return orThrow(memory ?? memoryNotFound(id));
  }
}

export function memoryNotFound(id: unknown): Rejection {
  return notFound("memory", id, { field: "id" });
}

class MemoryEntries {
  readonly #writeContext: WriteContext;

  constructor(writeContext: WriteContext) {
    this.#writeContext = writeContext;
  }

  /** The entries of a new statement: the statement first, then its evidence. */
  statement(
    kept: KeptProposal,
    quoted: readonly QuotedEvidence[],
    { id, actor, confidence }: Omit<ParsedMemory, "proposal">,
  ): readonly OwnEntry[] {
    const { type, content, source, generation, tags, valid_until = "", project, similar_to, conflicts_with } = kept;
    const cites = citesOf(quoted.map(({ entry_id }) => entry_id));
    const known = { type, content, source, generation, tags, valid_until, cites, similar_to, conflicts_with, actor };
    const fields = confidence === undefined ? known : { ...known, confidence };
    const statement = packOwn("memory_proposed", fields, this.#writeContext, { id, project });
    return [statement, ...quoted.map((one) => this.words(statement.id, project, one, actor))];
  }

  words(memory_id: string, project: string, quoted: QuotedEvidence, actor: string): OwnEntry {
    const { entry_id: _, evidence, ...said } = quoted;
    const quotes = evidence.map(({ entry_id, quote }) => ({ entry_id, quote }));
    const fields = { memory_id, content: "", evidence: quotes, ...said, actor };
    return packOwn("memory_edited", fields, this.#writeContext, { project });
  }

  edited(memory_id: string, project: string, { content, actor }: ParsedVerdict): OwnEntry {
    const unsaid = { evidence: [], said_by: "", said_in: "", said_at: "" };
    return packOwn("memory_edited", { memory_id, content, ...unsaid, actor }, this.#writeContext, { project });
  }

  /** A verdict, and the entry that makes it accountable. */
  verdict(
    kind: "memory_promoted" | "memory_rejected",
    memory_id: string,
    project: string,
    { actor, reason = "" }: { readonly actor: string; readonly reason?: string },
  ): readonly OwnEntry[] {
    const verdict = packOwn(kind, { memory_id, actor, reason }, this.#writeContext, { project });
    return [verdict, this.audit(actor, memory_id)];
  }

  audit(actor: string, target: string): OwnEntry {
    return packOwn("audit", { action: "verdict", actor, target }, this.#writeContext);
  }

  heldBack(actor: string): OwnEntry {
    return packOwn("audit", { action: HELD_BACK, actor, target: "" }, this.#writeContext);
  }

  /** What a turn used; only true flags are stored. */
  reinforced({ turn_id, project, client, uses }: TurnUses, actor: string): OwnEntry {
    const memories = uses.map(({ memory_id, given, used, confirmed }) => ({
      memory_id,
      ...(given && { given }),
      ...(used && { used }),
      ...(confirmed && { confirmed }),
    }));
    return packOwn("memory_reinforced", { turn_id, memories, actor }, this.#writeContext, { project, client });
  }

  superseded(fields: MemoryFieldsByKind["memory_superseded"], project: string): OwnEntry {
    return packOwn("memory_superseded", fields, this.#writeContext, { project });
  }
}

/** A hash that identifies the cited entries without naming them. */
function citesOf(entryIds: readonly string[]): string {
  return entryIds.length === 0 ? "" : hash("sha256", JSON.stringify([...entryIds].sort()));
}
