// Assembles a trace: what its spans and log records mean together, as entries in the order in which things began.
import { groupOf } from "../model/telemetry.js";
import {
  bareCallOf,
  callId,
  errorOf,
  feedbackOf,
  hasContent,
  interactionOf,
  messageOf,
  type Setting,
  toolCallOf,
  toolId,
} from "./derived-entries.js";
import { meaningOf, meaningsOf } from "./dialects/registry.js";
import { evaluationsOf } from "./evaluations.js";
import type { Labels } from "./labels.js";
import type { CallMeaning, LogMeaning, SpanMeaning, ToolMeaning } from "./meaning.js";
import type { RawEntry } from "./raw-entries.js";
import { type SpanNode, SpanTree } from "./span-tree.js";
import { failureOf, type LogItem, type SpanItem } from "./telemetry-items.js";
import { durationOf, msOfNanos, timeOfNanos } from "./times.js";

/** What was derived of the trace before. */
export interface SettledTrace {
  readonly session_id: string;
  /** Whether no span had named a session. */
  readonly is_fallback: boolean;
  readonly has_failed: boolean;
}

export interface AssemblyParts {
  /** The trace, or for log records without one a name of their session. */
  readonly group: string;
  readonly spans: readonly SpanItem[];
  readonly logs: readonly LogItem[];
  readonly settled: SettledTrace | undefined;
  /** Ids of entries that were derived from parents that are not among the spans. */
  readonly known_ids: ReadonlySet<string>;
  /** Whether the session's messages and tool runs come from its transcript. */
  readonly isTranscribed: (session_id: string) => boolean;
}

export interface DerivedEntry {
  readonly input: RawEntry;
  readonly recorded_by: string | undefined;
}

export interface Assembly {
  readonly entries: readonly DerivedEntry[];
  readonly session_id: string;
  readonly is_fallback: boolean;
  readonly has_failed: boolean;
  /** The spans and records of each session. */
  readonly by_session: ReadonlyMap<string, readonly (SpanItem | LogItem)[]>;
}

/** A reading of a span or record, on its way to become an entry. */
interface Reading {
  readonly setting: Setting;
  readonly start_ms: number;
  readonly recorded_by: string | undefined;
  readonly position: number;
  meaning: SpanMeaning | LogMeaning;
  readonly span: SpanItem | undefined;
}

export function assemble(parts: AssemblyParts): Assembly {
  return new TraceAssembly(parts).assemble();
}

class TraceAssembly {
  readonly #parts: AssemblyParts;
  readonly #tree: SpanTree;
  readonly #session: { readonly session_id: string; readonly is_fallback: boolean };
  readonly #out: (DerivedEntry & { readonly start_ms: number; readonly position: number })[] = [];
  readonly #lacks = new Map<string, { readonly reading: Reading; readonly what: Set<string> }>();

  constructor(parts: AssemblyParts) {
    this.#parts = parts;
    this.#tree = new SpanTree(parts.spans, meaningOf);
    this.#session = this.#sessionOfTrace();
  }

