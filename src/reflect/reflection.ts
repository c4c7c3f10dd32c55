// Reflection: entries in, findings out. One pass, newest first; memory does not grow with the size of entries.
import { contentTexts } from "../model/content.js";
import type { Entry, EntryOf } from "../model/entry.js";
import { conversationKinds, unreflectedKinds } from "../model/kinds.js";
import type {
  Citation,
  Cited,
  Counts,
  DecisionReport,
  DislikedItem,
  ErrorGroup,
  Insight,
  LowConfidenceItem,
  ReflectionReport,
  ToolFinding,
  Topic,
} from "../model/report.js";
import { CONFIDENCE_LOW } from "../model/states.js";
import { CITED_MAX, citationOf, excerpt, failureOf, type Mask, textOfAnswer } from "./citations.js";
import { CommandTally } from "./commands.js";
import { ErrorGroups } from "./error-groups.js";
import { toReport } from "./render.js";
import { ToolTally } from "./tools.js";
import { TopicCount } from "./topics.js";
import { assistantConfidence, changesBetween, isLowConfidence, Tally, Timeline } from "./trend.js";

const ITEMS_KEPT = 5;

export interface ReflectionSettings {
  /** Hides secrets; without it, texts are shown unmasked. */
  readonly mask?: Mask | undefined;
}

const asItIs: Mask = (text) => text;

/** Takes the reviewed entries, then as many before them, each newest first. */
export class Reflection {
  readonly #now = new Tally();
  readonly #before = new Tally();
  readonly #timeline = new Timeline();
  readonly #errors: ErrorGroups;
  readonly #topics: TopicCount;
  readonly #tools: ToolTally;
  readonly #commands: CommandTally;
  readonly #disliked: DislikedAnswers;
  readonly #decisions: FollowedDecisions;
  readonly #lowConfidence: Cited<LowConfidenceItem>[] = [];
  readonly #mask: Mask;
  #passedOver = 0;

  constructor({ mask = asItIs }: ReflectionSettings = {}) {
    this.#mask = mask;
    this.#errors = new ErrorGroups(mask);
    this.#topics = new TopicCount(mask);
    this.#tools = new ToolTally(mask);
    this.#commands = new CommandTally(mask);
    this.#disliked = new DislikedAnswers(mask);
    this.#decisions = new FollowedDecisions(mask);
  }

