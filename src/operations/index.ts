// The list of operations. Every surface follows from it; the comments are those of the library's methods.
import type { AnswerContext, CallTable } from "../reading/call-table.js";
import { addMemory } from "./add-memory.js";
import { appendEntries } from "./append-entries.js";
import { auditMemoryFile } from "./audit-memory-file.js";
import { clearSession } from "./clear-session.js";
import { completeInteraction } from "./complete-interaction.js";
import { consolidateSession } from "./consolidate-session.js";
import { context } from "./context.js";
import { count } from "./count.js";
import { extractMemories } from "./extract-memories.js";
import { forget } from "./forget.js";
import { getEntry } from "./get-entry.js";
import { getHistory } from "./get-history.js";
import { getInteraction } from "./get-interaction.js";
import { getMemory } from "./get-memory.js";
import { getOutline } from "./get-outline.js";
import { getSession } from "./get-session.js";
import { getTree } from "./get-tree.js";
import { giveVerdicts } from "./give-verdicts.js";
import { importMemoryFile } from "./import-memory-file.js";
import { listEntries } from "./list-entries.js";
import { files } from "./list-files.js";
import { type ListInteractions, listInteractions } from "./list-interactions.js";
import { listMemories } from "./list-memories.js";
import { listSessionEntries } from "./list-session-entries.js";
import { listSessions } from "./list-sessions.js";
import type { AnyOperation, MethodOf } from "./operation.js";
import { promoteMemory } from "./promote-memory.js";
import type { Readers } from "./readers.js";
import { recall } from "./recall.js";
import { recordInteraction } from "./record-interaction.js";
import { reflect } from "./reflect.js";
import { reinforceMemories } from "./reinforce-memories.js";
import { rejectMemory } from "./reject-memory.js";
import { search } from "./search.js";
import { sessionHistory } from "./session-history.js";
import { supersedeMemory } from "./supersede-memory.js";
import { told } from "./told.js";
import { usage } from "./usage.js";
import { verify } from "./verify.js";

/** Those that are methods of the recorder itself. */
export const recorderOperations = {
  /** Interactions, newest first: with `full` whole, otherwise without their responses and context packs. */
  listInteractions,
  /** One interaction, whole, or what is left of it once it was erased; undefined where there is none. */
  getInteraction,
  /** Entries of all kinds, newest first. */
  listEntries,
  /** One entry by its id or its position; undefined where there is none. */
  getEntry,
  /**
   * Entries that hold all terms of the query, newest first: `timeout "connection reset" -retry kind:error since:7d`. What
   * was acknowledged before is found. Filters can be typed or given; both must hold.
   */
  search,
  /** Looks back at the newest entries of conversations: what went wrong, what recurs, and how that has changed. */
  reflect,
  /** How much there is, by kind and project. */
  count,
  /**
   * What a model was given for an answer: an interaction, an assistant's message, or what made a tool call or came before an
   * error. Exact where it was recorded, else the session's history as it was then. Undefined where there is no such entry.
   */
  context,
  /** Whether a text was in the model's context when it answered, had fallen out by then, or was never given in the session. */
  told,
  /** How many tokens calls to models took and what they cost; each call counts once, however many entries report it. */
  usage,
  /** Sessions, the one with the newest entry first. */
  listSessions,
  /** Files that tool calls read or changed, the one touched last first. */
  files,
};

/** Those that are methods of a session, lists of memories, and what answers the library in another form. */
const otherOperations = {
  sessionHistory,
  getSession,
  getOutline,
  getTree,
  listSessionEntries,
  getHistory,
  listMemories,
  getMemory,
};

/** Those that are methods of what a recorder offers as `memories`, or work on the store itself. */
const storeOperations = {
  addMemory,
  recall,
  promoteMemory,
  rejectMemory,
  supersedeMemory,
  giveVerdicts,
  auditMemoryFile,
  importMemoryFile,
  extractMemories,
  reinforceMemories,
  forget,
  verify,
};

/** Those that append entries. The library has methods for them that are handier, and answer with more. */
const appendingOperations = {
  recordInteraction,
  completeInteraction,
  appendEntries,
  consolidateSession,
  clearSession,
};

export const operations = {
  ...recorderOperations,
  ...otherOperations,
  ...appendingOperations,
  ...storeOperations,
};

export type Operations = typeof operations;
type OperationName = keyof Operations;

/** The operations as methods. */
export type OperationMethods = { readonly [N in OperationName]: MethodOf<Operations[N]> };

/** Those that are methods of the recorder itself. */
export type RecorderMethods = {
  [N in Exclude<keyof typeof recorderOperations, "listInteractions">]: MethodOf<(typeof recorderOperations)[N]>;
} & { listInteractions: ListInteractions };

export const operationList: readonly AnyOperation[] = Object.values(operations);

/** The operations as calls that the reading side answers. */
export const operationCalls: CallTable<AnswerContext<Readers>> = Object.fromEntries(
  operationList.flatMap((operation) =>
    isReading(operation)
      ? [[operation.name, (parts: AnswerContext<Readers>, query: never) => answerFrom(operation, parts, query)]]
      : [],
  ),
);

type ReadingOperation = Exclude<AnyOperation, { readonly needs: "recorder" | "store" }>;

function isReading(operation: AnyOperation): operation is ReadingOperation {
  return operation.needs !== "recorder" && operation.needs !== "store";
}

function answerFrom(operation: ReadingOperation, parts: AnswerContext<Readers>, query: never): Promise<unknown> {
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
