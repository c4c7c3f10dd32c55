// The list of operations. Every surface follows from it; the comments are those of the library's methods.
import type { Answering } from "../reading/answering.js";
import type { CallTable } from "../reading/calls.js";
import { context } from "./context.js";
import type { AnyOperation, MethodOf } from "./operation.js";
import type { Readers } from "./readers.js";
import { told } from "./told.js";
import { usage } from "./usage.js";

export const operations = {
  /**
   * What a model was given for an answer: an interaction, an assistant's message, or what made a tool call or came before an
   * error. Exact where it was recorded, else the session's history as it was then. Undefined where there is no such entry.
   */
  context,
  /** Whether a text lay before the model when it answered, had fallen out by then, or was never given in the session. */
  told,
  /** How many tokens calls to models took and what they cost; each call counts once, however many entries tell of it. */
  usage,
};

export type Operations = typeof operations;
type OperationName = keyof Operations;

/** The operations as methods of the library. */
export type OperationMethods = { [N in OperationName]: MethodOf<Operations[N]> };

export const operationList: readonly AnyOperation[] = Object.values(operations);

/** The operations as calls that the reading side answers. */
export const operationCalls: CallTable<Answering<Readers>> = Object.fromEntries(
  operationList.map((operation) => [operation.name, (parts, query) => answerFrom(operation, parts, query)]),
);

function answerFrom(operation: AnyOperation, parts: Answering<Readers>, query: never): Promise<unknown> {
  switch (operation.needs) {
    case "log":
      return operation.answer(parts, query);
    case "index_at_checkpoint":
      return parts.index.read((readers) => operation.answer(readers, query) as Promise<object>);
    case "texts_at_checkpoint":
      return parts.index.read((readers) => operation.answer(readers, query) as Promise<object>, { texts: true });
    case "index_at_head":
      return parts.index.whole((readers) => operation.answer(readers, query));
  }
}
