// What is written about memories and read back: entries are appended all or none, and a claim that is taken says who was faster.
import type { GroupCommit } from "../../log/capture/group-commit.js";
import type { OwnEntry } from "../../log/capture/own-entries.js";
import type { Surroundings } from "../../log/capture/pack.js";
import type { TakenClaim } from "../../log/port.js";
import { notFound, orThrow, RecorderError, type Rejection } from "../../model/rejection.js";
import type { MemoryReads } from "../memory-calls.js";
import type { MemorySummary } from "../read/memory-answers.js";
import { MemoryEntries } from "./memory-entries.js";

export interface LedgerParts {
  readonly calls: MemoryReads;
  readonly commit: Pick<GroupCommit, "append">;
  readonly surroundings: Surroundings;
}

export class MemoryLedger {
  readonly calls: MemoryReads;
  readonly entries: MemoryEntries;
  readonly #commit: LedgerParts["commit"];

  constructor({ calls, commit, surroundings }: LedgerParts) {
    this.calls = calls;
    this.entries = new MemoryEntries(surroundings);
    this.#commit = commit;
  }

  /** Appends all of them; where claims were taken, nothing, and it says which. */
  async attempt(entries: readonly OwnEntry[]): Promise<readonly TakenClaim[] | undefined> {
    if (entries.length === 0) return undefined;
    const outcome = await this.#commit.append(entries.map(({ entry }) => entry));
    return "taken" in outcome ? outcome.taken : undefined;
  }

  /** Those of these ids that there are. */
  async byId(ids: readonly string[]): Promise<readonly MemorySummary[]> {
    return this.calls.memoriesById(ids);
  }

  /** Refuses a wording that another memory has already, or waits with. */
  async refuseTwin(content: string, project: string, own = ""): Promise<void> {
    const twin = (await this.calls.twins({ content, project })).find(({ id }) => id !== own);
    if (twin === undefined) return;
    const waits = "the same waits for a verdict already";
    const message = `${twin.status === "candidate" ? waits : "the same is known already"}: memory ${twin.id}`;
    const hint = twin.status === "candidate" ? { hint: "Promote that one." } : {};
    throw new RecorderError({ code: "memory_known", field: "content", message, ...hint });
  }

  /** The memory of this id as it is now; refused where there is none. */
  async named(id: string): Promise<MemorySummary> {
    const [memory] = await this.byId([String(id)]);
    return orThrow(memory ?? memoryNotFound(id));
  }
}

export function memoryNotFound(id: unknown): Rejection {
  return notFound("memory", id, { field: "id" });
}
