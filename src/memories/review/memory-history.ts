// The uses of a memory: the answers that were given it, what they did with it and what followed. And its evidence in context.
import { feedbackOn } from "../../index/feedback-fold.js";
import { textsOf } from "../../index/texts.js";
import type { Entry } from "../../model/entry.js";
import type { Evidence } from "../../model/memory.js";
import { firstCodePoints } from "../../model/normalise.js";
import { isFromUser, textsOfUser } from "../../model/roles.js";
import { CONFIDENCE_LOW } from "../../model/states.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";
import type { ReadingParts } from "../../search/lists/reader.js";
import type { MemoryUseInTurn, WordsInContext } from "./memory-answers.js";

const USES_MAX = 50;
const AROUND_CHARS = 200;
const FOLLOWING_MAX = 50;
const NEXT_CHARS = 200;

type Uses = Pick<MemoryUseInTurn, "given" | "used" | "confirmed">;

export class MemoryHistory {
  readonly #index: ReadingParts["index"];
  readonly #entries: EntryReader;

  constructor(parts: ReadingParts, entries: EntryReader) {
    this.#index = parts.index;
    this.#entries = entries;
  }

  /** The newest uses first; `counted` has those that were counted, by the turn's id, in the order in which they were. */
  async uses(id: string, counted: ReadonlyMap<string, Uses>): Promise<readonly MemoryUseInTurn[]> {
    const byId = new Map<string, Uses>([...counted].slice(-USES_MAX));
    const filter = { kinds: ["interaction"], references: [{ what: "memory", reference: id }] } as const;
    const named = await this.#index.list({ filter, limit: USES_MAX });
    for (const entry of await this.#entries.read(named.map(({ position }) => position))) {
      const known = counted.get(entry.id) ?? { given: true, used: false, confirmed: false };
      byId.set(entry.id, { ...known, given: true });
    }
    const starts: Entry[] = [];
    for (const entry_id of byId.keys()) {
      const entry = await this.#entries.getById(entry_id);
      if (entry !== undefined && !("erased" in entry)) starts.push(entry);
    }
    const newest = starts.toSorted((left, right) => right.position - left.position).slice(0, USES_MAX);
    return Promise.all(newest.map((entry) => this.#use(entry, byId.get(entry.id) as Uses)));
  }

  async words(evidence: readonly Evidence[]): Promise<readonly WordsInContext[]> {
    const words: WordsInContext[] = [];
    for (const { entry_id, quote } of evidence) {
      const entry = await this.#entries.getById(entry_id);
      if (entry === undefined || "erased" in entry) continue;
      const text = textsOf(entry.kind, entry).find((one) => one.text.includes(quote))?.text ?? quote;
      const at = text.indexOf(quote);
      const { kind, session_id, created_at } = entry;
      const before = text.slice(Math.max(0, at - AROUND_CHARS), at).toWellFormed();
      const after = text.slice(at + quote.length, at + quote.length + AROUND_CHARS).toWellFormed();
      words.push({ entry_id, quote, kind, session_id, created_at, before, after });
    }
    return words;
  }

  async #use(start: Entry, uses: Uses): Promise<MemoryUseInTurn> {
    const { id: entry_id, position, created_at, session_id } = start;
    const following = await this.#following(start);
    const next = following.find(isFromUser);
    const turn = [start, ...(next === undefined ? following : following.slice(0, following.indexOf(next)))];
    return {
      entry_id,
      position,
      created_at,
      session_id,
      ...uses,
      followed: {
        errors: turn.filter(isFailed).length,
        low_confidence: turn.filter(isUnsure).length,
        feedback: await this.#feedback(turn.map(({ id }) => id)),
        next: next === undefined ? "" : firstCodePoints(textsOfUser(next).join("\n"), NEXT_CHARS),
      },
    };
  }

  async #following({ session_id, position }: Entry): Promise<readonly Entry[]> {
    if (session_id === "") return [];
    const range = { session_id, order: "asc", after: position, limit: FOLLOWING_MAX } as const;
    return this.#entries.read(await this.#index.sessionPositions(range));
  }

  async #feedback(ids: readonly string[]): Promise<MemoryUseInTurn["followed"]["feedback"]> {
    const positions = [...(await feedbackOn(this.#index, ids)).values()].flat();
    const entries = positions.length === 0 ? [] : await this.#entries.read(positions);
    return entries.flatMap((entry) => {
      if (entry.kind !== "feedback") return [];
      const { score, label, comment } = entry;
      return [{ label, comment, ...(score === undefined ? {} : { score }) }];
    });
  }
}

function isFailed(entry: Entry): boolean {
  if (entry.kind === "error") return true;
  return entry.kind === "tool_call" ? entry.is_error === true : entry.kind === "interaction" && entry.error !== "";
}

function isUnsure(entry: Entry): boolean {
  return entry.kind === "message" && entry.confidence !== undefined && entry.confidence < CONFIDENCE_LOW;
}
