// What lists of memories and recall are asked with: as it is given, and parsed.
import { parseLabel } from "../../model/ids.js";
import type { MemorySource, MemoryStatus, MemoryType } from "../../model/memory.js";
import type { Rejection } from "../../model/rejection.js";
import type { Page } from "../../search/lists/list-query.js";

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
  readonly project?: string | undefined;
  readonly status?: MemoryStatus | undefined;
  readonly type?: MemoryType | undefined;
  readonly source?: MemorySource | undefined;
  readonly similar: boolean;
  readonly unused: boolean;
  readonly limit: number;
  readonly now_ms: number;
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
  /** Memories of this project, and global ones. */
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
  readonly q: string;
  readonly budget_tokens: number;
  readonly now_ms: number;
}

/** As lists have it, `-` stands for none. */
export function parseProject(project: unknown): string | Rejection {
  return parseLabel("project", project === "-" ? "" : project);
}
