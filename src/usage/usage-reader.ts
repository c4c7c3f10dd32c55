// Usage: how many tokens calls to models took and what they cost, by day, model, project, client and session.
import { tellings } from "../index/call-fold.js";
import { type RowFilter, rowMatches } from "../index/row-filter.js";
import { formatTime } from "../model/time.js";
import { type TokenName, tokenNames } from "../model/usage.js";
import type { ReadingParts } from "../search/lists/reader.js";
import { CallMerger, type ModelCall } from "./call-merger.js";
import { type PriceFile, pricesOfFile } from "./price-file.js";
import { costOf, knownPrices, type Prices } from "./price-table.js";
import type { UsageDivision, UsageReport, UsageRow, UsageTotal } from "./usage-report.js";

/** Which calls are counted, and what the sums are split by. */
export interface UsageQuery {
  readonly by: readonly UsageDivision[];
  readonly filter: Omit<RowFilter, "kinds" | "role">;
}

export class UsageReader {
  readonly #parts: ReadingParts & { readonly prices?: PriceFile | undefined };
  #known: Promise<Prices> | undefined;

  constructor(parts: ReadingParts & { readonly prices?: PriceFile | undefined }) {
    this.#parts = parts;
  }

  async read(query: UsageQuery): Promise<UsageReport> {
    const calls = new CallMerger();
    for await (const page of tellings(this.#parts.index)) {
      for (const telling of page) calls.add(telling);
      // Whatever else waits for this thread has its turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
    const prices = await this.#prices();
    const sums = new Map<string, { readonly call: ModelCall; readonly sum: Sum }>();
    const total = new Sum();
    const unpriced = new Set<string>();
    for (const call of calls.counted()) {
      if (!isAsked(call, query)) continue;
      const rates = prices.ratesOf(call.model, call.created_ms);
      if (rates === undefined) unpriced.add(call.model);
      const cost = rates === undefined ? undefined : costOf(call, rates);
      const key = JSON.stringify(query.by.map((division) => divisionOf[division](call)));
      let own = sums.get(key);
      if (own === undefined) {
        own = { call, sum: new Sum() };
        sums.set(key, own);
      }
      own.sum.add(call, cost);
      total.add(call, cost);
    }
    const rows = [...sums.values()].map(({ call, sum }) => this.#row(query.by, call, sum)).sort(inOrder);
    return {
      by: query.by,
      rows,
      total: total.total(),
      unpriced: [...unpriced].sort().map((model) => this.#parts.mask.text(model)),
      prices: prices.from,
      timezone: "UTC",
    };
  }

  async #prices(): Promise<Prices> {
    const { prices } = this.#parts;
    this.#known ??= prices === undefined ? knownPrices() : Promise.resolve(pricesOfFile(prices));
    return this.#known;
  }

  /** Masked as in lists; a session is an address, without which nothing of it could be fetched. */
  #row(by: readonly UsageDivision[], call: ModelCall, sum: Sum): UsageRow {
    const { mask } = this.#parts;
    const values = by.map((division) => {
      const value = divisionOf[division](call);
      return [division, division === "session" ? value : mask.text(value)];
    });
    return { ...(Object.fromEntries(values) as { [D in UsageDivision]?: string }), ...sum.total() };
  }
}

const divisionOf: { readonly [D in UsageDivision]: (call: ModelCall) => string } = {
  day: ({ created_ms }) => formatTime(created_ms).slice(0, 10),
  model: ({ model }) => model,
  project: ({ project }) => project,
  client: ({ client }) => client,
  session: ({ session_id }) => session_id,
};

/** A call is asked for as a row of a list would be. */
function isAsked(call: ModelCall, { filter }: UsageQuery): boolean {
  const { created_ms, session_id, project, client, model } = call;
  const references = [{ what: "model", reference: model }] as const;
  return rowMatches({ created_ms, session_id, project, client, references }, filter);
}

/** The sums of a row, call by call. */
class Sum {
  #calls = 0;
  #cost: number | undefined;
  readonly #tokens = tokenNames.map(() => 0);

  add({ tokens }: ModelCall, cost: number | undefined): void {
    this.#calls += 1;
    for (const [at, count] of tokens.entries()) this.#tokens[at] = (this.#tokens[at] ?? 0) + count;
    if (cost !== undefined) this.#cost = (this.#cost ?? 0) + cost;
  }

  total(): UsageTotal {
    const tokens = tokenNames.map((name, at) => [name, this.#tokens[at]]);
    return {
      calls: this.#calls,
      ...(Object.fromEntries(tokens) as { [N in TokenName]: number }),
      ...(this.#cost === undefined ? {} : { cost: rounded(this.#cost) }),
    };
  }
}

/** Cents by the billion: sums of fractions end in digits that mean nothing. */
function rounded(cost: number): number {
  return Number(cost.toFixed(10));
}

/** By day, then the greatest first; what is as great as another, by its names. */
function inOrder(left: UsageRow, right: UsageRow): number {
  return (
    compare(left.day ?? "", right.day ?? "") ||
    (right.cost ?? 0) - (left.cost ?? 0) ||
    tokensOf(right) - tokensOf(left) ||
    compare(namesOf(left), namesOf(right))
  );
}

function tokensOf(row: UsageRow): number {
  return tokenNames.reduce((sum, name) => sum + row[name], 0);
}

function namesOf({ model = "", project = "", client = "", session = "" }: UsageRow): string {
  return [model, project, client, session].join("\n");
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
