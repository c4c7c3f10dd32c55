// Usage: how many tokens calls to models took and what they cost, by time, model, label, session, turn and tool.
import { TurnFinder } from "../index/outline-fold.js";
import { hasLabel } from "../index/references.js";
import { type RowFilter, rowMatches } from "../index/row-filter.js";
import type { SessionTable } from "../index/session-table.js";
import { TimeSlice } from "../model/scheduling.js";
import { formatTime, WallClock } from "../model/time.js";
import { tokenNames } from "../model/usage.js";
import type { ReadingParts } from "../search/lists/reader.js";
import { type CallLedger, CallSum, type CountedCall } from "./call-ledger.js";
import type { UsageDivision, UsageReport, UsageRow, UsageTotal } from "./usage-report.js";

/** Which calls are counted, and what the sums are split by. */
export interface UsageQuery {
  readonly by: readonly UsageDivision[];
  readonly filter: Omit<RowFilter, "kinds" | "role">;
  /** An IANA name. */
  readonly timezone: string;
}

/** What a call is counted under, by the names of the row. */
type Places = { readonly [D in Exclude<UsageDivision, "turn">]?: string } & {
  readonly turn?: number;
  readonly prompt?: string;
};

const DAY_MS = 86_400_000;

export class UsageReader {
  readonly #parts: ReadingParts & { readonly table: SessionTable; readonly ledger: CallLedger };

  constructor(parts: ReadingParts & { readonly table: SessionTable; readonly ledger: CallLedger }) {
    this.#parts = parts;
  }

  async read(query: UsageQuery): Promise<UsageReport> {
    const { table, ledger, index } = this.#parts;
    // A turn is one of a session.
    const by =
      query.by.includes("turn") && !query.by.includes("session") ? [...query.by, "session" as const] : query.by;
    await table.refresh();
    const calls = await ledger.calls();
    const turns = by.includes("turn") ? new TurnFinder(index) : undefined;
    const isAsked = askedCalls(query, table);
    const sums = new Map<string, { readonly places: Places; readonly sum: CallSum }>();
    const total = new CallSum();
    const unpriced = new Set<string>();
    const slice = new TimeSlice();
    const clock = new WallClock(query.timezone);
    for (const call of calls) {
      if (!isAsked(call)) continue;
      if (call.cost === undefined) unpriced.add(call.model);
      const places: { [division: string]: string | number } = {};
      for (const division of by) {
        if (division === "turn") {
          const turn = await turns?.turnAt(call.session_id, call.position);
          places.turn = turn?.number ?? 0;
          places.prompt = turn?.prompt ?? "";
        } else places[division] = placeOf(division, call, { query, table, clock });
      }
      // Turns are of the session that has them, and not of its parent.
      if (turns !== undefined) places.session = call.session_id;
      const key = JSON.stringify(places);
      let own = sums.get(key);
      if (own === undefined) {
        own = { places: places as Places, sum: new CallSum() };
        sums.set(key, own);
      }
      own.sum.add(call);
      total.add(call);
      if (slice.isOver) await slice.next();
    }
    const prices = await ledger.prices();
    return {
      by,
      rows: [...sums.values()].map(({ places, sum }) => this.#row(places, sum)).sort(inOrder),
      total: totalOf(total),
      unpriced: [...unpriced].sort().map((model) => this.#parts.mask.text(model)),
      prices: prices.from,
      timezone: clock.zone,
    };
  }

  /** Masked as in lists; a session is an address, without which nothing of it could be fetched. */
  #row(places: Places, sum: CallSum): UsageRow {
    const { mask, table } = this.#parts;
    const { session, turn, ...texts } = places;
    const masked = Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, mask.text(value)]));
    const { title = "", first_prompt = "" } = table.get(session ?? "") ?? {};
    return {
      ...masked,
      ...(session === undefined ? {} : { session, title: mask.text(title || first_prompt) }),
      ...(turn === undefined ? {} : { turn }),
      ...totalOf(sum),
    };
  }
}

function totalOf(sum: CallSum): UsageTotal {
  return { ...sum.sums(), ...(sum.isImplausible ? { implausible: true } : {}) };
}

function placeOf(
  division: Exclude<UsageDivision, "turn">,
  call: CountedCall,
  { query, table, clock }: { readonly query: UsageQuery; readonly table: SessionTable; readonly clock: WallClock },
): string {
  const { model, project, client, user, session_id, created_ms, tool = "" } = call;
  switch (division) {
    case "day":
      return dayOf(created_ms, clock);
    case "week": {
      const day = Date.parse(dayOf(created_ms, clock));
      const sinceMonday = (new Date(day).getUTCDay() + 6) % 7;
      return formatTime(day - sinceMonday * DAY_MS).slice(0, 10);
    }
    case "month":
      return dayOf(created_ms, clock).slice(0, 7);
    case "session": {
      const root = table.rootOf(session_id);
      const { session_id: asked } = query.filter;
      // A subagent that is asked for by its id is not in its parent's row.
      return asked === undefined || asked === "" ? root : asked;
    }
    default:
      return { model, project, client, user, tool }[division];
  }
}

function dayOf(ms: number, clock: WallClock): string {
  return clock.format(ms).slice(0, 10);
}

/** A call is asked for as a row of a list would be; a session with all that are below it. */
function askedCalls({ filter }: UsageQuery, table: SessionTable): (call: CountedCall) => boolean {
  const { session_id, ...rest } = filter;
  const below = session_id === undefined || session_id === "" ? undefined : new Set(table.treeOf(session_id));
  const conditions = session_id === "" ? filter : rest;
  return (call) => {
    if (below !== undefined && !below.has(call.session_id)) return false;
    const { created_ms, project, client, model, user } = call;
    const references = [
      { what: "model", reference: model },
      ...(user === "" ? [] : [{ what: "user_id", reference: user }, hasLabel("user_id")]),
    ] as Parameters<typeof rowMatches>[0]["references"];
    return rowMatches({ created_ms, session_id: call.session_id, project, client, references }, conditions);
  };
}

/** By time, then the greatest first; what is as great as another, by its names. Turns stay in their order. */
function inOrder(left: UsageRow, right: UsageRow): number {
  return (
    compare(timeOf(left), timeOf(right)) ||
    (left.session === right.session ? (left.turn ?? 0) - (right.turn ?? 0) : 0) ||
    (right.cost ?? 0) - (left.cost ?? 0) ||
    tokensOf(right) - tokensOf(left) ||
    compare(namesOf(left), namesOf(right))
  );
}

function timeOf({ day, week, month }: UsageRow): string {
  return day ?? week ?? month ?? "";
}

function tokensOf(row: UsageRow): number {
  return tokenNames.reduce((sum, name) => sum + row[name], 0);
}

function namesOf({ model = "", project = "", client = "", session = "", user = "", tool = "" }: UsageRow): string {
  return [model, project, client, session, user, tool].join("\n");
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
