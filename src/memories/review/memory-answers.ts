// What is answered about memories, and with memories: schemas and types in one.
import { Type } from "typebox";
import { memorySources, memoryStatuses, memoryTypes } from "../../model/memory.js";
import { type AnswerOf, count, counts, each, named, oneOf, pageEnd, text, time } from "../../model/schema.js";

const optionalText = Type.Optional(text);
const isTrue = Type.Optional(Type.Unsafe<true>({ const: true }));
const type = oneOf(memoryTypes);
const source = oneOf(memorySources);

export const evidence = named(
  "Evidence",
  Type.Object({
    entry_id: text,
    quote: Type.String({ description: "An exact quote from the entry." }),
  }),
);

const memoryFields = {
  id: text,
  type,
  content: text,
  project: text,
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  status: oneOf(memoryStatuses),
  source,
  proposed_by: Type.String({ description: "A key (`key:ID`), a person or a program." }),
  generation: text,
  ...each(["given", "used", "confirmed"] as const, count),
  last_confirmed_at: Type.Optional(time),
  tags: Type.Array(text),
  valid_until: Type.Optional(time),
  evidence: Type.Array(evidence),
  supported: Type.Boolean({ description: "False once all its evidence was forgotten." }),
  similar_to: Type.Array(text),
  conflicts_with: Type.Array(text),
  created_at: Type.String({ format: "date-time", description: "When it was proposed." }),
  decided_at: Type.String({ format: "date-time", description: "When it got its current status." }),
  reason: optionalText,
  superseded_by: Type.Optional(Type.String({ description: "The memory that replaced it." })),
};

export type MemorySummary = AnswerOf<typeof memory>;
export const memory = named("Memory", Type.Object(memoryFields));

/** Words of an entry with what stands around them. */
export type WordsInContext = AnswerOf<typeof words>;
const words = Type.Object({
  entry_id: text,
  quote: text,
  kind: text,
  session_id: text,
  created_at: time,
  before: Type.String({ description: "Text before the quote, for context." }),
  after: Type.String({ description: "Text after it." }),
});

/** What was done with a memory. */
export type MemoryEvent = AnswerOf<typeof memoryEvent>;
const memoryEvent = named(
  "MemoryEvent",
  Type.Object({
    position: count,
    kind: text,
    at: time,
    actor: text,
    ...each(["reason", "content", "superseded_by", "turn_id"] as const, optionalText),
    ...each(["given", "used", "confirmed"] as const, isTrue),
  }),
);

/** An answer that was given a memory, or confirmed one. */
export type MemoryUseInTurn = AnswerOf<typeof memoryUse>;
const memoryUse = named(
  "MemoryUse",
  Type.Object({
    entry_id: Type.String({ description: "The interaction, or the user's message that the turn began with." }),
    position: count,
    created_at: time,
    session_id: text,
    ...each(["given", "used", "confirmed"] as const, Type.Boolean()),
    followed: Type.Object(
      {
        errors: count,
        low_confidence: count,
        feedback: Type.Array(Type.Object({ score: Type.Optional(Type.Number()), label: text, comment: text })),
        next: Type.String({ description: "What the user said next." }),
      },
      { description: "What followed, up to the user's next message." },
    ),
  }),
);

export type MemoryDetail = AnswerOf<typeof memoryDetail>;
export const memoryDetail = named(
  "MemoryDetail",
  Type.Object({
    ...memoryFields,
    words: Type.Array(words, { description: "The user's words that are its evidence." }),
    history: Type.Array(memoryEvent, { description: "Its history, oldest first." }),
    uses: Type.Array(memoryUse, { description: "The answers that were given it; the newest 50." }),
  }),
);

/** How many proposals of a source were accepted and rejected. */
export type Acceptance = AnswerOf<typeof acceptance>;
const acceptance = Type.Object({
  source,
  generation: Type.String({ description: "Empty except for models." }),
  accepted: count,
  rejected: count,
  is_paused: Type.Boolean(),
});

export type MemoryList = AnswerOf<typeof memoryPage>;
export const memoryPage = named(
  "MemoryPage",
  Type.Object({
    memories: Type.Array(memory),
    next_cursor: pageEnd.next_cursor,
    pending: Type.Integer({ minimum: 0, description: "How many candidates wait for review." }),
    held_back: Type.Integer({
      minimum: 0,
      description: "How many proposals of the last 7 days were held back, because their key had too many.",
    }),
    acceptance: Type.Array(acceptance, {
      description: "Counts of the last 30 verdicts on each source. A paused source cannot propose more.",
    }),
  }),
);

export type Recalled = AnswerOf<typeof recalled>;
export const recalled = named(
  "Recalled",
  Type.Object({
    context_pack: Type.Object(
      {
        budget_tokens: count,
        tokens: count,
        memories: Type.Array(Type.Object({ id: text, type, content: text })),
        text: Type.String({ description: "The same as text for the model, one line each." }),
      },
      { description: "Give it to the model, and pass it unchanged to `recordInteraction` or `POST /interactions`." },
    ),
    memories_used: Type.Array(text),
  }),
);

