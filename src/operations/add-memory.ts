// Adds a memory for a person, or proposes one.
import { Type } from "typebox";
import type { Scope } from "../guard/scopes.js";
import { droppedProposal, isTaken, memory, takenProposal } from "../memories/review/memory-answers.js";
import { newMemory, parseNewMemory } from "../memories/review/memory-input.js";
import { isJsonObject } from "../model/json.js";
import { body, operation } from "./operation.js";

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
  tool: undefined,
  command: undefined,
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
  output: Type.Union([memory, droppedProposal, takenProposal]),
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

/** A caller with scope capture acts for an agent: it can only propose, and cannot name an actor. */
function scopesFor(given: unknown): readonly Scope[] | undefined {
  if (!isJsonObject(given)) return undefined;
  const { status = "active", source, content, actor } = given;
  // An empty body is refused before the key is checked.
  if ((status !== "active" && status !== "candidate") || content === undefined) return undefined;
  const isAgents = status === "candidate" && (source ?? "agent") === "agent" && (actor ?? undefined) === undefined;
  return isAgents ? ["capture", "review"] : ["review"];
}
