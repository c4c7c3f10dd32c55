// Adds a memory for a person, or proposes one.
import { Type } from "typebox";
import type { Scope } from "../guard/scopes.js";
import { droppedProposal, isTaken, memory, takenProposal } from "../memories/review/memory-answers.js";
import { newMemory, parseNewMemory } from "../memories/review/memory-input.js";
import { isJsonObject } from "../model/json.js";
import { type AnswerOf, oneOf, text } from "../model/schema.js";
import { body, operation } from "./operation.js";

const added = Type.Union([memory, droppedProposal, takenProposal]);
type Added = AnswerOf<typeof added>;

/** What an agent learns of its proposal. */
const proposed = Type.Object({
  status: oneOf(["candidate", "dropped", "taken"]),
  id: Type.Optional(text),
  similar_to: Type.Optional(Type.Array(text)),
  conflicts_with: Type.Optional(Type.Array(text)),
  dropped: Type.Optional(Type.String({ description: "The gate that dropped it." })),
  reason: Type.Optional(text),
});

export const addMemory = operation({
  name: "addMemory",
  tag: "Memories",
  summary: "Add a memory, or propose one",
  description:
    'A person adds a memory, which is active at once (scope `review`). With `"status": "candidate"` it is proposed ' +
    "(scope `capture` or `review`): it passes the gates, or the answer says which one dropped it. With scope `capture` it may " +
    "quote only entries recorded with the same key, and the answer is a 202 either way.",
  scope: "any",
  scopes: scopesFor,
  route: "POST /memories",
  tools: [
    {
      name: "propose_memory",
      title: "Propose a memory",
      description:
        "Proposes one statement worth knowing next time, with evidence: words of recorded entries, exactly as they stand " +
        "there. It waits for a person's verdict, or the answer says which gate dropped it and why. With a key that may not read, " +
        "it only says that it was taken.",
      body: {
        schema: "NewMemory",
        fixed: { status: "candidate" },
        withheld: ["status", "source", "actor"],
        needed: ["evidence"],
      },
      answer: { schema: proposed, document: proposalDocument, text: proposalText },
    },
  ],
  command: {
    examples: [["add a memory, active at once", 'hansard memories add "Answers in German" --type preference']],
  },
  input: {},
  positional: [],
  body: body({
    schema: newMemory,
    example: {
      id: "ports",
      status: "candidate",
      source: "person",
      type: "project",
      project: "atlas",
      content: "The server of atlas listens on port 4747",
    },
    is_required: true,
    form: "json_or_empty",
    actor: "sender_by_default",
    parse: parseNewMemory,
  }),
  output: added,
  recorded: {
    outcome: (answer) => (isTaken(answer) ? 202 : "dropped" in answer ? 200 : 201),
    outcomes: {
      201: { description: "Added, or proposed.", output: memory },
      200: { description: "Dropped.", output: droppedProposal },
      202: { description: "Taken: all that a caller with scope `capture` learns.", output: takenProposal },
    },
  },
  missing: undefined,
  refusals: ["confidence_out_of_range", "label_invalid", "memory_known", "time_invalid"],
  needs: "store",
  answer: ({ memories }, { body }) => memories.add(body),
});

function proposalDocument(answer: Added): AnswerOf<typeof proposed> {
  if (isTaken(answer)) return answer;
  if ("dropped" in answer) return { status: "dropped", dropped: answer.dropped, reason: answer.reason };
  const { id, similar_to, conflicts_with } = answer;
  return { status: "candidate", id, similar_to, conflicts_with };
}

function proposalText(answer: Added): string {
  if (isTaken(answer)) return "Taken; a person decides.";
  return "dropped" in answer
    ? `Dropped by ${answer.dropped}: ${answer.reason}`
    : `Proposed as ${answer.id}; a person decides.`;
}

/** A caller with scope capture acts for an agent: it can only propose, and cannot name an actor. */
function scopesFor(given: unknown): readonly Scope[] | undefined {
  if (!isJsonObject(given)) return undefined;
  const { status = "active", source, content, actor } = given;
  // An empty body is refused before the key is checked.
  if ((status !== "active" && status !== "candidate") || content === undefined) return undefined;
  const isAgents = status === "candidate" && (source ?? "agent") === "agent" && (actor ?? undefined) === undefined;
  return isAgents ? ["capture", "review"] : ["review"];
}
