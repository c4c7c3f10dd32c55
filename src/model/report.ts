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
  /** How many are in each tenth, from below 0.1 to 0.9 and above. */
  readonly tenths: readonly number[];
}

/** Errors that differ only in numbers, paths, ids and the like. */
export interface ErrorGroup {
  /** What they have in common; differences are named: `<number>`, `<path>`, `<id>` … */
  readonly fingerprint: string;
  /** The newest of them. */
  readonly text: string;
  readonly count: number;
  readonly first_at: string;
  readonly last_at: string;
  /** Newest first, at most 100; `count` is the whole number, as in every finding. */
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
  /** Absent if no call was timed. */
  readonly median_ms?: number;
  readonly p95_ms?: number;
  /** Whether any call failed. */
  readonly is_failing: boolean;
  readonly is_slow: boolean;
  /** The failed calls; the slowest calls of a slow tool; otherwise the newest. */
  readonly entry_ids: readonly string[];
}

/** An entry with feedback below 0. */
export interface DislikedItem {
  readonly id: string;
  readonly position: number;
  readonly session_id: string;
  readonly created_at: string;
  /** The first 120 characters of its text. */
  readonly text: string;
  /** From the newest such feedback with a reason, otherwise from the newest; `""` if none has one. */
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
  /** The decision, then the errors in order. */
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
  /** As shares of the entries, since the earlier period may have fewer. */
  readonly direction: "up" | "down" | "same";
  readonly entry_ids: readonly string[];
}

/** A part of the reviewed period. */
export interface TimeSlot {
  readonly from: string;
  readonly to: string;
  readonly entries: number;
  readonly errors: number;
  /** Mean over the assistant's messages that have one; absent if none has. */
  readonly confidence?: number;
}

export interface Trend {
  /** The entries before the reviewed ones, the same number if there are as many. */
  readonly before: Counts;
  /** Empty if there was nothing before. */
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
  /** Reviewed entries of other kinds that the filters select. */
  readonly passed_over: number;
  /** All are counted, the newest five shown. */
  readonly low_confidence: { readonly count: number; readonly items: readonly LowConfidenceItem[] };
  readonly confidence: ConfidenceSpread;
  readonly error_groups: readonly ErrorGroup[];
  readonly topics: readonly Topic[];
  readonly tools: readonly ToolReport[];
  /** Shell commands that failed; at most 100. */
  readonly commands: readonly CommandFinding[];
  /** All are counted, the newest five shown. */
  readonly disliked: { readonly count: number; readonly items: readonly DislikedItem[] };
  readonly decisions: readonly DecisionReport[];
  readonly trend: Trend;
  readonly insights: readonly Insight[];
  readonly markdown: string;
  /** While an index is rebuilt, older entries may be missing. */
  readonly partial?: true;
}

/** An entry as a finding cites it: by id in JSON, by position in Markdown. */
export interface Citation {
  readonly id: string;
  readonly position: number;
}

/** A finding before it is rendered: what the report says, and its evidence. */
export type Cited<T> = Omit<T, "entry_ids"> & { readonly cited: readonly Citation[] };

/** Shell calls of one program and subcommand. */
export interface CommandFinding {
  readonly command: string;
  readonly calls: number;
  readonly failures: number;
  /** The line that ended its errors most often; empty if they had no output. */
  readonly error: string;
  readonly entry_ids: readonly string[];
}

/** A tool with the calls that support each of its two verdicts. */
export type ToolFinding = Cited<ToolReport> & {
  readonly failed: readonly Citation[];
  readonly slowest: readonly Citation[];
};

export interface Findings {
  readonly counts: Counts;
  readonly passed_over: number;
  readonly low_confidence: readonly Cited<LowConfidenceItem>[];
  readonly confidence: ConfidenceSpread;
  /** All of them; a report shows at most 100. */
  readonly error_groups: readonly Cited<ErrorGroup>[];
  readonly topics: readonly Cited<Topic>[];
  /** All of them; a report shows at most 100. */
  readonly tools: readonly ToolFinding[];
  /** All of them; a report shows at most 100. */
  readonly commands: readonly Cited<CommandFinding>[];
  readonly disliked: readonly Cited<DislikedItem>[];
  readonly disliked_count: number;
  readonly decisions: readonly Cited<DecisionReport>[];
  readonly decisions_count: number;
  readonly before: Counts;
  readonly changes: readonly Cited<TrendChange>[];
  readonly timeline: readonly TimeSlot[];
  readonly insights: readonly Cited<Insight>[];
}
