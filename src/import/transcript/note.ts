// What a reading that goes on later has to know of a transcript: plain data, from which it is taken up again.
import type { EntryStep } from "../importer.js";
import type { OccurrencesNote } from "../occurrences.js";
import type { Said, ToolCall } from "./said.js";
import type { Origin, SessionFacts } from "./transcript.js";

/** A step of a session, with the native id by which it may turn out to be another's. */
export interface OwnStep extends EntryStep {
  readonly native?: string | undefined;
}

/** What a reading that goes on later has to know of a transcript, and of each of its sessions. */
export interface TranscriptNote {
  readonly last_ms: number | undefined;
  readonly counts: OccurrencesNote;
}

export interface SessionNote {
  readonly session_id: string;
  readonly native_id: string | undefined;
  readonly parent_id: string | undefined;
  readonly project: string;
  readonly facts: SessionFacts | undefined;
  readonly calls: ReadonlyMap<string, ToolCall>;
  readonly open: OpenAnswer | undefined;
  readonly waiting: readonly Pick<OwnStep, "line" | "entry" | "native">[];
}

export interface OpenAnswer {
  readonly key: string;
  readonly origin: Origin;
  said: Said;
}
