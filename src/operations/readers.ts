// The readers of every subject, on top of one index.
import { ContextReader } from "../context/context-reader.js";
import type { EntryIndex } from "../index/port.js";
import { SessionTable } from "../index/session-table.js";
import type { MemoryJudge } from "../memories/judge/memory-judge.js";
import { MemoryReader } from "../memories/review/memory-reader.js";
import type { Mask } from "../model/mask.js";
import type { TraceReaders } from "../otlp/trace-calls.js";
import { ReflectionReader } from "../reflect/read/reflection-reader.js";
import { EntryReader } from "../search/lists/entry-reader.js";
import { Reader, type ReadingParts } from "../search/lists/reader.js";
import { Searcher } from "../search/searcher.js";
import { HistoryReader } from "../sessions/history/history.js";
import { SessionReader } from "../sessions/session-reader.js";
import { CallLedger } from "../usage/call-ledger.js";
import type { PriceFile } from "../usage/price-file.js";
import { UsageReader } from "../usage/usage-reader.js";

/** An index, and what reads it as it stands. */
export interface Readers {
  readonly index: EntryIndex;
  readonly mask: Mask;
  readonly entries: Reader;
  readonly sessions: SessionReader;
  readonly histories: HistoryReader;
  readonly reflections: ReflectionReader;
  readonly searches: Searcher;
  readonly contexts: ContextReader;
  readonly usage: UsageReader;
  readonly memories: MemoryReader;
  /** Loaded when it is first needed: with its tables of words it takes longer than a command may take to start. */
  readonly review: () => Promise<MemoryJudge>;
  readonly traces: TraceReaders["traces"];
}

export function readersOf(parts: ReadingParts & { readonly prices?: PriceFile | undefined }): Readers {
  const memories = new MemoryReader(parts);
  const entries = new EntryReader(parts);
  const table = new SessionTable(parts.index);
  const ledger = new CallLedger(parts);
  let judge: Promise<MemoryJudge> | undefined;
  let traces: ReturnType<TraceReaders["traces"]> | undefined;
  return {
    index: parts.index,
    mask: parts.mask,
    entries: new Reader(parts),
    sessions: new SessionReader({ ...parts, table, ledger }),
    histories: new HistoryReader(parts),
    reflections: new ReflectionReader(parts),
    searches: new Searcher(parts),
    contexts: new ContextReader(parts),
    usage: new UsageReader({ ...parts, table, ledger }),
    memories,
    review() {
      judge ??= import("../memories/judge/memory-judge.js").then(
        ({ MemoryJudge }) => new MemoryJudge({ ...parts, memories, entries }),
      );
      return judge;
    },
    traces() {
      traces ??= import("../otlp/trace-reader.js").then(({ TraceReader }) => new TraceReader(parts));
      return traces;
    },
  };
}
