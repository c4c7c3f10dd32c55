// The passes over the record: propose what rules and models find, and count which memories turns used. Each can be stopped and run
// again at any time, because claims make everything happen once.
import type { OwnEntry, WriteContext } from "../log/capture/draft.js";
import type { TakenClaim } from "../log/port.js";
import { reinforcedClaim } from "../model/claims.js";
import type { Proposal } from "../model/memory.js";
import { optionNames } from "../model/options.js";
import type { MemoryReads } from "./memory-calls.js";
import type { MemoryUse, PassRange, RulesFound, TurnUses } from "./pass-steps.js";
import { CommandLessons } from "./propose/commands/lessons.js";
import { ModelPass, type ModelPassOptions, type ModelPlan } from "./propose/model/model-pass.js";
import { isRuleClass } from "./propose/rule-classes.js";
import { UserWords } from "./propose/words/user-words.js";
import type {
  DroppedProposal,
  DroppedStatement,
  Extraction,
  LookedAt,
  MemorySummary,
  PassedOverWords,
  Reinforced,
  Reinforcement,
} from "./review/memory-answers.js";

export interface PassOptions {
  /** One interaction alone. */
  readonly interaction_id?: string | undefined;
  readonly project?: string | undefined;
  readonly session_id?: string | undefined;
  /** Begin after this position, where an earlier run stopped. */
  readonly after?: number | undefined;
  /** End with this position; without it, where the log ends. */
  readonly through?: number | undefined;
  /** Called with how far it has come. */
  readonly onProgress?: ((position: number) => void) | undefined;
}

export interface RulesPassOptions extends PassOptions {
  /** Whether sentences of users are proposed; without it they are only counted. */
  readonly words?: boolean | undefined;
}

export const passOptionNames = optionNames<PassOptions>({
  interaction_id: true,
  project: true,
  session_id: true,
  after: true,
  through: true,
  onProgress: true,
});

export interface PassesParts {
  readonly calls: MemoryReads;
  readonly writeContext: WriteContext;
  readonly propose: (proposal: Proposal) => Promise<MemorySummary | DroppedProposal>;
  readonly reinforced: (turn: TurnUses) => OwnEntry;
  readonly attempt: (entries: readonly OwnEntry[]) => Promise<readonly TakenClaim[] | undefined>;
}

/** How a pass runs in the background. */
export interface LivePass {
  /** Only what was recorded as it happened. */
  readonly is_live: boolean;
  /** Asked between two ranges of the log and before each commit; false ends the pass. */
  readonly shouldContinue: () => Promise<boolean>;
  /** Commands of earlier ranges. */
  readonly commands: CommandLessons;
  /** What users said in earlier ranges. */
  readonly words: UserWords;
}

/** Turns in one commit: neither an fsync for each nor long transactions, which would slow capture down. */
const TURNS_AT_ONCE = 4;

/** The gate named for a model's answer that cannot be parsed. */
const ANSWER = "answer";

/** How many dropped statements are returned with their reasons; the others are only counted. */
const EXPLAINED_MAX = 10_000;

export class Passes {
  readonly #parts: PassesParts;
  #written = 0;

  constructor(parts: PassesParts) {
    this.#parts = parts;
  }

  /** How many entries have been appended to count uses. */
  get written(): number {
    return this.#written;
  }

