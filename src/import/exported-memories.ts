// The memories of an exported log, which are proposed here: what a person decided there, nobody has decided here.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { ExportedEntry } from "./export-check.js";
import type { ExportedMemory, ImportStep } from "./importer.js";

/** More are reported. */
const MEMORIES_MAX = 10_000;
const EVIDENCE_MAX = 100;

interface Draft extends Omit<ExportedMemory, "evidence"> {
  readonly line: number;
  readonly evidence: ExportedMemory["evidence"][number][];
}

export class ExportedMemories {
  readonly #draftsById = new Map<string, Draft>();
  #passedOver: { count: number; line: number } | undefined;

  take(line: number, { kind, fields }: ExportedEntry): void {
    if (fields === undefined || !kind.startsWith("memory_")) return;
    const { content, memory_id } = fields;
    if (kind === "memory_proposed") this.#propose(line, fields);
    const draft = this.#draftsById.get(String(memory_id));
    if (kind === "memory_rejected" || kind === "memory_superseded") this.#draftsById.delete(String(memory_id));
    if (kind !== "memory_edited" || draft === undefined) return;
    if (typeof content === "string" && content !== "") {
      this.#draftsById.set(String(memory_id), { ...draft, content });
    }
    if (draft.evidence.length < EVIDENCE_MAX) draft.evidence.push(...evidenceIn(fields.evidence));
  }

  *steps(): Generator<ImportStep> {
    for (const { line, ...memory } of this.#draftsById.values()) yield { line, memory };
    if (this.#passedOver === undefined) return;
    const { line, count } = this.#passedOver;
    yield { line, reason: `only ${MEMORIES_MAX} memories of an export are proposed; ${count} more are left out` };
  }

  #propose(line: number, fields: JsonObject): void {
    if (this.#draftsById.size >= MEMORIES_MAX) {
      this.#passedOver = { count: (this.#passedOver?.count ?? 0) + 1, line };
      return;
    }
    this.#draftsById.set(String(fields.id), {
      line,
      content: textOf(fields.content),
      type: textOf(fields.type),
      project: textOf(fields.project),
      tags: Array.isArray(fields.tags) ? fields.tags.filter((tag) => typeof tag === "string") : [],
      valid_until: textOf(fields.valid_until),
      evidence: evidenceIn(fields.evidence),
    });
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function evidenceIn(value: JsonValue | undefined): Draft["evidence"] {
  const items = Array.isArray(value) ? value.filter(isJsonObject) : [];
  return items
    .slice(0, EVIDENCE_MAX)
    .map(({ entry_id, quote }) => ({ entry_id: textOf(entry_id), quote: textOf(quote) }));
}