  assemble(): Assembly {
    for (const log of this.#parts.logs) this.#tree.node(log.span_id)?.span.logs.push(log);
    // Records change what their spans say.
    this.#tree.read();
    const readings = this.#merged([...this.#spanReadings(), ...this.#logReadings()]);
    this.#giveDocuments(readings);
    for (const reading of readings) this.#write(reading);
    for (const node of this.#tree.nodes) this.#writeFailure(node);
    this.#linkLateRoot();
    this.#noteLacks();
    const entries = this.#out.sort((one, other) => one.start_ms - other.start_ms || one.position - other.position);
    const has_failed = this.#tree.nodes.some(({ span, reading }) => span.is_failed && reading !== undefined);
    return {
      ...this.#session,
      has_failed,
      by_session: this.#bySession(),
      // Feedback names an entry, which has to come first.
      entries: [...entries.filter(({ input }) => input.kind !== "feedback"), ...entries.filter(isFeedback)].map(
        ({ input, recorded_by }) => ({ input, recorded_by }),
      ),
    };
  }

  /** What the trace as a whole belongs to: a late span to what came before it. */
  #sessionOfTrace(): { readonly session_id: string; readonly is_fallback: boolean } {
    const { group, spans, logs, settled } = this.#parts;
    if (settled !== undefined) return settled;
    const roots = spans.filter(({ parent_span_id }) => parent_span_id === "");
    const named = [...roots, ...spans, ...logs].find(({ labels }) => labels.session_id !== undefined);
    const session_id = named?.labels.session_id;
    return session_id === undefined ? { session_id: group, is_fallback: true } : { session_id, is_fallback: false };
  }

  #bySession(): ReadonlyMap<string, readonly (SpanItem | LogItem)[]> {
    const { spans, logs } = this.#parts;
    const items = new Map<string, (SpanItem | LogItem)[]>();
    for (const item of [...spans, ...logs]) {
      const { session_id = "" } = this.#labelsOf(item);
      const own = items.get(session_id);
      if (own === undefined) items.set(session_id, [item]);
      else own.push(item);
    }
    return items;
  }

