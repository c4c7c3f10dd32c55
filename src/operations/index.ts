// The list of operations. Every surface follows from it; the comments are those of the library's methods.
import type { Answering } from "../reading/answering.js";
import type { CallTable } from "../reading/calls.js";
import { addMemory } from "./add-memory.js";
import { appendEntries } from "./append-entries.js";
import { auditMemoryFile } from "./audit-memory-file.js";
import { clearSession } from "./clear-session.js";
import { completeInteraction } from "./complete-interaction.js";
import { consolidateSession } from "./consolidate-session.js";
import { context } from "./context.js";
import { extractMemories } from "./extract-memories.js";
import { forget } from "./forget.js";
import { getHistory } from "./get-history.js";
import { getMemory } from "./get-memory.js";
import { getSession } from "./get-session.js";
import { giveVerdicts } from "./give-verdicts.js";
import { importMemoryFile } from "./import-memory-file.js";
import { listMemories } from "./list-memories.js";
import { listSessionEntries } from "./list-session-entries.js";
import { listSessions } from "./list-sessions.js";
import type { AnyOperation, MethodOf } from "./operation.js";
import { promoteMemory } from "./promote-memory.js";
import type { Readers } from "./readers.js";
import { recall } from "./recall.js";
import { recordInteraction } from "./record-interaction.js";
import { reinforceMemories } from "./reinforce-memories.js";
import { rejectMemory } from "./reject-memory.js";
import { supersedeMemory } from "./supersede-memory.js";
import { told } from "./told.js";
import { usage } from "./usage.js";

/** Those that are methods of the recorder itself. */
export const recorderOperations = {
  /**
   * What a model was given for an answer: an interaction, an assistant's message, or what made a tool call or came before an
   * error. Exact where it was recorded, else the session's history as it was then. Undefined where there is no such entry.
   */
  context,
  /** Whether a text lay before the model when it answered, had fallen out by then, or was never given in the session. */
  told,
  /** How many tokens calls to models took and what they cost; each call counts once, however many entries tell of it. */
  usage,
  /** Sessions, the one with the newest entry first. */
  listSessions,
};

/** Those that are methods of a session, and of what a recorder offers as `memories`. */
const otherOperations = {
  getSession,
  listSessionEntries,
  getHistory,
  listMemories,
  getMemory,
  recall,
  addMemory,
  promoteMemory,
  rejectMemory,
  supersedeMemory,
  giveVerdicts,
  auditMemoryFile,
  importMemoryFile,
  extractMemories,
  reinforceMemories,
  forget,
};

/** Those that append entries. The library has methods for them that are handier, and answer with more. */
const appendingOperations = {
  recordInteraction,
  completeInteraction,
  appendEntries,
  consolidateSession,
  clearSession,
};

export const operations = { ...recorderOperations, ...otherOperations, ...appendingOperations };

export type Operations = typeof operations;
type OperationName = keyof Operations;

/** The operations as methods. */
export type OperationMethods = { readonly [N in OperationName]: MethodOf<Operations[N]> };

/** Those that are methods of the recorder itself. */
export type RecorderMethods = {
  [N in keyof typeof recorderOperations]: MethodOf<(typeof recorderOperations)[N]>;
};

export const operationList: readonly AnyOperation[] = Object.values(operations);

/** The operations as calls that the reading side answers. */
export const operationCalls: CallTable<Answering<Readers>> = Object.fromEntries(
  operationList.flatMap((operation) =>
    isReading(operation) ? [[operation.name, (parts, query) => answerFrom(operation, parts, query)]] : [],
  ),
);

type ReadingOperation = Exclude<AnyOperation, { readonly needs: "recorder" | "writers" }>;

function isReading(operation: AnyOperation): operation is ReadingOperation {
  return operation.needs !== "recorder" && operation.needs !== "writers";
}

function answerFrom(operation: ReadingOperation, parts: Answering<Readers>, query: never): Promise<unknown> {
  switch (operation.needs) {
    case "log":
    case "several":
      return operation.answer(parts, query);
    case "index_at_checkpoint":
      return parts.index.read((readers) => operation.answer(readers, query) as Promise<object>);
    case "texts_at_checkpoint":
      return parts.index.read((readers) => operation.answer(readers, query) as Promise<object>, { texts: true });
    case "index_at_head":
      return parts.index.whole((readers) => operation.answer(readers, query));
  }
}
