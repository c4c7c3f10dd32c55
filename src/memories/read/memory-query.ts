// The door for memories: the list, the queue and recall as they are asked for, parsed into queries.
import { parseLabel } from "../../model/ids.js";
import { limits } from "../../model/limits.js";
import {
  type MemorySource,
  type MemoryStatus,
  type MemoryType,
  memorySources,
  memoryStatuses,
  memoryTypes,
} from "../../model/memory.js";
import { Rejection, reject } from "../../model/rejection.js";
import { fingerprintOf, parseCursor } from "../../search/cursor.js";
import type { Page } from "../../search/lists/list-query.js";
import { isGiven, parseCount, parseLimit, parseSwitch } from "../../search/parameters.js";
import { questionRules, TOKENS_DEFAULT } from "../../search/question-rules.js";

/** Filters of the list of memories. An empty one filters nothing; `project: "-"` selects global ones. */
export interface MemoryListOptions extends Page {
  readonly project?: string | undefined;
  readonly status?: MemoryStatus | string | undefined;
  readonly type?: MemoryType | string | undefined;
  readonly source?: MemorySource | string | undefined;
  /** Only those that are like another one, or contradict one. */
  readonly similar?: boolean | string | undefined;
  /** Only active ones that were never used nor confirmed. */
  readonly unused?: boolean | string | undefined;
}

export interface MemoryListQuery {
  readonly project?: string;
  readonly status?: MemoryStatus;
  readonly type?: MemoryType;
  readonly source?: MemorySource;
  readonly similar: boolean;
  readonly unused: boolean;
  readonly limit: number;
  readonly fingerprint: string;
  readonly after?: MemoriesReached;
}

/** How far a list has come: behind this place, as things were when `as_of` was the newest position. */
export interface MemoriesReached {
  readonly rank: number;
  readonly position: number;
  readonly as_of: number;
}

export interface RecallOptions {
  /** Memories of this project, beside those that hold everywhere. */
  readonly project?: string | undefined;
  /** The session they are for; what it was given is written down there. */
  readonly session_id?: string | undefined;
  /** What the model is about to be asked: what matches it comes first. */
  readonly q?: string | undefined;
  /** How many tokens the text may have; 2,000 by default. */
  readonly budget_tokens?: number | string | undefined;
}

export interface RecallQuery {
  readonly project: string;
  readonly session_id: string;
  readonly q: string;
  readonly budget_tokens: number;
  readonly now_ms: number;
}

export function parseMemoryListQuery(options: MemoryListOptions): MemoryListQuery | Rejection {
  const rule = questionRules.memories;
  const limit = parseLimit(options.limit, rule.limit);
  if (limit instanceof Rejection) return limit;
  const project = isGiven(options.project) ? parseProject(options.project) : undefined;
  if (project instanceof Rejection) return project;
  const status = parseOneOf("status", options.status, memoryStatuses);
  if (status instanceof Rejection) return status;
  const type = parseOneOf("type", options.type, memoryTypes);
  if (type instanceof Rejection) return type;
  const source = parseOneOf("source", options.source, memorySources);
  if (source instanceof Rejection) return source;
  const similar = parseSwitch("similar", options.similar);
  if (similar instanceof Rejection) return similar;
  const unused = parseSwitch("unused", options.unused);
  if (unused instanceof Rejection) return unused;
  const fingerprint = fingerprintOf(["memories", project ?? null, status, type, source, similar, unused]);
  const cursor = parseCursor(options.cursor, { fingerprint, numbers: 3 });
  if (cursor instanceof Rejection) return cursor;
  const [rank, position, as_of] = (cursor ?? []) as readonly number[];
  const after = rank === undefined ? {} : { after: { rank, position, as_of } as MemoriesReached };
  const chosen = {
    ...(project !== undefined && { project }),
    ...(status && { status }),
    ...(type && { type }),
    ...(source && { source }),
  };
  return { ...chosen, similar, unused, limit, fingerprint, ...after };
}

export function parseRecallQuery(options: RecallOptions, now_ms: number): RecallQuery | Rejection {
  const project = parseProject(options.project);
  if (project instanceof Rejection) return project;
  const session_id = parseLabel("session_id", options.session_id);
  if (session_id instanceof Rejection) return session_id;
  const budget = parseCount("budget_tokens", options.budget_tokens) ?? TOKENS_DEFAULT;
  if (budget instanceof Rejection) return budget;
  // The answer says what the budget was, and JSON has no word for all of it.
  const budget_tokens = Math.min(budget, Number.MAX_SAFE_INTEGER);
  const { q = "" } = options;
  if (q !== null && typeof q !== "string") {
    return reject({ code: "field_invalid", field: "q", message: "q must be a string" });
  }
  if ((q ?? "").length > limits.query_chars) {
    return reject({ code: "query_too_long", field: "q", message: `q may have ${limits.query_chars} characters` });
  }
  return { project, session_id, q: q ?? "", budget_tokens, now_ms };
}

/** As lists have it, `-` stands for none. */
function parseProject(project: unknown): string | Rejection {
  return parseLabel("project", project === "-" ? "" : project);
}

/** Undefined where it was not given. */
function parseOneOf<T extends string>(field: string, value: unknown, known: readonly T[]): T | undefined | Rejection {
  if (!isGiven(value)) return undefined;
  if ((known as readonly unknown[]).includes(value)) return value as T;
  return reject({ code: "field_invalid", field, message: `${field} must be one of ${known.join(", ")}` });
}
