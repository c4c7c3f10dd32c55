// The entries that memories are made of, packed and ready to be appended.
import { hash } from "node:crypto";
import { type OwnEntry, packOwn } from "../../log/capture/own-entries.js";
import type { Surroundings } from "../../log/capture/pack.js";
import type { MemoryFieldsByKind } from "../../model/memory.js";
import type { HeardWords, KeptProposal } from "../judge/judged.js";
import type { TurnUses } from "../read/pass-steps.js";
import type { ParsedMemory, ParsedVerdict } from "./memory-input.js";

export class MemoryEntries {
  readonly #surroundings: Surroundings;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** The entries of a new statement: itself first, then the words that it rests on. */
  statement(
    kept: KeptProposal,
    heard: readonly HeardWords[],
    { id, actor, confidence }: Omit<ParsedMemory, "proposal">,
  ): readonly OwnEntry[] {
    const { type, content, source, generation, tags, valid_until = "", project, similar_to, conflicts_with } = kept;
    const cites = citesOf(heard.map(({ entry_id }) => entry_id));
    const known = { type, content, source, generation, tags, valid_until, cites, similar_to, conflicts_with, actor };
    const fields = confidence === undefined ? known : { ...known, confidence };
    const statement = packOwn("memory_proposed", fields, this.#surroundings, { id, project });
    return [statement, ...heard.map((words) => this.words(statement.id, project, words, actor))];
  }

  words(memory_id: string, project: string, heard: HeardWords, actor: string): OwnEntry {
    const { entry_id: _, evidence, ...said } = heard;
    const quotes = evidence.map(({ entry_id, quote }) => ({ entry_id, quote }));
    const fields = { memory_id, content: "", evidence: quotes, ...said, actor };
    return packOwn("memory_edited", fields, this.#surroundings, { project });
  }

  edited(memory_id: string, project: string, { content, actor }: ParsedVerdict): OwnEntry {
    const unsaid = { evidence: [], said_by: "", said_in: "", said_at: "" };
    return packOwn("memory_edited", { memory_id, content, ...unsaid, actor }, this.#surroundings, { project });
  }

  /** A verdict, and the entry that makes it accountable. */
  verdict(
    kind: "memory_promoted" | "memory_rejected",
    memory_id: string,
    project: string,
    { actor, reason = "" }: { readonly actor: string; readonly reason?: string },
  ): readonly OwnEntry[] {
    const verdict = packOwn(kind, { memory_id, actor, reason }, this.#surroundings, { project });
    return [verdict, this.audit(actor, memory_id)];
  }

  audit(actor: string, target: string): OwnEntry {
    return packOwn("audit", { action: "verdict", actor, target }, this.#surroundings);
  }

  /** What a turn used; nothing is said of a memory but what is true. */
  reinforced({ turn_id, project, client, uses }: TurnUses, actor: string): OwnEntry {
    const memories = uses.map(({ memory_id, given, used, confirmed }) => ({
      memory_id,
      ...(given && { given }),
      ...(used && { used }),
      ...(confirmed && { confirmed }),
    }));
    return packOwn("memory_reinforced", { turn_id, memories, actor }, this.#surroundings, { project, client });
  }

  superseded(fields: MemoryFieldsByKind["memory_superseded"], project: string): OwnEntry {
    return packOwn("memory_superseded", fields, this.#surroundings, { project });
  }
}

/** What tells the same entries again without naming them. */
function citesOf(entryIds: readonly string[]): string {
  return entryIds.length === 0 ? "" : hash("sha256", JSON.stringify([...entryIds].sort()));
}
