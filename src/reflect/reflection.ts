// Reflection: entries in, findings out. One pass, newest first, in memory that does not grow with the entries' size.
import { contentTexts } from "../model/content.js";
import type { Entry, EntryOf } from "../model/entry.js";
import { conversationKinds, unreflectedKinds } from "../model/kinds.js";
import type { Cited, LowConfidenceItem, ReflectionReport } from "../model/report.js";
import { citationOf } from "./citations.js";
import { FollowedDecisions } from "./decisions.js";
import { DislikedAnswers } from "./disliked.js";
import { ErrorGroups } from "./error-groups.js";
import { excerpt, type Mask } from "./excerpt.js";
import { insightsOf } from "./insights.js";
import { toReport } from "./render.js";
import { failureOf } from "./said.js";
import { ToolTally } from "./tools.js";
import { TopicCount } from "./topics.js";
import { assistantConfidence, changesBetween, isLowConfidence, Tally, Timeline } from "./trend.js";

const ITEMS_KEPT = 5;

export interface ReflectionSettings {
  /** What hides secrets; without one texts are shown as they are. */
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
    this.#disliked = new DislikedAnswers(mask);
    this.#decisions = new FollowedDecisions(mask);
  }

  /** An entry, with its feedback below 0, newest first, where there is any. */
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
    if (entry.kind === "tool_call") this.#tools.add(entry);
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
