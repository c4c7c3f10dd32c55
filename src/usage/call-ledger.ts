// The calls to models that a store knows, each once, with their tokens under one meaning and what they cost: read once, then kept
// up with the index. Usage, sessions and turns all sum up these calls.
import { tellings } from "../index/call-fold.js";
import { erasedThrough } from "../index/erasures.js";
import type { EntryIndex, IndexRevision } from "../index/port.js";
import { type TokenName, tokenNames } from "../model/usage.js";
import { CallMerger, type ModelCall } from "./call-merger.js";
import { type PriceFile, pricesOfFile } from "./price-file.js";
import { comparableTokens, costOf, knownPrices, type Prices } from "./price-table.js";

/** A call as it is summed up. */
export interface CountedCall extends ModelCall {
  /** In the order of `tokenNames`, with the same meaning for every provider. */
  readonly comparable: readonly number[];
  /** In US dollars; absent where the model has no known price. */
  readonly cost?: number;
  /** No call takes so many tokens: it is shown, and not summed. */
  readonly is_implausible: boolean;
}

/** What calls come to. */
export type UsageSums = { readonly [N in TokenName]: number } & { readonly calls: number; readonly cost?: number };

const TOKENS_PLAUSIBLE_MAX = 100_000_000;
/** Calls that are counted before other work has its turn. */
const SLICE = 5_000;

type LedgerIndex = Pick<EntryIndex, "revision" | "listDocuments" | "list">;

export class CallLedger {
  readonly #index: LedgerIndex;
  readonly #file: PriceFile | undefined;
  #merger = new CallMerger();
  #through = 0;
  #revision: IndexRevision | undefined;
  #erased = 0;
  #prices: Promise<Prices> | undefined;
  readonly #counted = new WeakMap<ModelCall, CountedCall>();
  #calls: readonly CountedCall[] = [];
  #bySession: ReadonlyMap<string, UsageSums> | undefined;
  #refreshing: Promise<void> = Promise.resolve();

  constructor(parts: { readonly index: LedgerIndex; readonly prices?: PriceFile | undefined }) {
    this.#index = parts.index;
    this.#file = parts.prices;
  }

  async prices(): Promise<Prices> {
    this.#prices ??= this.#file === undefined ? knownPrices() : Promise.resolve(pricesOfFile(this.#file));
    return this.#prices;
  }

  /** Every call, in the order in which they first occur. Calls at the same time share the work. */
  async calls(): Promise<readonly CountedCall[]> {
    this.#refreshing = this.#refreshing.catch(() => undefined).then(() => this.#refresh());
    await this.#refreshing;
    return this.#calls;
  }

  /** The sums of each session by itself; sessions without calls are not in it. */
  async bySession(): Promise<ReadonlyMap<string, UsageSums>> {
    const calls = await this.calls();
    if (this.#bySession === undefined) {
      const sums = new Map<string, CallSum>();
      for (const call of calls) {
        const own = sums.get(call.session_id);
        if (own === undefined) sums.set(call.session_id, new CallSum().add(call));
        else own.add(call);
      }
      this.#bySession = new Map([...sums].map(([session_id, sum]) => [session_id, sum.sums()]));
    }
    return this.#bySession;
  }

  async #refresh(): Promise<void> {
    const revision = await this.#index.revision();
    const known = this.#revision;
    if (known?.epoch === revision.epoch && known.position === revision.position) return;
    const erased = await erasedThrough(this.#index);
    if (known?.epoch !== revision.epoch || erased !== this.#erased) {
      this.#revision = undefined;
      this.#merger = new CallMerger();
      this.#through = 0;
    }
    let added = 0;
    for await (const page of tellings(this.#index, this.#through)) {
      for (const telling of page) this.#merger.add(telling);
      added += page.length;
      this.#through = page.at(-1)?.position ?? this.#through;
      // Whatever else waits for this thread has its turn.
      await othersFirst();
    }
    if (added > 0 || this.#revision === undefined) await this.#count();
    this.#revision = revision;
    this.#erased = erased;
  }

  async #count(): Promise<void> {
    const prices = await this.prices();
    const calls: CountedCall[] = [];
    for (const call of this.#merger.counted()) {
      let counted = this.#counted.get(call);
      if (counted === undefined) {
        counted = countedCall(call, prices);
        this.#counted.set(call, counted);
      }
      calls.push(counted);
      if (calls.length % SLICE === 0) await othersFirst();
    }
    this.#calls = calls;
    this.#bySession = undefined;
  }
}

function countedCall(call: ModelCall, prices: Prices): CountedCall {
  const comparable = comparableTokens(call);
  const rates = prices.ratesOf(call.model, call.created_ms);
  const [given = 0, wrote = 0] = comparable;
  return {
    ...call,
    comparable,
    ...(rates === undefined ? {} : { cost: costOf(call, rates) }),
    is_implausible: given + wrote > TOKENS_PLAUSIBLE_MAX,
  };
}

/** The sums of a row, call by call. */
export class CallSum {
  #calls = 0;
  #cost: number | undefined;
  #implausible = false;
  readonly #tokens = tokenNames.map(() => 0);

  add({ comparable, cost, is_implausible }: CountedCall): this {
    if (is_implausible) {
      this.#implausible = true;
      return this;
    }
    this.#calls += 1;
    for (const [at, count] of comparable.entries()) this.#tokens[at] = (this.#tokens[at] ?? 0) + count;
    if (cost !== undefined) this.#cost = (this.#cost ?? 0) + cost;
    return this;
  }

  get isImplausible(): boolean {
    return this.#implausible;
  }

  sums(): UsageSums {
    const tokens = tokenNames.map((name, at) => [name, this.#tokens[at]]);
    return {
      calls: this.#calls,
      ...(Object.fromEntries(tokens) as { [N in TokenName]: number }),
      ...(this.#cost === undefined ? {} : { cost: rounded(this.#cost) }),
    };
  }
}

/** Sums of fractions end in digits that mean nothing. */
export function rounded(cost: number): number {
  return Number(cost.toFixed(10));
}

function othersFirst(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
