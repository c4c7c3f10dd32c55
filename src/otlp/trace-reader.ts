// Finds open traces that are to be derived, reads their spans, and says which entries they become.

import type { EntryIndex } from "../index/port.js";
import { documentToSession, SESSIONS } from "../index/session-fold.js";
import { listOpenTraces, type OpenTrace, TRACES } from "../index/trace-fold.js";
import type { EntryLog } from "../log/port.js";
import { idClaim } from "../model/claims.js";
import { isJsonObject, type JsonObject, parseJsonObject } from "../model/json.js";
import { notedIds, settledEntryId, spanEntryId, telemetrySources } from "../model/telemetry.js";
import { type AssemblyParts, assemble, type DerivedEntry, type SettledTrace } from "./assembly.js";
import { callId, toolId } from "./derived-entries.js";
import { isSpan, type LogItem, type SpanItem, toTelemetryItem } from "./telemetry-items.js";
import { timeOfNanos } from "./times.js";

/** What an open trace becomes. The last entry notes that it was derived. */
export interface SettledGroup {
  readonly group: string;
  readonly entries: readonly DerivedEntry[];
}

export interface SettleStep {
  readonly settled: readonly SettledGroup[];
  /** When the next trace is due; undefined if none is open. */
  readonly next_ms: number | undefined;
}

/** A trace that was derived, and its raw entries. */
export interface SettledNote {
  readonly group: string;
  readonly ids: readonly string[];
}

export interface SettledNotes {
  readonly notes: readonly SettledNote[];
  /** Undefined at the end of the log. */
  readonly through: number | undefined;
}

export interface SettleQuery {
  readonly now_ms: number;
}

/** With more open traces, those that would be derived first are, although more may come. */
const OPEN_MAX = 100_000;
/** Traces and bytes in one step: other calls of the thread run in between. */
const STEP_TRACES = 128;
const STEP_BYTES = 8 * 1024 * 1024;
const PAGE = 200;

type Log = Pick<EntryLog, "getBodies" | "find">;

export class TraceReader {
  readonly #log: Log;
  readonly #index: EntryIndex;
  readonly #openMax: number;

  constructor(parts: {
    readonly log: Log;
    readonly index: EntryIndex;
    /** 100,000 by default. */
    readonly open_max?: number;
  }) {
    this.#log = parts.log;
    this.#index = parts.index;
    this.#openMax = parts.open_max ?? OPEN_MAX;
  }

