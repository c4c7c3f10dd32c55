// A model reads digests of sessions that have ended, masked, and what it answers is a proposal like any other. Each segment of a digest
// is sent once per generation; audit entries record that, so a pass can be resumed.
import { createHash, hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type OwnEntry, packOwn, type WriteContext } from "../../../log/capture/draft.js";
import type { AbortSignalLike } from "../../../model/abort-signal.js";
import { Fault } from "../../../model/fault.js";
import { packageFile } from "../../../model/files.js";
import { isJsonObject, type JsonObject, parseJsonObject } from "../../../model/json.js";
import { type Evidence, type MemoryType, memoryTypes, type Proposal } from "../../../model/memory.js";
import { countTokensIn, loadTokenCounter, type TokenCounter } from "../../../sessions/history/tokens.js";
import type { SessionList } from "../../../sessions/session-summary.js";
import type { MemoryReads } from "../../memory-calls.js";
import type { ExtractionCollector } from "../../passes.js";
import type { QuotedEntry } from "../../text/quoted-entry.js";
import type { Extractor, ModelReply } from "../extractor.js";
import { EXTRACTION, UNSENT } from "./daily-budget.js";
import { DIGEST } from "./digest.js";
import { narrower, type Segment, type SegmentLimits, segmentLimits, segmentsOf } from "./segments.js";

export interface ModelPassParts {
  readonly calls: MemoryReads;
  readonly writeContext: WriteContext;
  readonly propose: (proposal: Proposal) => Promise<void>;
  readonly append: (entries: readonly OwnEntry[]) => Promise<unknown>;
}

export interface ModelPassOptions {
  readonly extractor: Extractor;
  /** Sent in a day, all runs together. */
  readonly daily_tokens: number;
  readonly session_id?: string | undefined;
  readonly project?: string | undefined;
  /** Only sessions with at least so many entries; 20. */
  readonly entries_min?: number | undefined;
  /** Only sessions with entries after this time. */
  readonly active_since_ms?: number | undefined;
  /** By session that was read to its end: when it ended. It is not read again; sessions read now are added. */
  readonly readThrough?: Map<string, string> | undefined;
  /** Asked before each session; false ends the pass there. */
  readonly shouldContinue?: (() => Promise<boolean>) | undefined;
  /** Ends it while a model is being asked. */
  readonly signal?: AbortSignalLike | undefined;
}

/** A session without a new entry for so long has ended. */
const IDLE_MS = 30 * 60 * 1000;
/** Shorter sessions hardly hold anything that lasts. */
const ENTRIES_MIN = 20;
const PAGE = 100;
const DAY_MS = 24 * 60 * 60 * 1000;
/** How often a segment is sent to a model that asks to retry later, and the longest wait. */
const TRIES = 3;
const RETRY_MS_MAX = 30_000;
/** A segment that was refused this often, each time in another pass, is given up. */
const REFUSALS_MAX = 3;
/** So many refusals in a row are not about the content: the pass stops. */
const REFUSED_IN_A_ROW_MAX = 3;

interface IdleSession {
  readonly session_id: string;
  readonly last_at: string;
}

const ABORTED = "aborted";
/** About as many as an answer has. */
const ANSWER_TOKENS = 200;

/** What a run is about to send: said before the first one. */
export interface ModelPlan {
  readonly sessions: number;
  readonly requests: number;
  readonly tokens: number;
  /** Whether nothing was sent to this model before. */
  readonly is_first: boolean;
}

/** Why a pass stopped early; it continues there when it is run again. */
class Stopped extends Error {}

export class ModelPass {
  readonly #parts: ModelPassParts;
  readonly #options: ModelPassOptions;
  readonly #collected: ExtractionCollector;
  #prompt = "";
  #generation = "";
  #count: TokenCounter = () => 0;
  #refusedInARow = 0;
  /** Why a segment is left to a later pass. */
  #left: string | undefined;

  constructor(parts: ModelPassParts, options: ModelPassOptions, collected: ExtractionCollector) {
    this.#parts = parts;
    this.#options = options;
    this.#collected = collected;
  }

