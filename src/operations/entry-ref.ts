// How an operation names one entry, and the answer of a model that belongs to it.
import type { AnswerLookup } from "../model/context.js";
import { isPositionText } from "../model/ids.js";
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
