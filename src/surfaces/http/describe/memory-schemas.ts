// JSON schemas of memories: what may be given, what is read back, and what recall answers with.
import { memorySources, memoryStatuses, memoryTypes, rejectionReasons } from "../../../model/memory.js";
import { type Schema, schemaNamed } from "./operation.js";
import { count, listOf, object, pageEnd, text, time } from "./shapes.js";

const type: Schema = { type: "string", enum: [...memoryTypes] };
const source: Schema = { type: "string", enum: [...memorySources] };
const flag: Schema = { type: "boolean" };
const confidence: Schema = { type: "number", minimum: 0, maximum: 1 };
const actor: Schema = { ...text, description: "Who decides; the caller where nothing else is said." };
const reason: Schema = { ...text, description: `Why: ${rejectionReasons.join(", ")}.` };

export function memorySchemas(): { readonly [name: string]: Schema } {
  return {
    Evidence: object({
      entry_id: text,
      quote: { ...text, description: "Words of the entry, exactly as they stand there." },
    }),
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
    Memory: memory({}),
    MemoryDetail: memory({
      words: listOf(
        object({
          entry_id: text,
          quote: text,
          kind: text,
          session_id: text,
          created_at: time,
          before: { ...text, description: "What stands before the quote, as far as it helps." },
          after: { ...text, description: "What stands behind it." },
        }),
      ),
      history: listOf(schemaNamed("MemoryEvent")),
      uses: listOf(schemaNamed("MemoryUse")),
    }),
    MemoryUse: object({
      entry_id: text,
      position: count,
      created_at: time,
      session_id: text,
      given: flag,
      used: flag,
      confirmed: flag,
      followed: object({
        errors: count,
        low_confidence: count,
        feedback: listOf(object({ score: { type: "number" }, label: text, comment: text }, ["score"])),
        next: { ...text, description: "What the user said next." },
      }),
    }),
    MemoryEvent: object(
      {
        position: count,
        kind: text,
        at: time,
        actor: text,
        reason: text,
        content: text,
        superseded_by: text,
        turn_id: text,
        given: { const: true },
        used: { const: true },
        confirmed: { const: true },
      },
      ["reason", "content", "superseded_by", "turn_id", "given", "used", "confirmed"],
    ),
    MemoryPage: object(
      {
        memories: listOf(schemaNamed("Memory")),
        next_cursor: pageEnd.next_cursor,
        pending: { ...count, description: "How many candidates wait for a verdict." },
        acceptance: {
          ...listOf(object({ source, generation: text, accepted: count, rejected: count, is_paused: flag })),
          description: "Of the last 30 verdicts on each source. Nothing more is taken from one that is paused.",
        },
      },
      [],
    ),
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
    Recalled: object({
      context_pack: object({
        budget_tokens: count,
        tokens: count,
        memories: listOf(object({ id: text, type, content: text })),
        text: { ...text, description: "The same for the model: a line each." },
      }),
      memories_used: listOf(text),
    }),
  };
}

function memory(more: { readonly [name: string]: Schema }): Schema {
  return object(
    {
      id: text,
      type,
      content: text,
      project: text,
      confidence,
      status: { type: "string", enum: [...memoryStatuses] },
      source,
      generation: text,
      given: count,
      used: count,
      confirmed: count,
      last_confirmed_at: time,
      tags: listOf(text),
      valid_until: time,
      evidence: listOf(schemaNamed("Evidence")),
      supported: { type: "boolean", description: "False once all its evidence was forgotten." },
      similar_to: listOf(text),
      conflicts_with: listOf(text),
      created_at: time,
      decided_at: time,
      reason: text,
      superseded_by: { ...text, description: "The memory that stands in its place." },
      ...more,
    },
    ["last_confirmed_at", "valid_until", "reason", "superseded_by"],
  );
}
