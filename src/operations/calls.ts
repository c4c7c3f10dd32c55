// Every call that the reading side answers: operations, and what is asked by no surface.
import { verify } from "../log/verify.js";
import { type MemoryCalls, memoryCalls } from "../memories/memory-calls.js";
import { type TraceCalls, traceCalls } from "../otlp/trace-calls.js";
import type { AnswerContext, CallsOf } from "../reading/call-table.js";
import { type MaintenanceCalls, maintenanceCalls } from "../reading/maintenance.js";
import { operationCalls } from "./index.js";
import type { Readers } from "./readers.js";

type Parts = AnswerContext<Readers>;

const recordCalls = {
  /** The chain alone; what else is known of the log is looked at where it is written. */
  verifyChain: ({ log }: Parts) => verify(log),
  /** The summary with nothing masked, for exports that hand the record itself on. */
  recordedSummary: ({ index }: Parts, session_id: string) =>
    index.whole(({ sessions }) => sessions.recordedSummary(session_id)),
  planConsolidation: ({ index }: Parts, asked: { readonly session_id: string; readonly through: number }) =>
    index.whole(({ histories }) => histories.planConsolidation(asked.session_id, asked.through)),
};

export const calls = { ...operationCalls, ...recordCalls, ...memoryCalls, ...traceCalls, ...maintenanceCalls };

export type Calls = CallsOf<typeof recordCalls> & MemoryCalls & TraceCalls & MaintenanceCalls;
