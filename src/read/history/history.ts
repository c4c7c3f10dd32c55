// A session's history: read from its end backwards, only as far as the window reaches.
import type { Entry } from "../../model/entry.js";
import type { SessionRange } from "../../ports/entry-index.js";
import { EntryReader } from "../entry-reader.js";
import type { ReadingParts } from "../reader.js";
import { getSession } from "../session-list.js";
import type { HistoryQuery } from "../session-query.js";
import { type AnthropicMessage, toAnthropic } from "./anthropic.js";
import { type Step, snapDown, toStep } from "./consolidation.js";
import { type Item, interactionToItems, messageToItems, toolCallToItems } from "./items.js";
import { type OpenAiMessage, systemToOpenAi, turnToOpenAi } from "./openai.js";
import type { Turn } from "./repair.js";
import { assertNoneUnplaced, positionsIn, presentStretch, type Stretch } from "./stretch.js";
import { fitTokens } from "./tokens.js";
import { windowOf } from "./window.js";

export type History =
  | { readonly messages: readonly OpenAiMessage[] }
  | { readonly system: string; readonly messages: readonly AnthropicMessage[] };

export type ConsolidationPlan =
  | { readonly outcome: "not_in_session" }
  | { readonly outcome: "backwards"; readonly present: number }
  | { readonly outcome: "unmoved"; readonly present: number }
  | { readonly outcome: "moves"; readonly through: number };

type SystemItem = Item & { readonly type: "system" };

/** How much of a session history shows, and in whose form. */
export type WindowOptions = Pick<HistoryQuery, "max_messages" | "format" | "include_pending">;

export interface HistoryTurns {
  readonly systems: readonly SystemItem[];
  readonly turns: readonly Turn[];
}

/** The first look takes a little more than the window, since now and then an item is repaired away. */
const CHUNK_MORE = 2;
const CHUNK_MIN = 16;
const CHUNK_MAX = 2_000;

export class HistoryReader {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
  }

  async history(query: HistoryQuery): Promise<History> {
    const session = await getSession(this.#parts.index, query.session_id);
    if (session === undefined || query.max_messages === 0) return render([], [], query);
    const stretch = await presentStretch(this.#parts.index, session);
    await assertNoneUnplaced(this.#parts.index, stretch);
    const { systems, turns } = await this.turnsIn(stretch, query);
    const fitting = await fittingTurns(turns, systems, query);
    return fitting.length === 0 ? render([], [], query) : render(systems, fitting, query);
  }

  /** The window at the end of a stretch, with the system messages in front of it. */
  async turnsIn(stretch: Stretch, options: WindowOptions): Promise<HistoryTurns> {
    return { turns: await this.#turns(stretch, options), systems: await this.#systems(stretch) };
  }

  /** What a consolidation through this position would really cover; see the outcomes. */
  async planConsolidation(session_id: string, through: number): Promise<ConsolidationPlan> {
    const session = await getSession(this.#parts.index, session_id);
    const [named] = await this.#parts.index.sessionPositions({
      session_id,
      order: "asc",
      limit: 1,
      above: through - 1,
    });
    if (session === undefined || named !== through) return { outcome: "not_in_session" };
    const present = session.consolidated_through;
    if (through < present) return { outcome: "backwards", present };
    const stretch = await presentStretch(this.#parts.index, session);
    const end = snapDown(await this.#steps(stretch), through);
    if (end === undefined || end <= stretch.above) return { outcome: "unmoved", present };
    return { outcome: "moves", through: end };
  }

  async #steps(stretch: Stretch): Promise<readonly Step[]> {
    const entries = await this.#entriesIn(stretch, { kinds: stretch.kinds });
    return entries.flatMap((entry) => {
      const isTalk = entry.kind === "message" || entry.kind === "tool_call" || entry.kind === "interaction";
      return isTalk ? [toStep(entry)] : [];
    });
  }

  async #entriesIn(stretch: Stretch, filter: Pick<SessionRange, "kinds" | "role">): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    for await (const positions of positionsIn(this.#parts.index, stretch, filter)) {
      const kept = positions.filter((position) => !stretch.withdrawn.has(position));
      entries.push(...(await this.#entries.readWhole(kept, stretch.before)));
    }
    return entries;
  }

  async #turns(stretch: Stretch, query: WindowOptions): Promise<readonly Turn[]> {
    const { session_id, above, kinds, withdrawn } = stretch;
    const options = { ...query, drops_blank_users: query.format === "anthropic" };
    let items: readonly Item[] = [];
    let { before } = stretch;
    let chunk = Math.min(CHUNK_MAX, Math.max(CHUNK_MIN, query.max_messages + CHUNK_MORE));
    for (;;) {
      const positions = await this.#parts.index.sessionPositions({
        ...{ session_id, order: "desc", limit: chunk, above, kinds },
        ...(before === undefined ? {} : { after: before }),
      });
      const kept = positions.filter((position) => !withdrawn.has(position));
      const entries = await this.#entries.readWhole(kept.reverse(), stretch.before);
      items = [...entries.flatMap(toItems), ...items];
      before = positions.at(-1);
      const isAll = positions.length < chunk;
      const window = windowOf(items, options);
      if (isAll || window.is_settled) return window.turns;
      chunk = Math.min(CHUNK_MAX, chunk * 2);
    }
  }

  /** System messages after the boundary stay in front, however far back they lie. */
  async #systems(stretch: Stretch): Promise<readonly SystemItem[]> {
    const entries = await this.#entriesIn(stretch, { kinds: ["message"], role: "system" });
    return entries.flatMap(toItems).flatMap((item) => (item.type === "system" ? [item] : []));
  }
}

/** What an entry adds to history, each item with the entry that it comes from. */
export function toItems(entry: Entry): readonly Item[] {
  if (entry.kind === "message") return messageToItems(entry);
  if (entry.kind === "tool_call") return toolCallToItems(entry);
  return entry.kind === "interaction" ? interactionToItems(entry) : [];
}

/** Counted as it is sent: reasoning where it is asked for, and in Anthropic's form the thinking that stays. */
async function fittingTurns(
  turns: readonly Turn[],
  systems: readonly SystemItem[],
  query: HistoryQuery,
): Promise<readonly Turn[]> {
  const { max_tokens, format } = query;
  if (max_tokens === undefined) return turns;
  const thoughts = ({ pieces = [] }: Turn): readonly object[] =>
    format === "anthropic" ? pieces.filter((piece) => "thinking" in piece) : [];
  const toMessages = (turn: Turn): readonly object[] => [...turnToOpenAi(turn, query), ...thoughts(turn)];
  return fitTokens(turns, systems, { max_tokens, toMessages });
}

function render(systems: readonly SystemItem[], turns: readonly Turn[], query: HistoryQuery): History {
  if (query.format === "anthropic") return toAnthropic(systems, turns);
  return { messages: [...systems.map(systemToOpenAi), ...turns.flatMap((turn) => turnToOpenAi(turn, query))] };
}
