// Where memories are worked with beside the index: recall, and the judgement of proposals by what was recorded.
import type { KeptMemory } from "../../index/memory-fold.js";
import type { EntryIndex } from "../../index/port.js";
import type { EntryLog } from "../../log/port.js";
import type { Mask } from "../../model/mask.js";
import type { Evidence, Proposal } from "../../model/memory.js";
import { TimeSlice } from "../../model/scheduling.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";
import { loadTokenCounter } from "../../sessions/history/tokens.js";
import { audited } from "../files/audit.js";
import { FileCopies } from "../files/copies.js";
import type { AuditedStatement, FileText, FoundStatement } from "../files/file-audit.js";
import { statementsOf } from "../files/statements.js";
import { SupportSearch } from "../files/support.js";
import { PassReader } from "../pass-reader.js";
import { tokensSentSince } from "../propose/model/sent-tokens.js";
import { namesTool } from "../propose/rules/tools.js";
import type { MemoriesById } from "../read/kept-memories.js";
import type { Recalled } from "../read/memory-answers.js";
import type { RecallQuery } from "../read/memory-query.js";
import type { MemoryReader } from "../read/memory-reader.js";
import type { PassRange, ProposalStep, RulesFound, TurnUses, TurnWish, UsesStep } from "../read/pass-steps.js";
import type { QuotedEntry } from "../read/quoted-entry.js";
import { Recall } from "../recall/recall.js";
import { SessionGifts } from "../reinforce/session-given.js";
import { TurnUsesReader } from "../reinforce/turn-uses.js";
import { quotedEntry } from "../text/spoken.js";
import { Stems } from "../text/stems.js";
import { TurnReader } from "../turn-reader.js";
import { comparable } from "./comparable.js";
import { floodIn } from "./flood.js";
import { judge } from "./gates/gates.js";
import { groundOf, heardOf, namedEntries } from "./grounds.js";
import type { Hearing, Judged, StatementWish, Twin } from "./judged.js";
import { StatementLookup } from "./statement-lookup.js";

export interface ReviewDeskParts {
  readonly index: EntryIndex;
  readonly memories: MemoryReader;
  readonly entries: EntryReader;
  readonly mask: Mask;
}

export class ReviewDesk {
  readonly #index: EntryIndex;
  readonly #memories: MemoryReader;
  readonly #entries: EntryReader;
  readonly #gifts: SessionGifts;
  readonly #mask: Mask;
  readonly #stems = new Stems();
  readonly #passes: PassReader;
  #recall: Recall | undefined;
  readonly #comparables = new WeakMap<KeptMemory, string>();
  #readings = 0;

