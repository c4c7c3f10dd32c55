// Calls about traces to the thread that has the index. They belong to no surface.
import type { AnswerContext, CallsOf } from "../reading/call-table.js";
import type { SettledNote, SettleQuery, TraceReader } from "./trace-reader.js";

export interface TraceReaders {
  /** Loaded when it is first needed: most stores have no traces. */
  readonly traces: () => Promise<TraceReader>;
}

type Parts = AnswerContext<TraceReaders>;

export const traceCalls = {
  /** Derives the traces that are due. */
  settleTraces: ({ index }: Parts, query: SettleQuery) =>
    index.whole(async ({ traces }) => (await traces()).settle(query)),
  /** What was derived before, in a range of the log. */
  settledTraces: ({ log, index }: Parts, range: { readonly after: number; readonly limit: number }) =>
    index.whole(async ({ traces }) => (await traces()).notes(log, range)),
  /** What a trace becomes now. */
  traceAgain: ({ index }: Parts, note: SettledNote) => index.whole(async ({ traces }) => (await traces()).again(note)),
};

export type TraceCalls = CallsOf<typeof traceCalls>;
