// The shapes of the HTTP answers, for TypeScript clients: the page imports only these types.
import type { Caller } from "../../guard/keys.js";
import type { FaultCode } from "../../model/fault.js";
import type { RejectionCode } from "../../model/rejection.js";
import type { Diagnosis } from "../../model/verification.js";
import type { Operations } from "../../operations/index.js";
import type { AnswerTo } from "../../operations/operation.js";
import type { Health, Recorder } from "../../recorder/recorder.js";

export interface ErrorAnswer {
  readonly error: {
    readonly code: RejectionCode | FaultCode | "internal";
    readonly message: string;
    /** The field or parameter to change. */
    readonly field?: string | undefined;
    /** Index of the item in a batch, from 0. */
    readonly index?: number | undefined;
    readonly hint?: string | undefined;
    /** For a budget that is too small: the minimum. */
    readonly least?: number | undefined;
  };
}

/** `POST /entries`. */
export type EntriesRecorded = AnswerTo<Operations["appendEntries"]>;

/** `GET /interactions`. */
export type InteractionPage = AnswerTo<Operations["listInteractions"]>;

/** `GET /interactions/{id}`. */
export type InteractionAnswer = NonNullable<AnswerTo<Operations["getInteraction"]>>;

/** `GET /entries` and `GET /sessions/{id}/entries`. */
export type EntryPage = AnswerTo<Operations["listEntries"]>;

/** `GET /entries/{id}`. */
export type EntryAnswer = NonNullable<AnswerTo<Operations["getEntry"]>>;

/** `GET /entries/{id}/context`. */
export type ContextAnswer = NonNullable<AnswerTo<Operations["context"]>>;

/** `GET /entries/{id}/told`. */
export type ToldAnswer = NonNullable<AnswerTo<Operations["told"]>>;

/** `GET /sessions`. */
export type SessionPage = AnswerTo<Operations["listSessions"]>;

/** `GET /sessions/{id}`. */
export type SessionAnswer = NonNullable<AnswerTo<Operations["getSession"]>>;

/** `GET /sessions/{id}/outline`. */
export type OutlineAnswer = NonNullable<AnswerTo<Operations["getOutline"]>>;

/** `GET /sessions/{id}/history`: OpenAI's form, or Anthropic's with a separate system text. */
export type HistoryAnswer = AnswerTo<Operations["getHistory"]>;

/** `GET /search`. */
export type SearchAnswer = AnswerTo<Operations["search"]>;

/** `GET /session-history`. */
export type SessionHistoryAnswer = AnswerTo<Operations["sessionHistory"]>;

/** `GET /stats`. */
export type StatsAnswer = AnswerTo<Operations["count"]>;

/** `GET /reflection`. */
export type ReflectionAnswer = AnswerTo<Operations["reflect"]>;

/** `GET /usage`. */
export type UsageAnswer = AnswerTo<Operations["usage"]>;

/** `GET /memories`. */
export type MemoryPage = AnswerTo<Operations["listMemories"]>;

/** `GET /memories/{id}`. */
export type MemoryAnswer = NonNullable<AnswerTo<Operations["getMemory"]>>;

/** `POST /memories` and verdicts: the memory as it is now. */
export type MemorySummary = MemoryPage["memories"][number];

/** `POST /memories`: the memory, or which gate dropped it. */
export type ProposalAnswer = AnswerTo<Operations["addMemory"]>;

/** `GET /recall`. */
export type RecallAnswer = AnswerTo<Operations["recall"]>;

/** `GET /access`. */
export type AccessAnswer = Pick<Caller, "actor" | "scope"> & Partial<Awaited<ReturnType<Recorder["keys"]["list"]>>>;

/** `GET /verify`. */
export type VerifyAnswer = AnswerTo<Operations["verify"]>;

/** `GET /doctor`. */
export type DoctorAnswer = Diagnosis;

/** `GET /ready`. */
export interface ReadyAnswer {
  readonly ready: boolean;
  /** Why it cannot serve. */
  readonly trouble?: string;
}

/** `GET /health`. */
export type HealthAnswer = Health & { readonly version: string };