  /** Its own, its parents', or the trace's. */
  #labelsOf(item: SpanItem | LogItem): Labels {
    const above = this.#tree.withAncestors(item.span_id);
    const items = [item, ...above];
    const first = <N extends keyof Labels>(name: N): Labels[N] | undefined =>
      items.find(({ labels }) => labels[name] !== undefined)?.labels[name];
    const { settled } = this.#parts;
    const own = settled?.is_fallback === true ? undefined : first("session_id");
    const labels: { [N in keyof Labels]?: Labels[N] | undefined } = {
      session_id: own ?? this.#session.session_id,
      user_id: first("user_id") ?? this.#tree.anyLabel("user_id"),
      project: first("project"),
      client: first("client"),
      tags: first("tags") ?? this.#tree.anyLabel("tags"),
    };
    return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined)) as Labels;
  }

  *#spanReadings(): Generator<Reading> {
    for (const { span, reading } of this.#tree.nodes) {
      if (reading === undefined) continue;
      const meaning = this.#tree.meaningOf(span.span_id) as SpanMeaning;
      yield {
        setting: this.#settingOf(span, reading.dialect),
        start_ms: msOfNanos(span.start) ?? Number.MAX_SAFE_INTEGER,
        recorded_by: span.recorded_by,
        position: span.position,
        meaning,
        span,
      };
    }
  }

  *#logReadings(): Generator<Reading> {
    const { logs, spans } = this.#parts;
    for (const { log, meaning, dialect } of meaningsOf(logs, spans)) {
      const labels = this.#labelsOf(log);
      // A transcript tells of the same words and runs, and more of them.
      const isKnown = (meaning.is === "message" || meaning.is === "tool") && dialect !== "gen-ai";
      if (isKnown && this.#parts.isTranscribed(labels.session_id ?? "")) continue;
      yield {
        setting: {
          raw_id: log.id,
          labels,
          parent_id: this.#parentOf(log.span_id, log.trace_id, true),
          created_at: timeOfNanos(log.time),
          duration_ms: undefined,
          failure: undefined,
          name: log.event,
          dialect,
        },
        start_ms: msOfNanos(log.time) ?? Number.MAX_SAFE_INTEGER,
        recorded_by: log.recorded_by,
        position: log.position,
        meaning,
        span: undefined,
      };
    }
  }

  #settingOf(span: SpanItem, dialect: string): Setting {
    return {
      raw_id: span.id,
      labels: this.#labelsOf(span),
      parent_id: this.#parentOf(span.parent_span_id, span.trace_id, false),
      created_at: timeOfNanos(span.start),
      duration_ms: durationOf(span.start, span.end),
      failure: failureOf(span),
      name: span.name,
      dialect,
    };
  }

  /** The nearest entry above, or what it is in directly: an agent's step has no entry but its raw one. */
  #parentOf(parent_span_id: string, trace_id: string, isRecord: boolean): string | undefined {
    if (parent_span_id === "" || trace_id === "") return undefined;
    for (const span of this.#tree.withAncestors(parent_span_id)) {
      const meaning = this.#tree.meaningOf(span.span_id);
      if (meaning?.is === "tool") return toolId(span.id, meaning.unique);
      if (meaning?.is === "call" && hasContent(meaning) && !isRecord) return callId(span.id, meaning.unique);
      const found = [callId(span.id, undefined), toolId(span.id, undefined)].find((id) =>
        this.#parts.known_ids.has(id),
      );
      if (found !== undefined) return found;
    }
    const raw = `otlp:${trace_id}:${parent_span_id}`;
    const known = [callId(raw, undefined), toolId(raw, undefined)].find((id) => this.#parts.known_ids.has(id));
    return known ?? raw;
  }

  /** Several spans and records may tell of one call or run: the first that has something says it. */
  #merged(readings: readonly Reading[]): readonly Reading[] {
    const byUnique = new Map<string, Reading>();
    const left: Reading[] = [];
    for (const reading of readings) {
      const { meaning } = reading;
      const unique = meaning.is === "call" || meaning.is === "tool" ? meaning.unique : undefined;
      const key = unique === undefined ? undefined : `${meaning.is} ${unique}`;
      const before = key === undefined ? undefined : byUnique.get(key);
      if (before === undefined) {
        left.push(reading);
        if (key !== undefined) byUnique.set(key, reading);
      } else before.meaning = mergedMeaning(before.meaning, meaning);
    }
    return left;
  }

  /** What was looked up goes to the call that could use it: the next one to begin. */
  #giveDocuments(readings: readonly Reading[]): void {
    const calls = readings
      .filter(({ meaning }) => meaning.is === "call" && hasContent(meaning))
      .sort((one, other) => one.start_ms - other.start_ms);
    for (const { meaning, span, setting } of readings) {
      const found =
        meaning.is === "retrieval"
          ? meaning.documents
          : meaning.is === "memory" && meaning.is_read
            ? meaning.records
            : [];
      if (found.length === 0 || span === undefined) continue;
      const end_ms = msOfNanos(span.end) ?? msOfNanos(span.start) ?? 0;
      const own = calls.filter((call) => call.setting.labels.session_id === setting.labels.session_id);
      const user = own.find(({ start_ms }) => start_ms >= end_ms) ?? own.at(-1);
      if (user === undefined || user.meaning.is !== "call") continue;
      const name = meaning.is === "retrieval" ? "chunks" : "memories";
      user.meaning = { ...user.meaning, [name]: [...new Set([...(user.meaning[name] ?? []), ...found])] };
    }
  }

  #write(reading: Reading): void {
    const { meaning, setting, span } = reading;
    const entry = entryOf(meaning, setting);
    if (entry === undefined) return;
    this.#put(entry, reading);
    if (meaning.is === "call" && meaning.error !== undefined && span === undefined) {
      this.#put(errorOf(meaning.error, setting.name, setting), { ...reading, position: reading.position + 0.5 });
    }
    if (meaning.is === "call" && entry.kind === "raw") this.#lack(reading, ["prompts", "answers"]);
    if (meaning.is === "tool" && meaning.result === undefined && setting.failure === undefined) {
      this.#lack(reading, ["tool results"]);
    }
    if (span === undefined || entry.kind === "raw") return;
    for (const [nth, attributes] of evaluationsOf(span).entries()) {
      const feedback = feedbackOf(attributes, nth, String(entry.id), setting);
      if (feedback !== undefined) this.#put(feedback, reading);
    }
  }

  #put(
    input: RawEntry,
    { recorded_by, start_ms, position }: Pick<Reading, "recorded_by" | "start_ms" | "position">,
  ): void {
    this.#out.push({ input, recorded_by, start_ms, position });
  }

  #lack(reading: Reading, what: readonly string[]): void {
    const { session_id = "" } = reading.setting.labels;
    const before = this.#lacks.get(session_id) ?? { reading, what: new Set<string>() };
    this.#lacks.set(session_id, before);
    for (const one of what) before.what.add(one);
  }

  /** A failure becomes one error: where it happened, not by everything around it. A failed tool says so itself. */
  #writeFailure({ span, reading }: SpanNode): void {
    const error = failureOf(span);
    const given = this.#tree.meaningOf(span.span_id);
    const own = given?.is === "call" ? (given.error ?? error) : error;
    if (own === undefined || reading === undefined || given === undefined || given.is === "tool") return;
    if (this.#tree.hasFailedBelow(span.span_id)) return;
    const isLateStep = this.#parts.settled?.has_failed === true && given.is === "step";
    if (isLateStep) return;
    const start_ms = msOfNanos(span.start) ?? Number.MAX_SAFE_INTEGER;
    const { recorded_by, position } = span;
    // It comes after what failed.
    this.#put(errorOf(own, span.name, this.#settingOf(span, reading.dialect)), {
      recorded_by,
      start_ms,
      position: position + 0.5,
    });
  }

  /** The root came after the trace's session had to be made up: it says whose part that session is. */
  #linkLateRoot(): void {
    const { settled, spans, group } = this.#parts;
    if (settled?.is_fallback !== true) return;
    const root = spans.find(({ labels }) => labels.session_id !== undefined);
    const parent = root?.labels.session_id;
    if (root === undefined || parent === undefined || parent === settled.session_id) return;
    const created_at = timeOfNanos(root.start);
    const time = created_at === undefined ? {} : { created_at };
    const input = { kind: "session_info", id: `otlp:parent:${group}`, session_id: settled.session_id, ...time, parent };
    const { recorded_by, position } = root;
    this.#put(input, { recorded_by, start_ms: msOfNanos(root.start) ?? 0, position });
  }

  /** What its sender leaves out, once per session. */
  #noteLacks(): void {
    for (const [session_id, { reading, what }] of this.#lacks) {
      const lacks = [...what].sort();
      const id = `otlp:lacks:${groupOf({ session_id })}:${lacks.join("-").replaceAll(" ", "_")}`;
      const { created_at } = reading.setting;
      const time = created_at === undefined ? {} : { created_at };
      this.#put({ kind: "session_info", id, session_id, ...time, metadata: { telemetry: { lacks } } }, reading);
    }
  }
}

