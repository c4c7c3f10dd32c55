// The health of a store: whether its log can be read and written, how far it is indexed, and how much waits.

import type { AlteredNote } from "../log/altered-note.js";
import type { CommitLoad, CommitReport, GroupCommit } from "../log/capture/group-commit.js";
import type { OnRecorded, RecordedHooks } from "../log/capture/recorded-hooks.js";
import type { EntryLog } from "../log/port.js";
import { Fault } from "../model/fault.js";
import type { Calls } from "../operations/calls.js";

export interface Health {
  /**
   * `degraded` while answers may lack older entries, the log cannot be used, was truncated, or an altered body was
   * read.
   */
  readonly status: "ok" | "degraded";
  /** Position of the newest entry; while the log is unreachable, the newest known one. */
  readonly position: number;
  /** Position through which entries are indexed. */
  readonly indexed_through: number;
  /** The same for their texts; searches scan the rest. */
  readonly texts_indexed_through: number;
  /** How many candidates wait for a person's verdict; absent while the index is being built. */
  readonly pending?: number;
  /** The same as `pending`. */
  readonly memories_waiting?: number;
  /** `cut_off` if the log lacks what it once had; recording continues. Absent if there is no warning. */
  readonly warnings?: readonly "cut_off"[];
  /** Why it is `degraded`, and what to do; empty if it is not. */
  readonly problems: readonly Problem[];
  /** Why nothing can be recorded or read at present; absent if that is possible. */
  readonly trouble?: string;
}

interface Problem {
  /** Of an altered entry, a log that was cut, an index that is behind, or why the log cannot be used. */
  readonly code: string;
  /** Of the altered entry. */
  readonly position?: number;
  readonly message: string;
  readonly hint: string;
}

/** What waits, and how far behind the index is. */
export interface Load {
  readonly capture: CommitLoad;
  readonly tails: number;
}

/** How long a failed commit counts. After that, without another attempt, the store may have recovered. */
const TROUBLE_MS = 30_000;
/** A commit takes milliseconds. One that takes this long is stuck behind another program or a disk that does not answer. */
const STUCK_MS = 5_000;

export class Monitoring {
  readonly #parts: MonitoringParts;
  /** The last known values, while current ones are unavailable. */
  #position = 0;
  #indexedThrough = 0;
  #textsThrough = 0;
  #trouble: { readonly code: string; readonly atMs: number } | undefined;

  constructor(parts: MonitoringParts) {
    this.#parts = parts;
    parts.commit.watch((report) => {
      this.#position = Math.max(this.#position, report.position ?? 0);
      this.#trouble = report.fault === undefined ? undefined : { code: report.fault, atMs: performance.now() };
    });
  }

  async health(): Promise<Health> {
    const { log, calls, altered } = this.#parts;
    const head = await log.head().catch((error: unknown) => (error instanceof Fault ? error.code : "store_failed"));
    const [index, pending, isContradicted] = await Promise.all([
      calls.indexState().catch(() => undefined),
      calls.pendingMemories().catch(() => undefined),
      this.#parts.isContradicted().catch(() => false),
    ]);
    if (typeof head !== "string") this.#position = head.position;
    if (index !== undefined) {
      this.#indexedThrough = index.indexed_through;
      this.#textsThrough = index.texts_through;
    }
    const trouble = typeof head === "string" ? head : (log.fault?.()?.code ?? this.#recentTrouble());
    const problems = [
      ...(trouble === undefined ? [] : [unusable(trouble)]),
      ...(isContradicted ? [CUT_OFF] : []),
      ...(altered.position === undefined ? [] : [alteredAt(altered.position)]),
      ...(index?.is_whole === true ? [] : [indexBehind(this.#position - this.#indexedThrough)]),
    ];
    return {
      status: problems.length === 0 ? "ok" : "degraded",
      position: this.#position,
      indexed_through: this.#indexedThrough,
      texts_indexed_through: this.#textsThrough,
      ...(pending === undefined ? {} : { pending, memories_waiting: pending }),
      ...(isContradicted ? { warnings: ["cut_off"] } : {}),
      problems,
      ...(trouble === undefined ? {} : { trouble }),
    };
  }

  load(): Load {
    return { capture: this.#parts.commit.load, tails: this.#parts.tails() };
  }

  /** Position through which texts are indexed; searches scan the rest. */
  async textsThrough(): Promise<number> {
    return (await this.#parts.calls.indexState()).texts_through;
  }

  /** Calls back for every commit, until the returned function is called. */
  watchCommits(heard: (report: CommitReport) => void): () => void {
    return this.#parts.commit.watch(heard);
  }

  /** Calls back for everything recorded through this recorder, if enabled, until the returned function is called. */
  watchRecorded(onRecorded: OnRecorded, isWanted: () => boolean): () => void {
    return this.#parts.recorded.add(onRecorded, isWanted);
  }

  #recentTrouble(): string | undefined {
    if (this.#parts.commit.commitMs > STUCK_MS) return "store_busy";
    const trouble = this.#trouble;
    return trouble !== undefined && performance.now() - trouble.atMs < TROUBLE_MS ? trouble.code : undefined;
  }
}

const CUT_OFF: Problem = {
  code: "cut_off",
  message: "the log was truncated or replaced",
  hint: "Run `hansard doctor` for what to do.",
};

function unusable(code: string): Problem {
  const message = "the log cannot be read or written";
  return { code, message, hint: "Nothing is recorded until it can; run `hansard doctor` for what to do." };
}

function indexBehind(entries: number): Problem {
  const lag = entries > 0 ? ` (${entries} entries behind)` : "";
  return {
    code: "index_behind",
    message: `the index is incomplete${lag}, so lists may lack older entries`,
    hint: "It is completed by itself; if this lasts, run `hansard doctor`.",
  };
}

function alteredAt(position: number): Problem {
  return {
    code: "entry_altered",
    position,
    message: `entry ${position} was altered: it does not match its hash`,
    hint: "Run `hansard verify`, then `hansard doctor` for what to do.",
  };
}

interface MonitoringParts {
  readonly log: EntryLog;
  readonly altered: AlteredNote;
  readonly calls: Calls;
  readonly commit: GroupCommit;
  readonly recorded: RecordedHooks;
  /** How many callers follow the log. */
  readonly tails: () => number;
  /** Whether the log was found to be truncated or replaced. */
  readonly isContradicted: () => Promise<boolean>;
}
