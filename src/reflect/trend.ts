// Trend: counts of the reviewed entries compared with the same number before them, and their course over time.

import type { Entry } from "../model/entry.js";
import { itemAt } from "../model/item-at.js";
import type { Citation, Cited, ConfidenceSpread, Counts, TimeSlot, TrendChange } from "../model/report.js";
import { isFromUser, readRole } from "../model/roles.js";
import { CONFIDENCE_LOW } from "../model/states.js";
import { formatTime } from "../model/time.js";
import { citationOf, cite, failureOf } from "./citations.js";

const SLOTS_MAX = 24;
const TENTHS = 10;

export function isLowConfidence(entry: Entry): boolean {
  const confidence = assistantConfidence(entry);
  return confidence !== undefined && confidence < CONFIDENCE_LOW;
}

export function assistantConfidence(entry: Entry): number | undefined {
  return entry.kind === "message" && readRole(entry.role) === "assistant" ? entry.confidence : undefined;
}

/** Counts of entries, and the newest ones with a problem. Takes entries newest first. */
export class Tally {
  readonly #counts = { reviewed: 0, users: 0, responses: 0 };
  readonly #cited = {
    errors: { count: 0, cited: [] as Citation[] },
    low_confidence: { count: 0, cited: [] as Citation[] },
    failed_tool_calls: { count: 0, cited: [] as Citation[] },
  };

  add(entry: Entry): void {
    this.#counts.reviewed += 1;
    if (isFromUser(entry)) this.#counts.users += 1;
    if (isAnswer(entry)) this.#counts.responses += 1;
    if (failureOf(entry) !== undefined) this.#cite("errors", entry);
    if (isLowConfidence(entry)) this.#cite("low_confidence", entry);
    if (entry.kind === "tool_call" && entry.is_error === true) this.#cite("failed_tool_calls", entry);
  }

  get counts(): Counts {
    const { errors, low_confidence, failed_tool_calls } = this.#cited;
    return {
      ...this.#counts,
      errors: errors.count,
      low_confidence: low_confidence.count,
      failed_tool_calls: failed_tool_calls.count,
    };
  }

  cited(measure: TrendChange["measure"]): readonly Citation[] {
    return this.#cited[measure].cited;
  }

  #cite(measure: TrendChange["measure"], entry: Entry): void {
    const known = this.#cited[measure];
    known.count += 1;
    cite(known.cited, citationOf(entry));
  }
}

/** An answer: an assistant's message, or an interaction with its response, whenever that came. */
function isAnswer(entry: Entry): boolean {
  // A failed call has no response.
  if (entry.kind === "interaction") return entry.response !== "" || ("response_id" in entry && entry.error === "");
  return entry.kind === "message" && readRole(entry.role) === "assistant";
}

/** What changed, by share of the entries; empty if there is nothing to compare with. */
export function changesBetween(now: Tally, before: Tally): readonly Cited<TrendChange>[] {
  if (now.counts.reviewed === 0 || before.counts.reviewed === 0) return [];
  const measures = ["errors", "low_confidence", "failed_tool_calls"] as const;
  return measures.flatMap((measure) => {
    const counted = { now: now.counts[measure], before: before.counts[measure] };
    if (counted.now === 0 && counted.before === 0) return [];
    // Multiplied instead of divided, so equal shares are equal.
    const change = counted.now * before.counts.reviewed - counted.before * now.counts.reviewed;
    const direction = change > 0 ? "up" : change < 0 ? "down" : "same";
    return [{ measure, ...counted, direction, cited: (counted.now > 0 ? now : before).cited(measure) }];
  });
}

/** When entries happened, which of them were errors, and how confident the assistant was. */
export class Timeline {
  readonly #times: number[] = [];
  readonly #errorTimes: number[] = [];
  readonly #confidences: { readonly ms: number; readonly confidence: number }[] = [];

  add(entry: Entry): void {
    const ms = Date.parse(entry.created_at);
    this.#times.push(ms);
    if (failureOf(entry) !== undefined) this.#errorTimes.push(ms);
    const confidence = assistantConfidence(entry);
    if (confidence !== undefined) this.#confidences.push({ ms, confidence });
  }

  confidence(): ConfidenceSpread {
    const tenths = Array.from({ length: TENTHS }, () => 0);
    for (const { confidence } of this.#confidences) {
      // Rounding may leave a product just below its tenth.
      const tenth = Math.min(TENTHS - 1, Math.max(0, Math.floor(confidence * TENTHS + 1e-9)));
      tenths[tenth] = itemAt(tenths, tenth) + 1;
    }
    return { rated: this.#confidences.length, tenths };
  }

  /** At most 24 slots of equal length from the first entry to the last. */
  finish(): readonly TimeSlot[] {
    if (this.#times.length === 0) return [];
    const first = this.#times.reduce((least, ms) => Math.min(least, ms), Number.POSITIVE_INFINITY);
    const last = this.#times.reduce((most, ms) => Math.max(most, ms), Number.NEGATIVE_INFINITY);
    const count = Math.min(SLOTS_MAX, last - first + 1);
    const width = (last - first + 1) / count;
    const slots = Array.from({ length: count }, () => ({ entries: 0, errors: 0, sum: 0, rated: 0 }));
    const slotAt = (ms: number) => itemAt(slots, Math.min(Math.floor((ms - first) / width), count - 1));
    for (const ms of this.#times) slotAt(ms).entries += 1;
    for (const ms of this.#errorTimes) slotAt(ms).errors += 1;
    for (const { ms, confidence } of this.#confidences) {
      const slot = slotAt(ms);
      slot.sum += confidence;
      slot.rated += 1;
    }
    return slots.map(({ entries, errors, sum, rated }, at) => ({
      from: formatTime(Math.ceil(first + at * width)),
      to: formatTime(at === count - 1 ? last : Math.ceil(first + (at + 1) * width) - 1),
      entries,
      errors,
      ...(rated === 0 ? {} : { confidence: sum / rated }),
    }));
  }
}