function isFeedback({ input }: DerivedEntry): boolean {
  return input.kind === "feedback";
}

/** Undefined for what has no entry of its own. */
function entryOf(meaning: SpanMeaning | LogMeaning, setting: Setting): RawEntry | undefined {
  switch (meaning.is) {
    case "call":
      return hasContent(meaning) ? interactionOf(meaning, setting) : bareCallOf(meaning, setting);
    case "tool":
      return toolCallOf(meaning, setting);
    case "message":
      return messageOf(meaning, setting);
    case "error":
      return errorOf(meaning.error, meaning.context ?? "", setting);
    default:
      return undefined;
  }
}

function mergedMeaning(one: Reading["meaning"], other: Reading["meaning"]): Reading["meaning"] {
  if (one.is === "call" && other.is === "call") return mergedCall(one, other);
  if (one.is === "tool" && other.is === "tool") return mergedTool(one, other);
  return one;
}

function mergedCall(one: CallMeaning, other: CallMeaning): CallMeaning {
  const [whole, rest] = hasContent(other) && !hasContent(one) ? [other, one] : [one, other];
  return { ...withoutGaps(rest), ...withoutGaps(whole), is: "call", messages: whole.messages };
}

/** The name may be missing in one, the result in another; it failed if any says so. */
function mergedTool(one: ToolMeaning, other: ToolMeaning): ToolMeaning {
  const is_error = one.is_error === true || other.is_error === true;
  const extra = { ...other.extra, ...one.extra };
  return {
    ...withoutGaps(other),
    ...withoutGaps(one),
    is: "tool",
    tool: one.tool || other.tool,
    args: one.args ?? other.args,
    result: one.result ?? other.result,
    ...(is_error ? { is_error } : {}),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function withoutGaps<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
