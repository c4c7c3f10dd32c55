// What to take from the findings: a sentence each for low confidence, errors, failing tools and the topic mentioned most.
import type { Cited, Counts, ErrorGroup, Insight, ToolFinding, Topic } from "../model/report.js";
import { CONFIDENCE_LOW } from "../model/states.js";

export function insightsOf(found: {
  readonly counts: Counts;
  readonly low_confidence: { readonly cited: Cited<Insight>["cited"] };
  readonly errors: { readonly cited: Cited<Insight>["cited"] };
  readonly failed_tool_calls: { readonly cited: Cited<Insight>["cited"] };
  readonly error_groups: readonly Cited<ErrorGroup>[];
  /** The one that failed most first. */
  readonly tools: readonly ToolFinding[];
  readonly topics: readonly Cited<Topic>[];
}): readonly Cited<Insight>[] {
  const { counts, error_groups, tools, topics } = found;
  if (counts.reviewed === 0) return [];
  const insights: Cited<Insight>[] = [];
  if (counts.low_confidence > 0) {
    const isOne = counts.low_confidence === 1;
    const answers = isOne ? "1 answer has" : `${counts.low_confidence} answers have`;
    const advice = `check ${isOne ? "it" : "them"} before relying on ${isOne ? "it" : "them"}`;
    const text = `${answers} a confidence below ${CONFIDENCE_LOW * 100}%: ${advice}.`;
    insights.push({ text, cited: found.low_confidence.cited });
  }
  if (counts.errors > 0) {
    const errors = counts.errors === 1 ? "1 error" : `${counts.errors} errors`;
    const entries = counts.reviewed === 1 ? "1 entry" : `${counts.reviewed} entries`;
    const [most] = error_groups;
    const which = most !== undefined && most.count > 1 ? `, ${most.count} of them alike: “${most.text}”` : "";
    insights.push({ text: `${errors} in ${entries}${which}.`, cited: found.errors.cited });
  }
  if (counts.failed_tool_calls > 0) {
    insights.push({ text: failingText(counts.failed_tool_calls, tools), cited: found.failed_tool_calls.cited });
  }
  if (insights.length === 0) insights.push({ text: ALL_WELL, cited: [] });
  const [topic] = topics;
  if (topic !== undefined) {
    const text = `Frequent topic: “${topic.word}”, ${topic.count} mentions.`;
    insights.push({ text, cited: topic.cited });
  }
  return insights;
}

const ALL_WELL = "All looks well: no low confidence, no errors, no failing tools.";

function failingText(failures: number, tools: readonly ToolFinding[]): string {
  const failing = tools.filter(({ is_failing }) => is_failing);
  const [worst] = failing;
  if (worst !== undefined && worst.failures === failures)
    return `${worst.tool}: ${failures} of ${worst.calls} calls failed.`;
  const calls = tools.reduce((sum, tool) => sum + tool.calls, 0);
  const most = worst === undefined ? "" : `, most often ${worst.tool}: ${worst.failures} of ${worst.calls}`;
  return `${failures} of ${calls} tool calls failed${most}.`;
}
