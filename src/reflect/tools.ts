// Tools: how often each was called and failed, and how long it took.

import type { EntryOf } from "../model/entry.js";
import { itemAt } from "../model/item-at.js";
import type { Citation, ToolFinding } from "../model/report.js";
import { CITED_MAX, citationOf, cite, excerpt, type Mask } from "./citations.js";

/** A tool is slow if half of its calls take at least this long, or one in twenty takes at least that long. */
const SLOW_MEDIAN_MS = 1_000;
const SLOW_P95_MS = 5_000;

/** Maximum number of distinct tools, the ones called last. */
const TOOLS_MAX = 1_000;
const SLOWEST_CITED = 5;

interface Tool {
  /** As spelt in the newest call. */
  readonly name: string;
  calls: number;
  readonly durations: number[];
  failures: number;
  readonly failed: Citation[];
  readonly newest: Citation[];
  /** The slowest calls, slowest first. */
  readonly slowest: { readonly ms: number; readonly citation: Citation }[];
}

/** Takes calls newest first. */
export class ToolTally {
  /** By their names, ignoring case. */
  readonly #tools = new Map<string, Tool>();
  readonly #mask: Mask;

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  add(entry: EntryOf<"tool_call">): void {
    const tool = this.#toolNamed(excerpt(entry.tool, this.#mask));
    if (tool === undefined) return;
    const citation = citationOf(entry);
    tool.calls += 1;
    if (tool.newest.length < SLOWEST_CITED) tool.newest.push(citation);
    if (entry.is_error === true) {
      tool.failures += 1;
      cite(tool.failed, citation);
    }
    if (entry.duration_ms === undefined) return;
    tool.durations.push(entry.duration_ms);
    keepSlowest(tool, { ms: entry.duration_ms, citation });
  }

  /** The ones that failed most first, then the ones called most. */
  finish(): readonly ToolFinding[] {
    return [...this.#tools.values()]
      .map(toReport)
      .sort(
        (left, right) =>
          right.failures - left.failures || right.calls - left.calls || (left.tool < right.tool ? -1 : 1),
      );
  }

  #toolNamed(name: string): Tool | undefined {
    const key = name.toLowerCase();
    const known = this.#tools.get(key);
    if (known !== undefined || this.#tools.size >= TOOLS_MAX) return known;
    const tool: Tool = { name, calls: 0, durations: [], failures: 0, failed: [], newest: [], slowest: [] };
    this.#tools.set(key, tool);
    return tool;
  }
}

function keepSlowest({ slowest }: Tool, call: Tool["slowest"][number]): void {
  const at = slowest.findIndex(({ ms }) => call.ms > ms);
  slowest.splice(at === -1 ? slowest.length : at, 0, call);
  slowest.length = Math.min(slowest.length, SLOWEST_CITED);
}

function toReport(tool: Tool): ToolFinding {
  const { name, calls, failures, failed, newest } = tool;
  const latency = latencyOf(tool.durations);
  const failure_rate = failures / calls;
  const is_failing = failures > 0;
  const is_slow = latency !== undefined && (latency.median_ms >= SLOW_MEDIAN_MS || latency.p95_ms >= SLOW_P95_MS);
  const slowest = is_slow ? tool.slowest.map(({ citation }) => citation) : [];
  const telling = [...failed, ...slowest.filter(({ position }) => failed.every((one) => one.position !== position))];
  const cited = (telling.length > 0 ? telling : newest).slice(0, CITED_MAX);
  const verdicts = { ...latency, is_failing, is_slow };
  return { tool: name, calls, failures, failure_rate, ...verdicts, cited, failed, slowest };
}

/** The median, with an even number the mean of the middle two; and the 95th percentile. */
function latencyOf(durations: readonly number[]): { readonly median_ms: number; readonly p95_ms: number } | undefined {
  if (durations.length === 0) return undefined;
  const sorted = [...durations].sort((left, right) => left - right);
  const at = (index: number): number => itemAt(sorted, index);
  const middle = Math.floor(sorted.length / 2);
  const median_ms = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
  return { median_ms, p95_ms: at(Math.ceil(sorted.length * 0.95) - 1) };
}
