// What reflection finds: the report as every surface gives it, and the findings it is made from.

/** An assistant's message whose confidence was strictly below 0.5. */
export interface LowConfidenceItem {
  readonly id: string;
  readonly position: number;
  readonly session_id: string;
  readonly created_at: string;
  readonly confidence: number;
  /** The first 120 characters. */
  readonly text: string;
  readonly entry_ids: readonly string[];
}

/** How sure the assistant said it was. */
export interface ConfidenceSpread {
  /** Messages with a confidence. */
  readonly rated: number;
  /** How many of them lie in each tenth, from below 0.1 to 0.9 and above. */
  readonly tenths: readonly number[];
}

/** Errors that say the same but for numbers, paths, ids and the like. */
export interface ErrorGroup {
  /** What they have in common; what differs is named: `<number>`, `<path>`, `<id>` … */
  readonly fingerprint: string;
  /** The newest of them. */
  readonly text: string;
  readonly count: number;
  readonly first_at: string;
  readonly last_at: string;
  /** Newest first, at most 100; `count` is the whole number. So it is with every finding. */
  readonly entry_ids: readonly string[];
}

/** A word that users said at least 3 times. */
export interface Topic {
  readonly word: string;
  readonly count: number;
  readonly entry_ids: readonly string[];
}

export interface ToolReport {
  readonly tool: string;
  readonly calls: number;
  readonly failures: number;
  /** Failures among the calls, 0 to 1. */
  readonly failure_rate: number;
  /** Absent where no call was timed. */
  readonly median_ms?: number;
  readonly p95_ms?: number;
  /** Whether any call failed. */
  readonly is_failing: boolean;
  readonly is_slow: boolean;
  /** The failed calls, the slowest ones of a slow tool; of others the newest. */
  readonly entry_ids: readonly string[];
}

/** An entry that somebody gave feedback below 0 on. */
export interface DislikedItem {
  readonly id: string;
  readonly position: number;
  readonly session_id: string;
  readonly created_at: string;
  /** What was said in it, the first 120 characters. */
  readonly text: string;
  /** Of the newest such feedback that says why, else of the newest; `""` where it has none. */
  readonly comment: string;
  readonly label: string;
  readonly score: number;
  /** The entry, then the feedback, newest first. */
  readonly entry_ids: readonly string[];
}

export interface DecisionReport {
  readonly id: string;
  readonly position: number;
  readonly session_id: string;
  readonly created_at: string;
  readonly decision: string;
  /** How many errors followed it. */
  readonly errors: number;
  /** The decision, then the errors in the order in which they followed. */
  readonly entry_ids: readonly string[];
}

export interface Counts {
  readonly reviewed: number;
  readonly users: number;
  readonly responses: number;
  readonly errors: number;
  readonly low_confidence: number;
  readonly failed_tool_calls: number;
}

export interface TrendChange {
  readonly measure: "errors" | "low_confidence" | "failed_tool_calls";
  readonly now: number;
  readonly before: number;
  /** By share of the entries, since there may be fewer before. */
  readonly direction: "up" | "down" | "same";
  readonly entry_ids: readonly string[];
}

/** A stretch of the reviewed time. */
export interface TimeSlot {
  readonly from: string;
  readonly to: string;
  readonly entries: number;
  readonly errors: number;
  /** Mean of the assistant's messages that have one; absent without any. */
  readonly confidence?: number;
}

export interface Trend {
  /** The entries before the reviewed ones, as many where there are. */
  readonly before: Counts;
  /** Empty where there was nothing before. */
  readonly changes: readonly TrendChange[];
  readonly timeline: readonly TimeSlot[];
}

export interface Insight {
  readonly text: string;
  readonly entry_ids: readonly string[];
}

export interface ReflectionReport {
  readonly reviewed: number;
  readonly users: number;
  readonly responses: number;
  readonly errors: number;
  /** Entries of other kinds that the same filters select, among those reviewed. */
  readonly passed_over: number;
  /** All of them counted, the newest five shown. */
  readonly low_confidence: { readonly count: number; readonly items: readonly LowConfidenceItem[] };
  readonly confidence: ConfidenceSpread;
  readonly error_groups: readonly ErrorGroup[];
  readonly topics: readonly Topic[];
  readonly tools: readonly ToolReport[];
  /** All of them counted, the newest five shown. */
  readonly disliked: { readonly count: number; readonly items: readonly DislikedItem[] };
  readonly decisions: readonly DecisionReport[];
  readonly trend: Trend;
  readonly insights: readonly Insight[];
  readonly markdown: string;
  /** While an index is rebuilt older entries may be missing. */
  readonly partial?: true;
}

/** An entry as a finding cites it: by id in JSON, by position in Markdown. */
export interface Citation {
  readonly id: string;
  readonly position: number;
}

/** A finding before it is put on paper: what the report says, and the entries it rests on. */
export type Cited<T> = Omit<T, "entry_ids"> & { readonly cited: readonly Citation[] };

/** A tool with the calls that speak for each of its two verdicts. */
export type ToolFinding = Cited<ToolReport> & {
  readonly failed: readonly Citation[];
  readonly slowest: readonly Citation[];
};

export interface Findings {
  readonly counts: Counts;
  readonly passed_over: number;
  readonly low_confidence: readonly Cited<LowConfidenceItem>[];
  readonly confidence: ConfidenceSpread;
  /** All of them; a report has at most 100. */
  readonly error_groups: readonly Cited<ErrorGroup>[];
  readonly topics: readonly Cited<Topic>[];
  /** All of them; a report has at most 100. */
  readonly tools: readonly ToolFinding[];
  readonly disliked: readonly Cited<DislikedItem>[];
  readonly disliked_count: number;
  readonly decisions: readonly Cited<DecisionReport>[];
  readonly decisions_count: number;
  readonly before: Counts;
  readonly changes: readonly Cited<TrendChange>[];
  readonly timeline: readonly TimeSlot[];
  readonly insights: readonly Cited<Insight>[];
}