  /** Proposes what rules find in a range of the log. */
  async extract(options: RulesPassOptions, live?: LivePass): Promise<Extraction> {
    const collected = new ExtractionCollector();
    const commands = live?.commands ?? new CommandLessons();
    const words = live?.words ?? new UserWords({ sentences: options.words === true });
    const through = await this.#walk(options, live, async (range) => {
      const step = await this.#parts.calls.proposalsIn(range);
      await this.#proposeAll(step, words, collected);
      for (const call of step.steps) commands.add(call);
      return step;
    });
    for (const { proposal, done } of commands.newProposals()) {
      await this.#propose(proposal, collected);
      done();
    }
    if (live === undefined) collected.passOver([...commands.passedOver(), ...words.passedOver()]);
    return collected.finish(through);
  }

  /** The same of one interaction; undefined where there is none. */
  async extractOne(id: string): Promise<Extraction | undefined> {
    const found = await this.#parts.calls.proposalsOfInteraction(id);
    if (found === undefined) return undefined;
    const collected = new ExtractionCollector();
    // A request about one interaction wants to see what is in it.
    const words = new UserWords({ sentences: true });
    await this.#proposeAll(found, words, collected);
    collected.passOver(words.passedOver());
    return collected.finish(0);
  }

  /** What a model would be sent. */
  async planModel(options: ModelPassOptions): Promise<ModelPlan> {
    const { calls, writeContext, attempt } = this.#parts;
    const propose = async (): Promise<void> => undefined;
    return new ModelPass({ calls, writeContext, propose, append: attempt }, options, new ExtractionCollector()).plan();
  }

  /** Proposes what a model finds in sessions that have ended. */
  async extractByModel(options: ModelPassOptions): Promise<Extraction> {
    const collected = new ExtractionCollector();
    const { calls, writeContext, attempt } = this.#parts;
    const propose = (proposal: Proposal): Promise<void> => this.#propose(proposal, collected);
    const pass = new ModelPass({ calls, writeContext, propose, append: attempt }, options, collected);
    const stopped = await pass.run();
    return { ...collected.finish(0), ...(stopped === undefined ? {} : { stopped }) };
  }

  /** Counts what the turns in a range of the log used. */
  async reinforce(options: PassOptions, live?: LivePass): Promise<Reinforcement> {
    const reinforced: Reinforced[] = [];
    const waiting: string[] = [];
    const through = await this.#walk(options, live, async (range) => {
      const step = await this.#parts.calls.usesIn(range);
      for (let at = 0; at < step.turns.length; at += TURNS_AT_ONCE) {
        // The rest of the range is counted next time.
        if (live !== undefined && !(await live.shouldContinue())) return { ...step, is_end: true };
        reinforced.push(...(await this.#reinforce(step.turns.slice(at, at + TURNS_AT_ONCE))));
      }
      waiting.push(...step.waiting);
      return step;
    });
    return { reinforced, through, waiting };
  }

  /** The same of one turn, over or not; undefined where there is none. */
  async reinforceOne(id: string, now_ms?: number): Promise<Reinforcement | undefined> {
    const turn = await this.#parts.calls.usesOfTurn({ id, now_ms });
    if (turn === undefined) return undefined;
    if (turn === "waiting") return { reinforced: [], through: 0, waiting: [id] };
    return { reinforced: await this.#reinforce([turn]), through: 0, waiting: [] };
  }

  async #walk(
    { after = 0, through: end, project = "", session_id = "", onProgress }: PassOptions,
    live: LivePass | undefined,
    step: (range: PassRange) => Promise<{ readonly through: number; readonly is_end: boolean }>,
  ): Promise<number> {
    let from = after;
    while (end === undefined || from < end) {
      const named = { after: from, ...(end === undefined ? {} : { through: end }), project, session_id };
      const { through, is_end } = await step({
        ...named,
        is_live: live?.is_live ?? false,
        now_ms: this.#parts.writeContext.nowMs(),
      });
      if (is_end) break;
      from = through;
      onProgress?.(from);
      if (live !== undefined && !(await live.shouldContinue())) break;
    }
    return from;
  }

  async #proposeAll(found: RulesFound, words: UserWords, collected: ExtractionCollector): Promise<void> {
    collected.addRead(found);
    const said = found.words.flatMap((step) => words.add(step));
    for (const proposal of [...found.proposals, ...said]) await this.#propose(proposal, collected);
  }

  async #propose(proposal: Proposal, collected: ExtractionCollector): Promise<void> {
    collected.add(proposal, await this.#parts.propose(proposal));
  }

  /** In one commit. Where uses were counted before, the others are tried again. */
  async #reinforce(turns: readonly TurnUses[]): Promise<readonly Reinforced[]> {
    let left = turns;
    for (;;) {
      const entries = left.filter(({ uses }) => uses.length > 0).map((turn) => this.#parts.reinforced(turn));
      const taken = await this.#parts.attempt(entries);
      if (taken === undefined) {
        this.#written += entries.length;
        return left.flatMap(({ turn_id, uses }) => uses.map((use) => ({ ...use, turn_id })));
      }
      const claims = new Set(taken.map(({ claim }) => claim));
      const isNew = (turn_id: string) => (use: MemoryUse) => !claims.has(reinforcedClaim(use.memory_id, turn_id));
      const rest = left.map((turn) => ({ ...turn, uses: turn.uses.filter(isNew(turn.turn_id)) }));
      // Retrying helps only where some of these claims were taken.
      if (rest.every(({ uses }, at) => uses.length === left[at]?.uses.length)) return [];
      left = rest;
    }
  }
}

/** Collects the result of an extraction. */
export class ExtractionCollector {
  readonly #candidates: MemorySummary[] = [];
  readonly #dropped: DroppedStatement[] = [];
  readonly #byGate = new Map<string, number>();
  readonly #passedOver: PassedOverWords[] = [];
  #lookedAt: LookedAt = { entries: 0, users: 0, assistants: 0, decisions: 0, tool_calls: 0 };

  addRead({ looked_at, passed_over }: RulesFound): void {
    const { entries, users, assistants, decisions, tool_calls } = this.#lookedAt;
    this.#lookedAt = {
      entries: entries + looked_at.entries,
      users: users + looked_at.users,
      assistants: assistants + looked_at.assistants,
      decisions: decisions + looked_at.decisions,
      tool_calls: tool_calls + looked_at.tool_calls,
    };
    this.passOver(passed_over);
  }

  passOver(words: readonly PassedOverWords[]): void {
    this.#passedOver.push(...words.slice(0, EXPLAINED_MAX - this.#passedOver.length));
  }

  add({ content, evidence, tags }: Proposal, answer: MemorySummary | DroppedProposal): void {
    if (!("dropped" in answer)) {
      this.#candidates.push(answer);
      return;
    }
    const name = tags.find(isRuleClass);
    const entry_ids = evidence.map(({ entry_id }) => entry_id);
    this.#drop({ ...answer, content, ...(name === undefined ? {} : { class: name }), entry_ids });
  }

  /** A part of a model's answer that is no proposal. */
  refuse(reason: string, entry_ids: readonly string[]): void {
    this.#drop({ dropped: ANSWER, reason, content: "", entry_ids });
  }

  #drop(statement: DroppedStatement): void {
    const { dropped, entry_ids } = statement;
    this.#byGate.set(dropped, (this.#byGate.get(dropped) ?? 0) + 1);
    if (this.#dropped.length < EXPLAINED_MAX) this.#dropped.push({ ...statement, entry_ids: [...new Set(entry_ids)] });
  }

  finish(through: number): Extraction {
    const dropped_by_gate = Object.fromEntries(this.#byGate);
    const looked = { looked_at: this.#lookedAt, passed_over: this.#passedOver };
    return { candidates: this.#candidates, dropped: this.#dropped, dropped_by_gate, ...looked, through };
  }
}
