// The part of a session that its history shows: after the last clear and what was consolidated and, for the history as
// it was at a position, before that position.

import { type EntryIndex, rowPages, type SessionRange } from "../../index/port.js";
import { HAS_ALTERED } from "../../index/references.js";
import type { SessionRow } from "../../index/session-fold.js";
import { NOT_RECORDED } from "../../model/chain.js";
import { corruptEntry } from "../../model/fault.js";
import { getSession } from "../session-list.js";

export interface HistorySpan {
  readonly session_id: string;
  /** Only what comes after this position, except for system messages and what the consolidation keeps. */
  readonly above: number;
  /** Only what came before this position; absent for the session as it is now. */
  readonly before?: number;
  /** Position of the last clear, 0 without any. */
  readonly cleared_through: number;
  /** Position of the newest consolidation since then, 0 without any: its summary is given to the model. */
  readonly consolidated_at: number;
  /** What history consists of. */
  readonly kinds: readonly string[];
  /** Whether interactions stand among messages: then only those that are no message's call add something. */
  readonly is_mixed: boolean;
  /** Positions of withdrawn messages. */
  readonly withdrawn: ReadonlySet<number>;
}

type Sessions = Pick<EntryIndex, "sessionPositions" | "rowsAt" | "getDocuments">;

const PAGE = 2_000;

/** System messages survive a clear and a consolidation, and any message keeps interactions out of the history. */
const OF_ANY_PLACE = ["message", "withdrawal"];

/** The span of a session as it is now. */
export async function presentSpan(index: Sessions, session: SessionRow): Promise<HistorySpan> {
  const { session_id, by_kind, cleared_through, consolidated_through, consolidated_at } = session;
  const above = Math.max(cleared_through, consolidated_through);
  const has = { messages: (by_kind.message ?? 0) > 0, interactions: (by_kind.interaction ?? 0) > 0 };
  // A transcript has everything that was said, and programs ask models for other things as well.
  const is_mixed = has.messages && has.interactions && !session.has_source;
  const kinds = is_mixed ? [...kindsOf(true), "interaction"] : kindsOf(has.messages);
  const bare = { session_id, above, cleared_through, consolidated_at, kinds, is_mixed, withdrawn: new Set<number>() };
  return (by_kind.withdrawal ?? 0) === 0 ? bare : { ...bare, withdrawn: await withdrawnIn(index, { session_id }) };
}

/** The same as it was before an entry was recorded; undefined if there is no such session. */
export async function spanBefore(
  index: Sessions,
  { session_id, before }: { readonly session_id: string; readonly before: number },
): Promise<HistorySpan | undefined> {
  const session = session_id === "" ? undefined : await getSession(index, session_id);
  if (session === undefined) return undefined;
  const { by_kind } = session;
  const newest = async (kind: string): Promise<number> => {
    if ((by_kind[kind] ?? 0) === 0) return 0;
    const range = { session_id, order: "desc", limit: 1, after: before, kinds: [kind] } as const;
    return (await index.sessionPositions(range))[0] ?? 0;
  };
  const cleared_through = await newest("clear");
  const since = { session_id, above: cleared_through, before };
  const none = { through: 0, at: 0 };
  const consolidated = (by_kind.consolidation ?? 0) === 0 ? none : await consolidatedIn(index, since);
  const bare = {
    session_id,
    above: Math.max(cleared_through, consolidated.through),
    before,
    cleared_through,
    consolidated_at: consolidated.at,
    kinds: kindsOf((await newest("message")) > 0),
    is_mixed: false,
    withdrawn: new Set<number>(),
  };
  return (by_kind.withdrawal ?? 0) === 0 ? bare : { ...bare, withdrawn: await withdrawnIn(index, bare) };
}

/**
 * Throws if an entry of the span may be missing. An entry that was altered before it was indexed may belong to any
 * session; only its position excludes it from some histories. One that was altered after it was indexed keeps its row,
 * and is a fault of its own session only.
 */
export async function assertNoneUnplaced(
  index: Pick<EntryIndex, "list">,
  { above, kinds }: Pick<HistorySpan, "above" | "kinds">,
): Promise<void> {
  const assertNone = async (kinds: readonly string[], after: number): Promise<void> => {
    const filter = { kinds, references: [HAS_ALTERED] };
    for await (const page of rowPages((place) => index.list({ filter, ...place }), PAGE)) {
      const unplaced = page.find(({ position }) => position > after);
      if (unplaced !== undefined) throw corruptEntry(unplaced.position, `${NOT_RECORDED}, and may be of this session`);
    }
  };
  await assertNone(OF_ANY_PLACE, 0);
  await assertNone(["clear", "consolidation", ...kinds.filter((kind) => !OF_ANY_PLACE.includes(kind))], above);
}

/** Positions of the span in order, page by page. */
export async function* positionsIn(
  index: Sessions,
  { session_id, above, before }: Pick<HistorySpan, "session_id" | "above" | "before">,
  filter: Pick<SessionRange, "kinds" | "role">,
): AsyncGenerator<readonly number[]> {
  let after = above;
  for (;;) {
    const page = await index.sessionPositions({ ...filter, session_id, order: "asc", limit: PAGE, after });
    const end = before === undefined ? -1 : page.findIndex((position) => position >= before);
    const positions = end === -1 ? page : page.slice(0, end);
    if (positions.length > 0) yield positions;
    if (end !== -1 || page.length < PAGE) return;
    after = page.at(-1) as number;
  }
}

function kindsOf(hasMessages: boolean): readonly string[] {
  return hasMessages ? ["message", "tool_call"] : ["interaction"];
}

/** In the whole session: system messages and kept ones come from before the boundary. */
async function withdrawnIn(
  index: Sessions,
  { session_id, before }: Pick<HistorySpan, "session_id" | "before">,
): Promise<ReadonlySet<number>> {
  const withdrawn = new Set<number>();
  const whole = { session_id, above: 0, ...(before === undefined ? {} : { before }) };
  for await (const positions of positionsIn(index, whole, { kinds: ["withdrawal"] })) {
    for (const { facts } of await index.rowsAt(positions)) withdrawn.add(Number(facts?.withdraws));
  }
  return withdrawn;
}

/** The greatest `through` of the consolidations there, and the position of the newest one. */
async function consolidatedIn(
  index: Sessions,
  span: Pick<HistorySpan, "session_id" | "above" | "before">,
): Promise<{ readonly through: number; readonly at: number }> {
  let through = 0;
  let at = 0;
  for await (const positions of positionsIn(index, span, { kinds: ["consolidation"] })) {
    at = positions.at(-1) ?? at;
    for (const { facts } of await index.rowsAt(positions)) through = Math.max(through, Number(facts?.through ?? 0));
  }
  return { through, at };
}
