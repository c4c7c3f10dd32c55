// How an operation names an entry, an interaction, a session or a memory.
import type { AnswerLookup } from "../model/context.js";
import { isPositionText, parseSessionId } from "../model/ids.js";
import { RecorderError } from "../model/rejection.js";
import type { EntryRef } from "../search/lists/entry-reader.js";
import type { Parameter } from "../search/parameters.js";

/** Its id, or its position. */
export const entryRef: Parameter<string | number, EntryRef> = {
  description: "Its id or position.",
  schema: { type: ["string", "integer"] },
  example: "turn-1",
  refusals: ["entry_not_found"],
  parse: (value) => toRef(String(value)),
};

export const interactionId: Parameter<string, string> = {
  description: "The interaction's id.",
  schema: { type: "string" },
  example: "turn-1",
  refusals: [],
  parse: (value) => String(value),
};

/** Numbers outside the range of positions name no entry. */
function toRef(text: string): EntryRef {
  return isPositionText(text) ? { position: Math.min(Number(text), Number.MAX_SAFE_INTEGER) } : { id: text };
}

/** The result for the answer that an entry belongs to; undefined if there is no such entry. */
export function foundFor<T>(ref: EntryRef, answer: AnswerLookup<T> | undefined): T | undefined {
  if (answer === undefined || answer.outcome === "found") return answer?.found;
  const name = JSON.stringify(String("id" in ref ? ref.id : ref.position).slice(0, 128));
  if (answer.outcome === "erased") {
    throw new RecorderError({ code: "entry_not_found", message: `entry ${name} was erased` });
  }
  throw new RecorderError({
    code: "field_invalid",
    field: "id",
    message: `entry ${name} is not a model response (${answer.kind})`,
    hint: "Name an interaction, an assistant's message, a tool call, an error or a decision.",
  });
}

export const sessionId: Parameter<string, string> = {
  description: "The session's exact id.",
  schema: { type: "string" },
  example: "cli:anna",
  refusals: ["session_id_invalid"],
  parse: (value) => parseSessionId(value),
};

/** The same on the command line. */
export const sessionOperand = {
  name: "[id]",
  parameter: "id",
  description: "show this session with its timeline",
  hint: "`hansard sessions` lists the ids.",
} as const;

/** Candidates for the examples to review, in addition to the one that an example proposes. */
export const exampleCandidates = ["indent", "units"] as const;

export function memoryId(example: string): Parameter<string, string> {
  return {
    description: "The id.",
    schema: { type: "string" },
    example,
    refusals: [],
    parse: (value) => String(value),
  };
}