  async settle({ now_ms }: SettleQuery): Promise<SettleStep> {
    const open = await listOpenTraces(this.#index, STEP_TRACES);
    const count = open.length < STEP_TRACES ? 0 : await this.#index.countDocuments(TRACES);
    const settled: SettledGroup[] = [];
    let bytes = 0;
    for (const trace of open) {
      if (bytes >= STEP_BYTES || (trace.due_ms > now_ms && count - settled.length <= this.#openMax))
        return { settled, next_ms: trace.due_ms };
      const read = await this.#settleTrace(trace, STEP_BYTES);
      bytes += read.bytes;
      settled.push(read.settled);
    }
    // There may be more.
    return { settled, next_ms: open.length < STEP_TRACES ? undefined : now_ms };
  }

  /** Notes of what was derived, in a range of the log. */
  async notes(
    log: Pick<EntryLog, "readBodies">,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<SettledNotes> {
    const bodies = await log.readBodies({ after, limit, bytes_max: STEP_BYTES });
    const notes = bodies.flatMap(({ kind, body = "" }): readonly SettledNote[] => {
      if (kind !== "raw" || !body.includes(telemetrySources.settled)) return [];
      const { source, record } = parseJsonObject(body) ?? {};
      if (source !== telemetrySources.settled || !isJsonObject(record) || typeof record.group !== "string") return [];
      return [{ group: record.group, ids: notedIds(record) }];
    });
    return { notes, through: bodies.at(-1)?.position };
  }

  /** What a trace becomes with this version's mapping, without a note. */
  async again({ group, ids }: SettledNote): Promise<readonly DerivedEntry[]> {
    const found = await this.#log.find(ids.map(idClaim));
    const waiting = found.filter((position) => position !== undefined).sort((one, other) => one - other);
    const { settled } = await this.#settleTrace({ group, waiting, due_ms: 0 }, Number.POSITIVE_INFINITY);
    return settled.entries.filter(({ input }) => input.source !== telemetrySources.settled);
  }

  async #settleTrace(
    { group, waiting }: OpenTrace,
    bytesMax: number,
  ): Promise<{ readonly settled: SettledGroup; readonly bytes: number }> {
    const { spans, logs, through, bytes } = await this.#read(waiting, bytesMax);
    const { trace, isNew } = await this.#settledBefore(group);
    // Records of spans that came before change what those say.
    spans.push(...(await this.#spansOf(logs, spans)));
    const known_ids = isNew ? new Set<string>() : await this.#knownParents(spans);
    const transcribed = await this.#transcribed([...spans, ...logs]);
    const isTranscribed = (session_id: string): boolean => transcribed.has(session_id);
    const parts = { group, spans, logs, settled: trace, known_ids, isTranscribed };
    const noteId = settledEntryId(group, isNew ? undefined : through);
    return { settled: { group, entries: derived(parts, { through, noteId }) }, bytes };
  }

  async #read(
    waiting: readonly number[],
    bytesMax: number,
  ): Promise<{ spans: SpanItem[]; logs: LogItem[]; through: number; bytes: number }> {
    const spans: SpanItem[] = [];
    const logs: LogItem[] = [];
    let through = waiting[0] ?? 0;
    let bytes = 0;
    for (let used = 0; used < waiting.length && bytes < bytesMax; ) {
      const bodies = await this.#log.getBodies(waiting.slice(used, used + PAGE), STEP_BYTES);
      for (const stored of bodies) {
        bytes += stored?.body?.length ?? 0;
        const item = stored === undefined ? undefined : toTelemetryItem(stored);
        if (item !== undefined) (isSpan(item) ? spans : (logs as (SpanItem | LogItem)[])).push(item as never);
      }
      used += bodies.length;
      through = waiting[used - 1] ?? through;
    }
    return { spans, logs, through, bytes };
  }

  /** What is known of the trace from when it was derived first. */
  async #settledBefore(group: string): Promise<{ readonly trace: SettledTrace | undefined; readonly isNew: boolean }> {
    const [position] = await this.#log.find([idClaim(settledEntryId(group))]);
    if (position === undefined) return { trace: undefined, isNew: true };
    const [stored] = await this.#log.getBodies([position]);
    const record = parseJsonObject(stored?.body)?.record;
    // A note that came with a key is not the server's.
    const isForeign = (stored?.recorded_by ?? "") !== "";
    if (isForeign || !isJsonObject(record) || typeof record.session_id !== "string")
      return { trace: undefined, isNew: false };
    const { session_id, is_fallback, has_failed } = record;
    return { trace: { session_id, is_fallback: is_fallback === true, has_failed: has_failed === true }, isNew: false };
  }

  /** The spans of log records that are not among them, as far as they have come. */
  async #spansOf(logs: readonly LogItem[], spans: readonly SpanItem[]): Promise<readonly SpanItem[]> {
    const there = new Set(spans.map(({ id }) => id));
    const ids = new Set<string>();
    for (const { trace_id, span_id } of logs) {
      const id = spanEntryId(trace_id, span_id);
      if (trace_id !== "" && span_id !== "" && !there.has(id)) ids.add(id);
    }
    if (ids.size === 0) return [];
    const found = await this.#log.find([...ids].slice(0, PAGE).map(idClaim));
    const positions = found.filter((position) => position !== undefined);
    if (positions.length === 0) return [];
    const bodies = await this.#log.getBodies(positions, STEP_BYTES);
    return bodies.flatMap((stored) => {
      const item = stored === undefined ? undefined : toTelemetryItem(stored);
      return item !== undefined && isSpan(item) ? [item] : [];
    });
  }

  /** Entries of parents that were derived before. */
  async #knownParents(spans: readonly SpanItem[]): Promise<ReadonlySet<string>> {
    const there = new Set(spans.map(({ span_id }) => span_id));
    const ids = new Set<string>();
    for (const { trace_id, parent_span_id } of spans) {
      if (parent_span_id === "" || there.has(parent_span_id)) continue;
      const raw_id = spanEntryId(trace_id, parent_span_id);
      ids.add(callId(raw_id, undefined)).add(toolId(raw_id, undefined));
    }
    const listed = [...ids];
    const found = listed.length === 0 ? [] : await this.#log.find(listed.map(idClaim));
    return new Set(listed.filter((_, at) => found[at] !== undefined));
  }

  /** Sessions that an importer reads from the program's own files. */
  async #transcribed(items: readonly (SpanItem | LogItem)[]): Promise<ReadonlySet<string>> {
    const keys = new Set(items.flatMap(({ labels }) => labels.session_id ?? []));
    if (keys.size === 0) return new Set();
    const documents = await this.#index.getDocuments({ collection: SESSIONS, keys: [...keys].slice(0, PAGE) });
    return new Set(documents.flatMap((document) => (documentToSession(document).has_source ? [document.key] : [])));
  }
}

/** What a trace becomes, and notes that it was derived: one for each session, the trace's own at the end. */
function derived(
  parts: AssemblyParts,
  { through, noteId }: { readonly through: number; readonly noteId: string },
): readonly DerivedEntry[] {
  const { group, settled } = parts;
  const note = (id: string, session_id: string, items: readonly Item[], more: JsonObject): DerivedEntry => {
    const spans = items.filter(isSpan).map(({ span_id }) => span_id);
    const logs = items.flatMap((item) => (isSpan(item) ? [] : [item.id.slice("otlp:log:".length)]));
    // Forgetting a session takes its raw entries along, by their names here.
    const record = { group, ...more, spans, logs };
    const labels = session_id === "" ? {} : { session_id };
    const entry = { kind: "raw", id, source: telemetrySources.settled, ...labels, ...newestTime(items), record };
    return { recorded_by: undefined, input: entry };
  };
  try {
    const { entries, session_id, is_fallback, has_failed, by_session } = assemble(parts);
    const own = by_session.get(session_id) ?? [];
    const others = [...by_session].filter(([other]) => other !== session_id);
    const known = { session_id, is_fallback, has_failed: has_failed || settled?.has_failed === true };
    // A trace that means nothing makes no session.
    const label = is_fallback && entries.length === 0 ? "" : session_id;
    return [
      ...entries,
      ...others.map(([other, items], nth) => note(`${noteId}:${nth + 1}`, other, items, {})),
      note(noteId, label, own, { through, ...known }),
    ];
  } catch (error) {
    // Spans are anybody's data. What cannot be read stays raw, and keeps nothing else back.
    const problem = error instanceof Error ? error.message.slice(0, PROBLEM_CHARS_MAX) : String(error);
    return [note(noteId, "", [...parts.spans, ...parts.logs], { through, problem })];
  }
}

type Item = SpanItem | LogItem;

/** A note belongs to the time of what it is about: a session does not go on because of it. */
function newestTime(items: readonly Item[]): { readonly created_at?: string } {
  const times = items.flatMap((item) => timeOfNanos(isSpan(item) ? item.start : item.time) ?? []);
  const newest = times.sort().at(-1);
  return newest === undefined ? {} : { created_at: newest };
}

const PROBLEM_CHARS_MAX = 300;
