// JSON schemas of memories: what may be given, what is read back, and what recall answers with.
import { memorySources, memoryTypes, rejectionReasons } from "../../../model/memory.js";
import { type Schema, schemaNamed } from "./operation.js";
import { count, listOf, object, text } from "./shapes.js";

const type: Schema = { type: "string", enum: [...memoryTypes] };
const source: Schema = { type: "string", enum: [...memorySources] };
const flag: Schema = { type: "boolean" };
const confidence: Schema = { type: "number", minimum: 0, maximum: 1 };
const actor: Schema = { ...text, description: "Who decides; the caller where nothing else is said." };
const reason: Schema = { ...text, description: `Why: ${rejectionReasons.join(", ")}.` };

export function memorySchemas(): { readonly [name: string]: Schema } {
  return {
    NewMemory: {
      ...object(
        {
          id: { ...text, description: "Makes the call safe to repeat. A UUIDv7 is made when it is left out." },
          content: { ...text, description: "One statement." },
          type,
          status: {
            type: "string",
            enum: ["active", "candidate"],
            description: "`candidate` proposes it; without it a person adds it, and it is active at once.",
          },
          project: text,
          confidence,
          tags: listOf(text),
          valid_until: { ...text, description: "When it stops being true, as an ISO 8601 time." },
          evidence: listOf(schemaNamed("Evidence")),
          source: { ...source, description: "Of a candidate: `agent` where nothing else is said." },
          actor,
        },
        ["id", "type", "status", "project", "confidence", "tags", "valid_until", "evidence", "source", "actor"],
      ),
      additionalProperties: false,
    },
    DroppedProposal: object({
      dropped: { ...text, description: "The gate that it did not pass." },
      reason: { ...text, description: "Why not." },
    }),
    NewVerdict: { ...object({ actor, reason }, ["actor", "reason"]), additionalProperties: false },
    NewEdit: {
      ...object({ actor, reason, content: { ...text, description: "Another wording." } }, [
        "actor",
        "reason",
        "content",
      ]),
      additionalProperties: false,
    },
    NewVerdicts: {
      ...object({ promote: listOf(text), reject: listOf(text), actor, reason }, [
        "promote",
        "reject",
        "actor",
        "reason",
      ]),
      additionalProperties: false,
    },
    Verdicts: object({ memories: listOf(schemaNamed("Memory")), pending: count }),
    NewAudit: {
      ...object({ text: { ...text, description: "The file, such as CLAUDE.md." }, project: text }, ["project"]),
      additionalProperties: false,
    },
    FileAudit: object({
      statements: listOf(
        object(
          {
            statement: text,
            line: count,
            reason: text,
            evidence: schemaNamed("Evidence"),
            memory: text,
            verdict: { type: "string", enum: ["supported", "echoed", "unsupported", "contradicted", "superseded"] },
          },
          ["evidence", "memory"],
        ),
      ),
      counts: { type: "object", additionalProperties: count },
    }),
    MemoryImport: object({
      statements: listOf(
        object({
          statement: text,
          line: count,
          answer: { anyOf: [schemaNamed("Memory"), schemaNamed("DroppedProposal")] },
        }),
      ),
    }),
    Extraction: object(
      {
        candidates: listOf(schemaNamed("Memory")),
        dropped: listOf(
          object({ dropped: text, reason: text, content: text, entry_ids: listOf(text), adds_evidence_to: text }, [
            "adds_evidence_to",
          ]),
        ),
        dropped_by_gate: { type: "object", additionalProperties: count },
        looked_at: object({ entries: count, users: count, assistants: count, decisions: count, tool_calls: count }),
        passed_over: {
          ...listOf(object({ entry_id: text, content: text, reason: text })),
          description: "What looked like an instruction or a decision, and was not taken for one.",
        },
        through: count,
        stopped: text,
      },
      ["stopped"],
    ),
    Reinforcement: object({
      reinforced: listOf(object({ memory_id: text, turn_id: text, given: flag, used: flag, confirmed: flag })),
      through: count,
      waiting: { ...listOf(text), description: "Turns that are not over yet." },
    }),
  };
}