  constructor(parts: ReviewDeskParts) {
    this.#index = parts.index;
    this.#memories = parts.memories;
    this.#entries = parts.entries;
    this.#mask = parts.mask;
    const gifts = new SessionGifts(parts);
    this.#gifts = gifts;
    const uses = new TurnUsesReader({ stems: this.#stems, gifts });
    this.#passes = new PassReader({ entries: parts.entries, turns: new TurnReader(parts), uses });
  }

  async recall(query: RecallQuery): Promise<Recalled> {
    this.#recall ??= new Recall({ count: await loadTokenCounter(), stems: this.#stems, mask: this.#mask });
    return this.#recall.recall(await this.#all(), query);
  }

  /** Whose words these are, where all of them stand in the entries that they name. */
  async hear(evidence: readonly Evidence[]): Promise<Hearing> {
    const named = await namedEntries(evidence, this.#entries);
    for (const { entry_id, quote } of evidence) {
      const known = named.get(entry_id)?.quoted;
      if (known === undefined) return { missing: `there is no entry ${entry_id}, or it was forgotten` };
      const stands = known.said.some(({ text }) => text.includes(quote));
      if (!stands) return { missing: `the quote does not stand word for word in entry ${entry_id}` };
    }
    const projects = [...new Set([...named.values()].map(({ entry }) => entry.project))];
    return { words: heardOf(evidence, named), projects };
  }

  /** The memories of a project, or everywhere, that say just this and are in use or wait; in the order in which they came. */
  async twins({ content, project }: StatementWish): Promise<readonly Twin[]> {
    const sought = comparable(content);
    return [...(await this.#all()).values()]
      .filter((memory) => memory.project === project || memory.project === "")
      .filter(({ status }) => status === "active" || status === "candidate")
      .filter((memory) => this.#comparable(memory) === sought)
      .toSorted((left, right) => left.proposed - right.proposed)
      .map(({ id, status }) => ({ id, status }));
  }

  /** Through the gates, unless whoever decides has had enough of the source. */
  async judge(proposal: Proposal): Promise<Judged> {
    const memories = await this.#all();
    const { source, generation } = proposal;
    const taken = this.#memories
      .acceptance(memories)
      .find((one) => one.source === source && one.generation === generation);
    if (taken?.is_paused === true) {
      const verdicts = taken.accepted + taken.rejected;
      const reason = `Of the last ${verdicts} proposals of this source ${taken.accepted} were accepted: it is paused.`;
      return { dropped: "paused", reason };
    }
    const named = await namedEntries(proposal.evidence, this.#entries);
    const ground = await groundOf(named, { memories, gifts: this.#gifts, project: proposal.project });
    const judgement = judge(proposal, ground, this.#stems);
    if ("kept" in judgement) {
      const { kept } = judgement;
      const flood = floodIn(kept, { named, memories });
      return flood === undefined ? { kept, heard: heardOf(kept.evidence, named) } : { dropped: "limit", reason: flood };
    }
    const { adds_evidence_to: joined, ...dropped } = judgement;
    if (joined === undefined) return dropped;
    return { ...dropped, adds_evidence_to: joined.id, heard: heardOf(joined.evidence, named) };
  }

  proposalsIn(log: EntryLog, range: PassRange): Promise<ProposalStep> {
    return this.#passes.proposals(log, range);
  }

  proposalsOfInteraction(log: EntryLog, id: string): Promise<RulesFound | undefined> {
    return this.#passes.proposalsOfInteraction(log, id);
  }

  async usesIn(log: EntryLog, range: PassRange): Promise<UsesStep> {
    return this.#passes.uses(log, range, await this.#all());
  }

  async usesOfTurn(wish: TurnWish): Promise<TurnUses | "waiting" | undefined> {
    return this.#passes.usesOfTurn(wish.id, await this.#all(), wish.now_ms);
  }

  /** What the record says of every statement in a memory file. */
  async audit({ text, project }: FileText): Promise<readonly AuditedStatement[]> {
    const memories = [...(await this.#all()).values()].filter((memory) => isOf(memory, project));
    const looking = this.#looking();
    const support = new SupportSearch(this.#stems);
    const ownCopies = new FileCopies(text);
    const turn = new TimeSlice();
    const found: AuditedStatement[] = [];
    for (const { text: statement, line } of statementsOf(text)) {
      if (turn.isOver) await turn.next();
      const { entries, packs } = await looking.find(statement, project);
      const { said, copies } = ownCopies.split(entries);
      const ground = { entries: said, packs: [...copies, ...packs], memories, support };
      found.push({ statement, line, ...audited(statement, ground, this.#stems) });
    }
    return found;
  }

  /** The statements of a memory file as proposals, with who said so in the record. */
  async statements({ text, project }: FileText): Promise<readonly FoundStatement[]> {
    const looking = this.#looking();
    const support = new SupportSearch(this.#stems);
    const ownCopies = new FileCopies(text);
    const turn = new TimeSlice();
    const found: FoundStatement[] = [];
    for (const { text: content, line } of statementsOf(text)) {
      if (turn.isOver) await turn.next();
      const { said } = ownCopies.split((await looking.find(content, project)).entries);
      const same = support.in(said, content).filter(({ says }) => says === "same");
      const type = namesTool(content) ? "project" : "preference";
      const evidence = same.slice(-EVIDENCE_MAX).map((support) => support.evidence);
      const proposal = { type, content, source: "import", evidence, project, tags: [], generation: "" } as const;
      found.push({ line, proposal });
    }
    return found;
  }

  /** Masked, since it leaves the machine. */
  async quotableOf(session_id: string): Promise<readonly QuotedEntry[]> {
    const quoted: QuotedEntry[] = [];
    for (let after = 0; ; ) {
      const range = { session_id, order: "asc", after, limit: READ_AT_ONCE, kinds: SPOKEN_KINDS } as const;
      const positions = await this.#index.sessionPositions(range);
      quoted.push(...(await this.#entries.show(positions)).flatMap((entry) => quotedEntry(entry) ?? []));
      const last = positions.at(-1);
      if (last === undefined || positions.length < READ_AT_ONCE) return quoted;
      after = last;
    }
  }

  async tokensSentSince(since_ms: number): Promise<number> {
    return tokensSentSince(since_ms, { index: this.#index, entries: this.#entries });
  }

  #comparable(memory: KeptMemory): string {
    const known = this.#comparables.get(memory) ?? comparable(memory.content);
    this.#comparables.set(memory, known);
    return known;
  }

  #looking(): StatementLookup {
    return new StatementLookup({ index: this.#index, entries: this.#entries, stems: this.#stems });
  }

  async #all(): Promise<MemoriesById> {
    const memories = await this.#memories.all();
    if (this.#readings !== this.#memories.readings) this.#gifts.forget();
    this.#readings = this.#memories.readings;
    return memories;
  }
}

/** Of what was said often, the newest is quoted. */
const EVIDENCE_MAX = 3;

function isOf(memory: { readonly project: string }, project: string): boolean {
  return project === "" || memory.project === "" || memory.project === project;
}

const READ_AT_ONCE = 200;
const SPOKEN_KINDS = ["message", "interaction", "tool_call", "error", "decision"];