  /** An entry, with its feedback below 0, newest first, if it has any. */
  add(entry: Entry, dislikes?: readonly EntryOf<"feedback">[]): void {
    if (!isConversation(entry)) {
      if (unreflectedKinds.includes(entry.kind)) this.#passedOver += 1;
      return;
    }
    this.#now.add(entry);
    this.#timeline.add(entry);
    this.#topics.add(entry);
    this.#decisions.add(entry);
    const failure = failureOf(entry);
    if (failure !== undefined) this.#errors.add(entry, failure);
    if (entry.kind === "tool_call") {
      this.#tools.add(entry);
      this.#commands.add(entry);
    }
    if (dislikes !== undefined) this.#disliked.add(entry, dislikes);
    if (this.#lowConfidence.length < ITEMS_KEPT && isLowConfidence(entry))
      this.#lowConfidence.push(toItem(entry, this.#mask));
  }

  passOver(count: number): void {
    this.#passedOver += count;
  }

  addBefore(entry: Entry): void {
    if (isConversation(entry)) this.#before.add(entry);
  }

  finish(): ReflectionReport {
    const { counts } = this.#now;
    const error_groups = this.#errors.finish();
    const topics = this.#topics.finish();
    const tools = this.#tools.finish();
    return toReport({
      counts,
      passed_over: this.#passedOver,
      low_confidence: this.#lowConfidence,
      confidence: this.#timeline.confidence(),
      error_groups,
      topics,
      tools,
      commands: this.#commands.finish(),
      disliked: this.#disliked.finish(),
      disliked_count: this.#disliked.count,
      decisions: this.#decisions.finish(),
      decisions_count: this.#decisions.count,
      before: this.#before.counts,
      changes: changesBetween(this.#now, this.#before),
      timeline: this.#timeline.finish(),
      insights: insightsOf({
        counts,
        error_groups,
        topics,
        tools,
        low_confidence: { cited: this.#now.cited("low_confidence") },
        errors: { cited: this.#now.cited("errors") },
        failed_tool_calls: { cited: this.#now.cited("failed_tool_calls") },
      }),
    });
  }
}

function isConversation({ kind }: Entry): boolean {
  return conversationKinds.includes(kind);
}

function toItem(entry: Entry, mask: Mask): Cited<LowConfidenceItem> {
  const { id, position, session_id, created_at } = entry;
  const said = entry.kind === "message" ? contentTexts(entry.content).join(" ") : "";
  const confidence = assistantConfidence(entry) ?? 0;
  return { id, position, session_id, created_at, confidence, text: excerpt(said, mask), cited: [citationOf(entry)] };
}

/** How many entries of the session after a decision count, up to its next decision. */
const ENTRIES_AFTER = 10;
const DECISIONS_KEPT = 100;

/** Decisions with an error soon after them in the same session. Takes entries newest first. */
class FollowedDecisions {
  /** By session: the errors among the entries added last. */
  readonly #afterBySession = new Map<string, (Citation | undefined)[]>();
  readonly #found: Cited<DecisionReport>[] = [];
  readonly #mask: Mask;
  #count = 0;

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  /** All of them; `finish` returns the newest. */
  get count(): number {
    return this.#count;
  }

  add(entry: Entry): void {
    const session = sessionOf(entry);
    if (entry.kind === "decision") {
      const errors = (this.#afterBySession.get(session) ?? []).filter((citation) => citation !== undefined).reverse();
      this.#afterBySession.delete(session);
      if (errors.length === 0) return;
      this.#count += 1;
      if (this.#found.length >= DECISIONS_KEPT) return;
      const { id, position, session_id, created_at } = entry;
      this.#found.push({
        id,
        position,
        session_id,
        created_at,
        decision: excerpt(entry.decision, this.#mask),
        errors: errors.length,
        cited: [citationOf(entry), ...errors],
      });
      return;
    }
    const after = this.#afterBySession.get(session) ?? [];
    after.push(failureOf(entry) === undefined ? undefined : citationOf(entry));
    if (after.length > ENTRIES_AFTER) after.shift();
    this.#afterBySession.set(session, after);
  }

  finish(): readonly Cited<DecisionReport>[] {
    return this.#found;
  }
}

/** Entries without a session are grouped by client and project. */
function sessionOf({ session_id, project, client }: Entry): string {
  return session_id === "" ? JSON.stringify([project, client]) : `:${session_id}`;
}

const DISLIKED_MAX = 5;

/** Entries with feedback below 0, and what was said about them. Takes entries newest first. */
class DislikedAnswers {
  readonly #items: Cited<DislikedItem>[] = [];
  readonly #mask: Mask;
  #count = 0;

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  /** All of them; `finish` returns the newest. */
  get count(): number {
    return this.#count;
  }

  /** @param dislikes The entry's feedback below 0, newest first. */
  add(entry: Entry, dislikes: readonly EntryOf<"feedback">[]): void {
    this.#count += 1;
    if (this.#items.length >= DISLIKED_MAX) return;
    const telling = dislikes.find(({ comment }) => comment.trim() !== "") ?? dislikes[0];
    const { id, position, session_id, created_at } = entry;
    this.#items.push({
      id,
      position,
      session_id,
      created_at,
      text: excerpt(textOfAnswer(entry), this.#mask),
      comment: excerpt(telling?.comment ?? "", this.#mask),
      label: excerpt(telling?.label ?? "", this.#mask),
      score: telling?.score ?? -1,
      cited: [citationOf(entry), ...dislikes.slice(0, CITED_MAX - 1).map(citationOf)],
    });
  }

  finish(): readonly Cited<DislikedItem>[] {
    return this.#items;
  }
}

/** A sentence each for low confidence, errors, failing tools and the topic mentioned most. */
function insightsOf(found: {
  readonly counts: Counts;
  readonly low_confidence: { readonly cited: Cited<Insight>["cited"] };
  readonly errors: { readonly cited: Cited<Insight>["cited"] };
  readonly failed_tool_calls: { readonly cited: Cited<Insight>["cited"] };
  readonly error_groups: readonly Cited<ErrorGroup>[];
  /** The one with the most failures first. */
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
