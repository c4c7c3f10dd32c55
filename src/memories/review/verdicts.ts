// A person's verdicts: a candidate is promoted or rejected once, a memory is superseded, each with an audit entry.
import type { OwnEntry } from "../../log/capture/draft.js";
import { orThrow, RecorderError, type Rejection, reject } from "../../model/rejection.js";
import { globalTypes } from "../judge/statement.js";
import type { ProposingParts } from "../propose/proposing.js";
import type { MemorySummary } from "./memory-answers.js";
import type { ParsedVerdict, ParsedVerdicts } from "./memory-input.js";
import { type MemoryLedger, memoryNotFound } from "./memory-ledger.js";

export class Verdicts {
  readonly #ledger: MemoryLedger;
  readonly #forget: ProposingParts["forget"];

  constructor({ ledger, forget }: Pick<ProposingParts, "ledger" | "forget">) {
    this.#ledger = ledger;
    this.#forget = forget;
  }

  async promote(id: string, verdict: ParsedVerdict): Promise<MemorySummary> {
    const { entries } = this.#ledger;
    const project = placeFor(await this.#candidate(id), verdict.project);
    if (verdict.content !== "") await this.#ledger.rejectDuplicate(verdict.content, project, id);
    const edited = verdict.content === "" ? [] : [entries.edited(id, project, verdict)];
    await this.#append([...edited, ...entries.verdict("memory_promoted", id, project, verdict)]);
    return this.#decided(id, edited);
  }

  async reject(id: string, verdict: ParsedVerdict): Promise<MemorySummary> {
    const { project } = await this.#candidate(id);
    await this.#append(this.#ledger.entries.verdict("memory_rejected", id, project, verdict));
    return this.#ledger.named(id);
  }

  async supersede(id: string, { actor, reason, content }: ParsedVerdict): Promise<MemorySummary> {
    const { entries } = this.#ledger;
    const { status, project, type } = await this.#ledger.named(id);
    if (status !== "candidate" && status !== "active") throw new RecorderError(alreadyDecided(id, status));
    if (content !== "") await this.#ledger.rejectDuplicate(content, project, id);
    const whose = { id: undefined, actor, confidence: undefined };
    const bare = { evidence: [], tags: [], generation: "", similar_to: [], conflicts_with: [] };
    const kept = { ...bare, source: "person", type, content, project } as const;
    const [next] = content === "" ? [] : entries.statement(kept, [], whose);
    const superseded_by = next?.id ?? "";
    const superseded = entries.superseded(
      { memory_id: id, superseded_by, status_before: status, actor, reason },
      project,
    );
    const inPlace = next === undefined ? [] : [next, ...entries.verdict("memory_promoted", next.id, project, whose)];
    await this.#append([...inPlace, superseded, entries.audit(actor, id)]);
    return this.#decided(id, next === undefined ? [] : [next]);
  }

  /** On several candidates: all or none. */
  async several({ promote, reject: rejected, ...verdict }: ParsedVerdicts): Promise<readonly MemorySummary[]> {
    const { entries } = this.#ledger;
    const ids = [...promote, ...rejected];
    const candidates = await this.#candidates(ids);
    for (const id of promote) placeFor(candidates.get(id), "");
    const projectOf = (id: string): string => candidates.get(id)?.project ?? "";
    await this.#append([
      ...promote.flatMap((id) => entries.verdict("memory_promoted", id, projectOf(id), verdict)),
      ...rejected.flatMap((id) => entries.verdict("memory_rejected", id, projectOf(id), verdict)),
    ]);
    return this.#ledger.byId(ids);
  }

  /** Appends all entries, or throws where another verdict was faster. */
  async #append(entries: readonly OwnEntry[]): Promise<void> {
    const taken = await this.#ledger.attempt(entries);
    if (taken !== undefined) throw new RecorderError(secondVerdict());
  }

  /** The memory may have been forgotten between check and write; then its new wording is forgotten, too. */
  async #decided(id: string, wordings: readonly OwnEntry[]): Promise<MemorySummary> {
    const [memory] = await this.#ledger.byId([id]);
    if (memory === undefined) for (const wording of wordings) await this.#forget(wording.id);
    return orThrow(memory ?? memoryNotFound(id));
  }

  async #candidate(id: string): Promise<MemorySummary> {
    const memory = await this.#ledger.named(id);
    return orThrow(memory.status === "candidate" ? memory : alreadyDecided(id, memory.status));
  }

  async #candidates(ids: readonly string[]): Promise<ReadonlyMap<string, MemorySummary>> {
    const found = new Map((await this.#ledger.byId(ids)).map((memory) => [memory.id, memory]));
    for (const [index, id] of ids.entries()) {
      const memory = found.get(id);
      if (memory === undefined) throw new RecorderError(memoryNotFound(id).at(index));
      if (memory.status !== "candidate") throw new RecorderError(alreadyDecided(id, memory.status).at(index));
    }
    return found;
  }
}

/** The project that a memory is promoted into: its own, or the given one where it has none and does not hold everywhere. */
function placeFor(memory: MemorySummary | undefined, given: string): string {
  const { project = "", type = "preference", id = "" } = memory ?? {};
  if (given !== "" && project !== "" && given !== project) {
    const message = `memory ${id} belongs to the project ${project}`;
    throw new RecorderError({ code: "field_invalid", field: "project", message });
  }
  const place = project === "" ? given : project;
  if (place !== "" || globalTypes.has(type)) return place;
  throw new RecorderError({
    code: "field_missing",
    field: "project",
    message: `the project of memory ${id} is unknown, and only a preference or identity holds everywhere`,
    hint: "Give the project that it belongs to.",
  });
}

function alreadyDecided(id: string, status: string): Rejection {
  return reject({
    code: "verdict_given",
    field: "id",
    message: `memory ${id} is ${status}, and no candidate any more`,
  });
}

function secondVerdict(): Rejection {
  return reject({
    code: "verdict_given",
    field: "id",
    message: "somebody else gave a verdict meanwhile; nothing changed",
  });
}
