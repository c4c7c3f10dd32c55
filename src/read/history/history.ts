// A session's history: read from its end backwards, only as far as the window reaches.
import type { SessionRow } from "../../indexing/session-fold.js";
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
    const withdrawn = session === undefined ? new Set<number>() : await this.#withdrawn(session);
    const turns = session === undefined || query.max_messages === 0 ? [] : await this.#turns(session, query, withdrawn);
    const systems = session === undefined || turns.length === 0 ? [] : await this.#systems(session, withdrawn);
    const fitting = await fittingTurns(turns, systems, query);
    if (fitting.length === 0) return render([], [], query);
    return render(systems, fitting, query);
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
    const end = snapDown(await this.#steps(session), through);
    if (end === undefined || end <= boundaryOf(session)) return { outcome: "unmoved", present };
    return { outcome: "moves", through: end };
  }

  async #steps(session: SessionRow): Promise<readonly Step[]> {
    const entries = await this.#entriesAfterBoundary(session, { kinds: kindsOf(session) });
    const withdrawn = await this.#withdrawn(session);
    return entries.flatMap((entry) => {
      if (withdrawn.has(entry.position)) return [];
      const isTalk = entry.kind === "message" || entry.kind === "tool_call" || entry.kind === "interaction";
      return isTalk ? [toStep(entry)] : [];
    });
  }

  async #entriesAfterBoundary(
    session: SessionRow,
    filter: Pick<SessionRange, "kinds" | "role">,
  ): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    for await (const positions of this.#positionsAfterBoundary(session, filter)) {
      entries.push(...(await this.#entries.readWhole(positions)));
    }
    return entries;
  }

  async *#positionsAfterBoundary(
    session: SessionRow,
    filter: Pick<SessionRange, "kinds" | "role">,
  ): AsyncGenerator<readonly number[]> {
    let after = boundaryOf(session);
    for (;;) {
      const range = { ...filter, session_id: session.session_id, order: "asc", limit: CHUNK_MAX, after } as const;
      const positions = await this.#parts.index.sessionPositions(range);
      if (positions.length > 0) yield positions;
      if (positions.length < CHUNK_MAX) return;
      after = positions.at(-1) as number;
    }
  }

  /** Positions of the messages that were taken back; what takes one back comes after it, and so after the boundary. */
  async #withdrawn(session: SessionRow): Promise<ReadonlySet<number>> {
    const withdrawn = new Set<number>();
    if ((session.by_kind.withdrawal ?? 0) === 0) return withdrawn;
    for await (const positions of this.#positionsAfterBoundary(session, { kinds: ["withdrawal"] })) {
      for (const { facts } of await this.#parts.index.rowsAt(positions)) withdrawn.add(Number(facts?.withdraws));
    }
    return withdrawn;
  }

  async #turns(session: SessionRow, query: HistoryQuery, withdrawn: ReadonlySet<number>): Promise<readonly Turn[]> {
    const kinds = kindsOf(session);
    const options = { ...query, drops_blank_users: query.format === "anthropic" };
    let items: readonly Item[] = [];
    let before: number | undefined;
    let chunk = Math.min(CHUNK_MAX, Math.max(CHUNK_MIN, query.max_messages + CHUNK_MORE));
    for (;;) {
      const positions = await this.#parts.index.sessionPositions({
        session_id: session.session_id,
        order: "desc",
        limit: chunk,
        above: boundaryOf(session),
        kinds,
        ...(before === undefined ? {} : { after: before }),
      });
      const kept = positions.filter((position) => !withdrawn.has(position));
      const entries = await this.#entries.readWhole(kept.reverse());
      items = [...entries.flatMap(toItems), ...items];
      before = positions.at(-1);
      const isAll = positions.length < chunk;
      const window = windowOf(items, options);
      if (isAll || window.is_settled) return window.turns;
      chunk = Math.min(CHUNK_MAX, chunk * 2);
    }
  }

  /** System messages after the boundary stay in front, however far back they lie. */
  async #systems(session: SessionRow, withdrawn: ReadonlySet<number>): Promise<readonly SystemItem[]> {
    const entries = await this.#entriesAfterBoundary(session, { kinds: ["message"], role: "system" });
    const kept = entries.filter(({ position }) => !withdrawn.has(position));
    return kept.flatMap(toItems).flatMap((item) => (item.type === "system" ? [item] : []));
  }
}

/** History starts after the last clear and after what was consolidated. */
function boundaryOf(session: SessionRow): number {
  return Math.max(session.cleared_through, session.consolidated_through);
}

/** Interactions are history only where there is no message. */
function kindsOf(session: SessionRow): readonly string[] {
  return (session.by_kind.message ?? 0) > 0 ? ["message", "tool_call"] : ["interaction"];
}

function toItems(entry: Entry): readonly Item[] {
  if (entry.kind === "message") return messageToItems(entry);
  if (entry.kind === "tool_call") return toolCallToItems(entry);
  if (entry.kind === "interaction") return interactionToItems(entry);
  return [];
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
