// Tokens that only the tool's running total tells of: a transcript has no usage of the requests that compact a conversation.

import { isJsonObject, type JsonObject } from "../../model/json.js";
import { tokenNames, toUsage, type Usage, type UsageNames } from "../../model/usage.js";

/** What a reading that goes on later has to know. */
export interface SpentTokensState {
  readonly totals: ReadonlyMap<string, Usage>;
  readonly answers: ReadonlyMap<string, AnswerUsage>;
  readonly since: string | undefined;
  readonly is_compacted: boolean;
}

interface AnswerUsage {
  readonly model: string;
  readonly usage: Usage;
}

const totalUsage: UsageNames = {
  input_tokens: [["inputTokens"]],
  output_tokens: [["outputTokens"]],
  cache_read_tokens: [["cacheReadInputTokens"]],
  cache_write_tokens: [["cacheCreationInputTokens"]],
};

/** The tokens of one session between two totals. */
export class SpentTokens {
  #totals: ReadonlyMap<string, Usage>;
  readonly #answers: Map<string, AnswerUsage>;
  #since: string | undefined;
  #isCompacted: boolean;

  constructor(known?: SpentTokensState) {
    this.#totals = new Map(known?.totals);
    this.#answers = new Map(known?.answers);
    this.#since = known?.since;
    this.#isCompacted = known?.is_compacted ?? false;
  }

  state(): SpentTokensState {
    return { totals: this.#totals, answers: this.#answers, since: this.#since, is_compacted: this.#isCompacted };
  }

  /** An answer of the transcript; its lines repeat its usage, and the last one is complete. */
  answer(id: string, model: string, usage: Usage): void {
    this.#answers.set(id, { model, usage });
  }

  compact(): void {
    this.#isCompacted = true;
  }

  /**
   * Takes a total. Where the conversation was compacted since the one before it: what is not accounted for, by model, once the
   * answers of subagents since then are known.
   */
  total({ modelUsage }: JsonObject, at: string | undefined): Unaccounted | undefined {
    const before = this.#totals;
    const answers = [...this.#answers.values()];
    const [since, isCompacted] = [this.#since, this.#isCompacted];
    const totals = new Map<string, Usage>();
    for (const [model, counts] of Object.entries(isJsonObject(modelUsage) ? modelUsage : {})) {
      const usage = toUsage(counts, totalUsage);
      if (usage !== undefined) totals.set(model, usage);
    }
    this.#totals = totals;
    this.#answers.clear();
    this.#since = at;
    this.#isCompacted = false;
    if (!isCompacted) return undefined;
    return { since, rest: (others) => restOf(totals, before, [...answers, ...others]) };
  }
}

export interface Unaccounted {
  /** The time of the total before. */
  readonly since: string | undefined;
  readonly rest: (others: readonly AnswerUsage[]) => readonly AnswerUsage[];
}

function restOf(
  totals: ReadonlyMap<string, Usage>,
  before: ReadonlyMap<string, Usage>,
  answers: readonly AnswerUsage[],
): readonly AnswerUsage[] {
  return [...totals].flatMap(([model, total]): readonly AnswerUsage[] => {
    const earlier = before.get(model) ?? {};
    // A total that fell began again.
    const start = (total.input_tokens ?? 0) < (earlier.input_tokens ?? 0) ? {} : earlier;
    const own = answers.filter((answer) => isSameModel(answer.model, model));
    const left = tokenNames.flatMap((name): readonly (readonly [string, number])[] => {
      const counted = own.reduce((sum, { usage }) => sum + (usage[name] ?? 0), start[name] ?? 0);
      const rest = (total[name] ?? 0) - counted;
      return rest > 0 ? [[name, rest]] : [];
    });
    return left.length === 0 ? [] : [{ model, usage: Object.fromEntries(left) as Usage }];
  });
}

/** A total may name a model with its window, as `name[1m]`, or without its date. */
function isSameModel(answered: string, total: string): boolean {
  const name = total.replace(/\[[^\]]*\]$/, "");
  return answered === name || answered.startsWith(`${name}-`) || name.startsWith(`${answered}-`);
}
