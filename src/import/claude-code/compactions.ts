// Compactions of a conversation: a boundary, and behind it the summary that the model goes on from. The file keeps the lines
// before the boundary; which of them the model still has, the boundary says.

import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import type { ImportStep } from "../importer.js";
import { numberAt, objectAt, textAt } from "../transcript/fields.js";
import type { Origin, TranscriptSession } from "../transcript/transcript.js";

/** What a reading that goes on later has to know. */
export interface CompactionsState {
  readonly boundary: Boundary | undefined;
  readonly natives: ReadonlyMap<string, readonly string[]>;
}

interface Boundary {
  readonly origin: Origin;
  readonly record: JsonObject;
}

/** A boundary keeps only recent lines. */
const LINES_MAX = 2_000;

export class Compactions {
  readonly #session: TranscriptSession;
  #boundary: Boundary | undefined;
  /** The native ids of the entries that a line became, by its uuid. */
  readonly #natives: Map<string, readonly string[]>;

  constructor(session: TranscriptSession, known?: CompactionsState) {
    this.#session = session;
    this.#boundary = known?.boundary;
    this.#natives = new Map(known?.natives);
  }

  state(): CompactionsState {
    return { boundary: this.#boundary, natives: this.#natives };
  }

  get isOpen(): boolean {
    return this.#boundary !== undefined;
  }

  /** Notes which entry a line became. */
  note(line: string, native: string): void {
    const known = this.#natives.get(line) ?? [];
    if (known.includes(native)) return;
    const [oldest] = this.#natives.size < LINES_MAX ? [] : this.#natives.keys();
    if (oldest !== undefined) this.#natives.delete(oldest);
    this.#natives.set(line, [...known, native]);
  }

  /** Takes a boundary, whose summary may follow. */
  begin(origin: Origin, record: JsonObject): void {
    this.#boundary = { origin, record };
  }

  /** The summary of the boundary before it, or of one that was not written down. */
  *summarise(origin: Origin, summary: string): Generator<ImportStep> {
    const boundary = this.#boundary;
    this.#boundary = undefined;
    yield* this.#consolidate(boundary ?? { origin, record: {} }, summary);
  }

  /** Ends a boundary without a summary. */
  *close(): Generator<ImportStep> {
    const boundary = this.#boundary;
    this.#boundary = undefined;
    if (boundary !== undefined) yield* this.#consolidate(boundary, "");
  }

  *#consolidate({ origin, record }: Boundary, summary: string): Generator<ImportStep> {
    const metadata = objectAt(record, "compactMetadata");
    const natives = this.#keptLines(metadata).flatMap((line) => this.#natives.get(line) ?? []);
    const extra = { ...(summary === "" ? { has_summary: false } : {}), compaction: metadata };
    yield* this.#session.compact(
      { ...origin, extra },
      {
        summary,
        kept: natives.flatMap((native) => this.#session.idsOf(native)),
        trigger: textAt(metadata, "trigger"),
        tokens_before: numberAt(metadata, "preTokens"),
      },
    );
  }

  /** The lines that stay: those that are named, else all from the first to the last of a segment. */
  #keptLines(metadata: JsonObject): readonly string[] {
    const named = textsIn(objectAt(metadata, "preservedMessages").uuids);
    if (named.length > 0 || !isJsonObject(metadata.preservedSegment)) return named;
    const { headUuid: head, tailUuid: tail } = metadata.preservedSegment;
    const lines = [...this.#natives.keys()];
    const [from, to] = [lines.indexOf(String(head)), lines.lastIndexOf(String(tail))];
    return from === -1 || to < from
      ? lines.filter((line) => line === head || line === tail)
      : lines.slice(from, to + 1);
  }
}

function textsIn(list: JsonValue | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}