  /** What a run would send, without sending it. */
  async plan(): Promise<ModelPlan> {
    await this.#prepare();
    const plan = { sessions: 0, requests: 0, tokens: 0, is_first: true };
    for await (const { session_id } of this.#idleSessions()) {
      let isNew = false;
      for (const segment of segmentsOf(await this.#parts.calls.digestOf(session_id))) {
        if (await this.#isNoted(readId(this.#keyOf(segment)))) plan.is_first = false;
        else {
          isNew = true;
          plan.requests += 1;
          plan.tokens += this.#tokensOf(segment.text) + ANSWER_TOKENS;
        }
      }
      plan.sessions += Number(isNew);
    }
    return plan;
  }

  async #prepare(): Promise<void> {
    this.#prompt = await readPrompt();
    this.#generation = generationOf({ model: this.#options.extractor.model, prompt: this.#prompt });
    this.#count = await loadTokenCounter();
  }

  #tokensOf(text: string): number {
    return countTokensIn(this.#prompt, this.#count) + countTokensIn(text, this.#count);
  }

  #keyOf({ text }: Segment): string {
    return `${this.#generation}:${hash("sha256", text).slice(0, 32)}`;
  }

  /** Why it stopped early; undefined where it read everything. */
  async run(): Promise<string | undefined> {
    await this.#prepare();
    try {
      for await (const session of this.#idleSessions()) await this.#readSession(session);
      return this.#left;
    } catch (error) {
      if (error instanceof Stopped) return error.message;
      throw error;
    }
  }

  async *#idleSessions(): AsyncGenerator<IdleSession> {
    const { session_id, project, active_since_ms = Number.NEGATIVE_INFINITY } = this.#options;
    const { entries_min = ENTRIES_MIN } = this.#options;
    if (session_id !== undefined) {
      yield { session_id, last_at: "" };
      return;
    }
    const nowMs = this.#parts.writeContext.nowMs();
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: SessionList = await this.#parts.calls.listSessions({ limit: PAGE, cursor, project });
      for (const { session_id, last_at, entries } of page.sessions) {
        const lastMs = Date.parse(last_at);
        // The newest come first.
        if (lastMs < active_since_ms) return;
        if (nowMs - lastMs >= IDLE_MS && entries >= entries_min) yield { session_id, last_at };
      }
      cursor = page.next_cursor;
    }
  }

  async #readSession({ session_id, last_at }: IdleSession): Promise<void> {
    const { readThrough, shouldContinue } = this.#options;
    if (readThrough?.get(session_id) === last_at) return;
    if ((await shouldContinue?.()) === false) throw new Stopped(ABORTED);
    const entries = await this.#parts.calls.digestOf(session_id);
    if (await this.#readEntries(entries, segmentLimits)) readThrough?.set(session_id, last_at);
  }

  /** False where something is left to a later pass. */
  async #readEntries(entries: readonly QuotedEntry[], limits: SegmentLimits): Promise<boolean> {
    let isRead = true;
    for (const segment of segmentsOf(entries, limits)) {
      if (!(await this.#readSegment(segment, limits))) isRead = false;
    }
    return isRead;
  }

  async #readSegment(segment: Segment, limits: SegmentLimits): Promise<boolean> {
    const key = this.#keyOf(segment);
    const id = readId(key);
    if (await this.#isNoted(id)) return true;
    const reply = await this.#ask(segment.text);
    if ("refused" in reply) return this.#postpone(segment, key, reply.refused);
    this.#refusedInARow = 0;
    const smaller = "too_long" in reply ? narrower(limits) : undefined;
    if (smaller !== undefined) {
      if (!(await this.#readEntries(segment.entries, smaller))) return false;
    } else if ("too_long" in reply)
      this.#collected.refuse("Even the shortest segment is too long for the model.", segment.entryIds);
    else {
      const { proposals, refused } =
        "unusable" in reply
          ? { proposals: [], refused: [reply.unusable] }
          : parseAnswer(reply.text, segment, this.#generation);
      for (const reason of refused) this.#collected.refuse(reason, segment.entryIds);
      for (const proposal of proposals) await this.#parts.propose(proposal);
    }
    await this.#note("extracted", "", id);
    return true;
  }

  /** Leaves a refused segment to a later pass, or gives it up; audit entries count the refusals across runs. */
  async #postpone(segment: Segment, key: string, reason: string): Promise<boolean> {
    let times = 1;
    while (times < REFUSALS_MAX && (await this.#isNoted(refusalId(key, times)))) times += 1;
    await this.#note("extraction_refused", reason, refusalId(key, times));
    const isGivenUp = times === REFUSALS_MAX;
    if (isGivenUp) {
      this.#collected.refuse(`A segment was given up after ${REFUSALS_MAX} refusals: ${reason}.`, segment.entryIds);
      await this.#note("extracted", "", readId(key));
    } else this.#left = reason;
    this.#refusedInARow += 1;
    if (this.#refusedInARow === REFUSED_IN_A_ROW_MAX) throw new Stopped(reason);
    return isGivenUp;
  }

  async #isNoted(id: string): Promise<boolean> {
    return (await this.#parts.calls.getEntry(id)) !== undefined;
  }

  /** Each request counts, whatever its result, and is recorded before it is sent, so a crash loses no count. */
  async #ask(text: string): Promise<Exclude<ModelReply, { readonly failed: string }>> {
    const { extractor, daily_tokens, signal } = this.#options;
    const tokens = this.#tokensOf(text);
    for (let tries = 1; ; tries += 1) {
      // Other processes may send at the same time.
      if (tokens > daily_tokens - (await this.#sentToday()))
        throw new Stopped(`the daily budget is used up (${daily_tokens} tokens)`);
      await this.#note(EXTRACTION, `${tokens}`);
      const reply = await extractor.ask({ prompt: this.#prompt, text, schema: answerSchema }, signal);
      if (!("failed" in reply)) return reply;
      if (reply.unsent === true) await this.#note(UNSENT, `${tokens}`);
      if (reply.retry_ms === undefined || tries === TRIES) throw new Stopped(reply.failed);
      const isEnded = await sleep(Math.min(reply.retry_ms, RETRY_MS_MAX), false, { signal }).catch(() => true);
      if (isEnded) throw new Stopped(ABORTED);
    }
  }

  async #note(action: string, target: string, id?: string): Promise<void> {
    const said = { action, actor: `model:${this.#options.extractor.name}`.slice(0, 200), target };
    await this.#parts.append([packOwn("audit", said, this.#parts.writeContext, { id })]);
  }

  /** By all runs, from the audit entries. */
  async #sentToday(): Promise<number> {
    const nowMs = this.#parts.writeContext.nowMs();
    const since_ms = nowMs - (nowMs % DAY_MS);
    return this.#parts.calls.tokensSentSince(since_ms);
  }
}

function readId(key: string): string {
  return `extraction:${key}`;
}

function refusalId(key: string, nth: number): string {
  return `refusal:${nth}:${key}`;
}

async function readPrompt(): Promise<string> {
  const file = packageFile("dist/bundle/EXTRACTION_PROMPT.md");
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new Fault("store_failed", "EXTRACTION_PROMPT.md is missing", { hint: "Install Hansard again.", cause });
  }
}

/** A longer answer is rejected as a whole. */
const ANSWER_CHARS_MAX = 200_000;
const MEMORIES_MAX = 5;
const EVIDENCE_MAX = 8;
const CONTENT_CHARS_MAX = 2_000;
const QUOTE_CHARS_MAX = 4_000;

/** The form of an answer, for endpoints that can be held to one. */
const answerSchema: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["memories"],
  properties: {
    memories: {
      type: "array",
      items: {
        type: "object",
        additionalProperties: false,
        required: ["type", "content", "evidence", "durable_because"],
        properties: {
          type: { type: "string", enum: [...memoryTypes] },
          content: { type: "string" },
          evidence: {
            type: "array",
            items: {
              type: "object",
              additionalProperties: false,
              required: ["text", "quote"],
              properties: { text: { type: "integer" }, quote: { type: "string" } },
            },
          },
          durable_because: { type: "string" },
        },
      },
    },
  },
};

interface ModelAnswer {
  readonly proposals: readonly Proposal[];
  /** A sentence for each part that was left out. */
  readonly refused: readonly string[];
}

/**
 * @param generation A hash of model, prompt and digest version.
 *
 * @internal Exported for tests.
 */
export function parseAnswer(answer: string, segment: Segment, generation: string): ModelAnswer {
  if (answer.length > ANSWER_CHARS_MAX) return refusal(`The answer has more than ${ANSWER_CHARS_MAX} characters.`);
  const document = documentIn(answer);
  if (document === undefined) return refusal("The answer is not a JSON document.");
  const { memories } = document;
  if (!Array.isArray(memories)) return refusal('The answer has no list "memories".');
  const proposals: Proposal[] = [];
  const refused: string[] = [];
  for (const [at, item] of memories.slice(0, MEMORIES_MAX).entries()) {
    const parsed = proposalIn(item, segment, generation);
    if (typeof parsed === "string") refused.push(`Statement ${at + 1}: ${parsed}`);
    else proposals.push(parsed);
  }
  const left = memories.length - MEMORIES_MAX;
  if (left > 0) refused.push(`${left} statements beyond the first ${MEMORIES_MAX} were ignored.`);
  return { proposals, refused };
}

/** Only type, content and evidence are read: a model decides neither project nor status. */
function proposalIn(item: unknown, segment: Segment, generation: string): Proposal | string {
  if (!isJsonObject(item)) return "it is not an object.";
  const { type, content } = item;
  if (!isMemoryType(type)) return `its type must be one of ${memoryTypes.join(", ")}.`;
  if (typeof content !== "string" || content.length > CONTENT_CHARS_MAX) return "its content must be a sentence.";
  const evidence = evidenceIn(item, segment);
  if (typeof evidence === "string") return evidence;
  return { type, content, source: "model", evidence, project: segment.project, tags: [], generation };
}

function evidenceIn(item: JsonObject, segment: Segment): readonly Evidence[] | string {
  const given = item.evidence;
  if (!Array.isArray(given) || given.length === 0) return "it has no evidence.";
  if (given.length > EVIDENCE_MAX) return `it has more than ${EVIDENCE_MAX} quotes.`;
  const evidence: Evidence[] = [];
  for (const each of given) {
    if (!isJsonObject(each)) return "one of its quotes is not an object.";
    const entry_id = typeof each.text === "number" ? segment.entryIds[each.text - 1] : undefined;
    if (entry_id === undefined) return "it quotes a text that it was not given.";
    if (typeof each.quote !== "string" || each.quote.length > QUOTE_CHARS_MAX)
      return "one of its quotes is not a text.";
    evidence.push({ entry_id, quote: each.quote });
  }
  return evidence;
}

/** The JSON document, also where the model put a fence or text around it. */
function documentIn(answer: string): JsonObject | undefined {
  const whole = parseJsonObject(answer);
  if (whole !== undefined) return whole;
  const [from, to] = [answer.indexOf("{"), answer.lastIndexOf("}")];
  return from === -1 || to < from ? undefined : parseJsonObject(answer.slice(from, to + 1));
}

function isMemoryType(value: unknown): value is MemoryType {
  return (memoryTypes as readonly unknown[]).includes(value);
}

function refusal(reason: string): ModelAnswer {
  return { proposals: [], refused: [reason] };
}

const CHARS = 16;

/** @internal Exported for tests. */
export function generationOf({ model, prompt }: { readonly model: string; readonly prompt: string }): string {
  return createHash("sha256")
    .update(JSON.stringify([model, prompt, DIGEST]))
    .digest("hex")
    .slice(0, CHARS);
}