/** Why a proposal is none. */
export type DroppedProposal = AnswerOf<typeof droppedProposal>;
const dropped = {
  dropped: Type.String({ description: "The gate that dropped it." }),
  reason: Type.String({ description: "Why not." }),
  adds_evidence_to: Type.Optional(
    Type.String({ description: "The candidate with the same statement, which got the evidence." }),
  ),
};
export const droppedProposal = named("DroppedProposal", Type.Object(dropped));

/** What a caller learns that may not read: the same whatever became of the proposal. */
export type TakenProposal = AnswerOf<typeof takenProposal>;
export const takenProposal = named("TakenProposal", Type.Object({ status: oneOf(["taken"]) }));
export const TAKEN: TakenProposal = { status: "taken" };

export function isTaken(answer: object): answer is TakenProposal {
  return (answer as { readonly status?: unknown }).status === TAKEN.status;
}

/** What verdicts on several have come to. */
export type VerdictsGiven = AnswerOf<typeof verdictsGiven>;
export const verdictsGiven = named(
  "Verdicts",
  Type.Object({
    memories: Type.Array(memory),
    pending: Type.Integer({ minimum: 0, description: "How many candidates are left." }),
  }),
);

export type AuditedStatement = AnswerOf<typeof auditedStatement>;
const auditedStatement = Type.Object({
  statement: text,
  line: Type.Integer({ minimum: 1, description: "The line it begins on, from 1." }),
  verdict: oneOf(["quoted", "ran", "mentioned", "against", "not_found"]),
  by: Type.Optional(oneOf(["user", "tool", "assistant", "system"], { description: "Who said it." })),
  reason: Type.String({ description: "A sentence for people." }),
  evidence: Type.Optional(evidence),
  runs: Type.Optional(
    Type.Object(
      { command: text, ...each(["worked", "failed"] as const, count), last_at: time },
      { description: "How the command that it names fared, or another one that ran in its place." },
    ),
  ),
  passages: Type.Optional(
    Type.Array(Type.Object({ entry_id: text, quote: text, by: text, differs: text }), {
      description: "What comes nearest, with what differs.",
    }),
  ),
  memory: Type.Optional(Type.String({ description: "The memory that says the same." })),
  memory_status: Type.Optional(oneOf(["active", "superseded", "candidate", "rejected"])),
});

export type FileAudit = AnswerOf<typeof fileAudit>;
export const fileAudit = named("FileAudit", Type.Object({ statements: Type.Array(auditedStatement), counts }));

export type ProposedStatement = AnswerOf<typeof proposedStatement>;
const proposedStatement = Type.Object({
  line: count,
  statement: text,
  answer: Type.Union([memory, droppedProposal]),
});
export const memoryImport = named("MemoryImport", Type.Object({ statements: Type.Array(proposedStatement) }));

export type DroppedStatement = AnswerOf<typeof droppedStatement>;
const ruleClass = Type.Optional(Type.String({ description: "What kind of finding it is, such as `project_command`." }));
const droppedStatement = Type.Object({ ...dropped, content: text, class: ruleClass, entry_ids: Type.Array(text) });

/** Words that a rule looked at and did not take, and why. */
export type PassedOverWords = AnswerOf<typeof passedOverWords>;
const passedOverWords = Type.Object({
  entry_id: text,
  content: Type.String({ description: "The words, shortened; or what would be proposed of a command." }),
  class: ruleClass,
  reason: Type.String({ description: "A sentence for people." }),
});

/** How many entries rules have read, and what is among them. */
export type LookedAt = AnswerOf<typeof lookedAt>;
const lookedAt = Type.Object(each(["entries", "users", "assistants", "decisions", "tool_calls"] as const, count));

export type Extraction = AnswerOf<typeof extraction>;
export const extraction = named(
  "Extraction",
  Type.Object({
    candidates: Type.Array(memory, { description: "What was proposed and waits for review." }),
    dropped: Type.Array(droppedStatement, { description: "What was dropped, and by which gate." }),
    dropped_by_gate: counts,
    looked_at: lookedAt,
    passed_over: Type.Array(passedOverWords, {
      description: "What looked like an instruction or a decision, but was not used.",
    }),
    through: Type.Integer({ minimum: 0, description: "Position that it reached." }),
    planned: Type.Optional(
      Type.Object(
        { ...each(["sessions", "requests", "tokens"] as const, count), is_first: Type.Boolean() },
        { description: "Of a dry run: what a model would be sent." },
      ),
    ),
    stopped: Type.Optional(Type.String({ description: "Why the model stopped early; the next run continues there." })),
  }),
);

export type Reinforced = AnswerOf<typeof reinforced>;
const reinforced = Type.Object({
  memory_id: text,
  turn_id: text,
  ...each(["given", "used", "confirmed"] as const, Type.Boolean()),
});

export type Reinforcement = AnswerOf<typeof reinforcement>;
export const reinforcement = named(
  "Reinforcement",
  Type.Object({
    reinforced: Type.Array(reinforced),
    through: count,
    waiting: Type.Array(text, { description: "Unfinished turns." }),
  }),
);
