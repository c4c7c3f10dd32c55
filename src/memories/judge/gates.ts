// The gates in their order, and the judgement that they come to. A gate is a pure function that lets a proposal pass, perhaps
// changed, or says in a sentence why not. All sources pass the same gates, and none asks a model.

import type { Evidence, MemorySource, MemoryStatus, MemoryType, Proposal } from "../../model/memory.js";
import { codePoints } from "../../model/normalise.js";
import type { Speaker } from "../text/quoted-entry.js";
import { type Sentence, sentencesOf } from "../text/sentences.js";
import type { Stems } from "../text/stems.js";
import { contradict } from "./contradiction.js";
import { Grounds } from "./grounds.js";
import { hedgeAround, hedgeIn, isQuestion, trialIn } from "./hedges.js";
import type { GateContext, GivenText, KeptProposal, KnownMemory } from "./judgement.js";
import { particularsOf } from "./particulars.js";
import { comparable, formOf, projectAmong, QUOTE_CHARS_MIN, subjectOf } from "./statement.js";

type GateResult =
  | { readonly passed: KeptProposal }
  | {
      readonly dropped: string;
      /** The candidate that says the same and gets the evidence. */
      readonly joins?: string;
    };

interface GateInput {
  /** As its source made it, before the first gate cleaned it. */
  readonly proposal: Proposal;
  readonly context: GateContext;
  readonly stems: Stems;
}

type Gate = (candidate: KeptProposal, input: GateInput) => GateResult;

const gates = {
  form: formGate,
  evidence: evidenceGate,
  grounding: groundingGate,
  hedge: hedgeGate,
  feedback_guard: feedbackGuardGate,
  template: templateGate,
  known: knownGate,
  project: projectGate,
} as const satisfies { readonly [name: string]: Gate };

type GateName = keyof typeof gates;

export const gateNames = Object.keys(gates) as readonly GateName[];

type Judgement =
  | { readonly kept: KeptProposal }
  | {
      readonly dropped: GateName;
      /** A sentence for people. */
      readonly reason: string;
      /** The waiting candidate that says the same: it gets this evidence, and nothing else is proposed. */
      readonly adds_evidence_to?: { readonly id: string; readonly evidence: readonly Evidence[] };
    };

export function judge(proposal: Proposal, context: GateContext, stems: Stems): Judgement {
  const input = { proposal, context, stems };
  let candidate: KeptProposal = { ...proposal, similar_to: [], conflicts_with: [] };
  for (const name of gateNames) {
    const result = gates[name](candidate, input);
    if ("passed" in result) {
      candidate = result.passed;
      continue;
    }
    const { dropped: reason, joins } = result;
    if (joins === undefined) return { dropped: name, reason };
    // Evidence that the last gate would drop is not added to another candidate either.
    const placed = projectGate(candidate, input);
    if ("dropped" in placed) return { dropped: "project", reason: placed.dropped };
    return { dropped: name, reason, adds_evidence_to: { id: joins, evidence: candidate.evidence } };
  }
  return { kept: candidate };
}

/** The first gate: a statement is a line of 8 to 280 characters with nothing invisible in it. */
function formGate(candidate: KeptProposal): GateResult {
  const formed = formOf(candidate.content);
  if ("flaw" in formed) return { dropped: `It ${formed.flaw}.` };
  return { passed: { ...candidate, content: formed.statement } };
}

/** Rules and decisions have their types from where they were found, and a person's word needs no other. */
const TYPED_BY_SOURCE: ReadonlySet<MemorySource> = new Set(["rule:commands", "rule:words", "decision", "person"]);

/** Who must have said a statement of a type, where it comes from another source. */
const speakersByType: { readonly [T in MemoryType]: readonly Speaker[] } = {
  identity: ["user"],
  preference: ["user"],
  project: ["user", "tool"],
  knowledge: ["user", "tool"],
  episodic: [],
  adaptation: [],
};

const speakerNames: { readonly [S in Speaker]: string } = {
  user: "a user",
  tool: "a tool",
  assistant: "an assistant",
  system: "a system message",
};

/** The second gate: every quote stands word for word in the entry it names, and the right people said it. */
function evidenceGate(candidate: KeptProposal, { context }: GateInput): GateResult {
  if (candidate.evidence.length === 0) {
    return candidate.source === "person"
      ? { passed: candidate }
      : { dropped: "It has no evidence: nothing in the record is quoted." };
  }
  for (const each of candidate.evidence) {
    const flaw = flawOf(each, context);
    if (flaw !== undefined) return { dropped: flaw };
  }
  if (TYPED_BY_SOURCE.has(candidate.source)) return { passed: candidate };
  return byWhoSaidIt(candidate, new Set(candidate.evidence.flatMap((each) => speakersOf(each, context))));
}

/** Who said a quote: everybody who has it in that entry. */
function speakersOf({ entry_id, quote }: Evidence, { entriesById }: GateContext): readonly Speaker[] {
  const said = entriesById.get(entry_id)?.said ?? [];
  return said.filter(({ text }) => text.includes(quote)).map(({ by }) => by);
}

function byWhoSaidIt(candidate: KeptProposal, speakers: ReadonlySet<Speaker>): GateResult {
  if ([...speakers].every((by) => by === "assistant")) return { passed: { ...candidate, type: "episodic" } };
  const needed = speakersByType[candidate.type];
  if (needed.length === 0 || needed.some((by) => speakers.has(by))) return { passed: candidate };
  const who = needed.map((by) => speakerNames[by]).join(" or ");
  const instead = [...speakers].map((by) => speakerNames[by]).join(" and ");
  return {
    dropped: `A statement of type ${candidate.type} needs a quote of ${who}, and this one is from ${instead}.`,
  };
}

function flawOf({ entry_id, quote }: Evidence, { entriesById }: GateContext): string | undefined {
  const entry = entriesById.get(entry_id);
  if (entry === undefined) return `The quoted entry ${entry_id} does not exist or was forgotten.`;
  if (quote.trim() === "") return `The quote from entry ${entry_id} is empty.`;
  const holding = entry.said.filter(({ text }) => text.includes(quote));
  if (holding.length === 0) return `The quote is not in entry ${entry_id} word for word.`;
  if (codePoints(quote) >= QUOTE_CHARS_MIN || holding.some(({ text }) => text.trim() === quote.trim()))
    return undefined;
  return `The quote has fewer than ${QUOTE_CHARS_MIN} characters and is not the whole text.`;
}

/**
 * The third gate: a number, a path, an address, a flag or an identifier that stands neither in a quoted entry nor in the turn before
 * it was invented.
 */
function groundingGate(candidate: KeptProposal, { context }: GateInput): GateResult {
  // A person's word needs no evidence, and then there is no entry to look in.
  if (candidate.source === "person" && candidate.evidence.length === 0) return { passed: candidate };
  const ids = new Set(candidate.evidence.map(({ entry_id }) => entry_id));
  const grounds = new Grounds([...ids].flatMap((id) => textsAround(id, context)));
  // How often a command ran is counted, not quoted.
  const said = candidate.source === "rule:commands" ? subjectOf(candidate.content) : candidate.content;
  const missing = particularsOf(said).find((particular) => !grounds.has(particular));
  return missing === undefined
    ? { passed: candidate }
    : { dropped: `Neither a quoted entry nor the turn before it contains "${missing}".` };
}

function textsAround(entry_id: string, { entriesById, before }: GateContext): readonly string[] {
  const own = entriesById.get(entry_id)?.said.map(({ text }) => text) ?? [];
  return [...own, ...(before?.get(entry_id) ?? [])];
}

/** How far around a quote its sentence is looked for. */
const AROUND_CHARS = 400;

/** The fourth gate: what somebody supposed, tried or asked is no fact, neither in the statement nor in what it quotes. */
function hedgeGate(candidate: KeptProposal, { proposal, context, stems }: GateInput): GateResult {
  if (isQuestion(proposal.content)) return { dropped: "It is a question, not a statement." };
  // What a rule made of commands repeats programs' words: "may not", "unlikely".
  if (proposal.source === "rule:commands") return { passed: candidate };
  const hedged = hedgeIn(candidate.content);
  if (hedged !== undefined) return { dropped: `It is a guess ("${hedged}"), not a fact.` };
  // The decision itself must be one: its rationale does not make a decision of a question or a trial.
  const undecided = proposal.source === "decision" ? undecidedIn(proposal.evidence) : undefined;
  if (undecided !== undefined) return { dropped: undecided };
  const flaws = candidate.evidence.map((each) => flawAround(each, candidate.content, context, stems));
  const first = flaws[0];
  return first === undefined || flaws.includes(undefined) ? { passed: candidate } : { dropped: first };
}

/**
 * What is wrong with the sentence that a quote was cut from. Of several sentences the one counts that says most of the statement:
 * other words quoted with a guess do not make it more than a guess.
 */
function flawAround({ entry_id, quote }: Evidence, content: string, { entriesById }: GateContext, stems: Stems) {
  const text = entriesById.get(entry_id)?.said.find((said) => said.text.includes(quote))?.text;
  if (text === undefined) return flawIn(quote);
  const at = text.indexOf(quote);
  const from = Math.max(0, at - AROUND_CHARS);
  const around = text.slice(from, at + quote.length + AROUND_CHARS);
  const touched = [...sentencesOf(around)].filter(
    ({ start, end }) => from + end > at && from + start < at + quote.length,
  );
  const flaws = mainSentences(touched, content, stems).map(({ text: sentence, start, end }) => {
    const range = { start: Math.max(0, at - from - start), end: Math.min(end, at - from + quote.length) - start };
    return flawIn(sentence, { range, about: (clause) => sharedIn(stems.of(content), stems.of(clause)) });
  });
  return flaws.includes(undefined) ? undefined : flaws[0];
}

function undecidedIn(evidence: readonly Evidence[]): string | undefined {
  const [decision = "", rationale = ""] = evidence.map(({ quote }) => quote);
  if (isQuestion(decision)) return "The decision is a question.";
  const trial = trialIn(decision) ?? trialIn(rationale);
  return trial === undefined ? flawIn(decision) : `It is a trial ("${trial}"), not a decision.`;
}

/** With a range, only of the clauses of the sentence that the quote is from, and of those the one that says most of the statement. */
function flawIn(sentence: string, quoted?: Parameters<typeof hedgeAround>[1]): string | undefined {
  if (isQuestion(sentence)) return "Its quote is a question.";
  const hedged = quoted === undefined ? hedgeIn(sentence) : hedgeAround(sentence, quoted);
  return hedged === undefined ? undefined : `Its quote is a guess ("${hedged}"), not a fact.`;
}

/** Which sentences say most of a statement. Whatever else is quoted with them neither supports it nor makes up for them. */
function mainSentences(sentences: readonly Sentence[], statement: string, stems: Stems): readonly Sentence[] {
  const sought = stems.of(statement);
  const language = stems.language(statement);
  const shares = sentences.map(({ text }) => sharedIn(sought, stems.of(text, language)));
  const most = Math.max(...shares);
  return sentences.filter((_, nth) => shares[nth] === most);
}

function sharedIn(sought: ReadonlySet<string>, found: ReadonlySet<string>): number {
  let count = 0;
  for (const stem of sought) count += Number(found.has(stem));
  return count;
}

/** A shorter text is a phrase that anybody may use. */
const ECHOED_CHARS_MIN = 20;

const sourceNames: { readonly [F in GivenText["from"]]: string } = {
  context_pack: "a context pack of the session",
  injected: "text that a program injected into the session",
  memory: "a memory that the session was given",
  memory_file: "a memory file that the session read",
  consolidation: "a summary of the session",
};

/** The fifth gate: what a session was given was not learned in it. Otherwise recalled memories would be learned again. */
function feedbackGuardGate(candidate: KeptProposal, { context, stems }: GateInput): GateResult {
  for (const each of candidate.evidence) {
    // Text that was given stays so, whatever else is quoted with it.
    const main = mainSentences([...sentencesOf(each.quote)], candidate.content, stems).map(({ text }) => text);
    const source = echoed(each, { main, content: candidate.content }, context);
    if (source !== undefined)
      return { dropped: `Its quote repeats ${sourceNames[source.from]}, so it was not learned in this session.` };
  }
  return { passed: candidate };
}

/** The sixth gate: what a program says at the beginning of many sessions is no person's word. */
function templateGate(candidate: KeptProposal, { context }: GateInput): GateResult {
  const isTemplate = candidate.evidence.some(({ entry_id }) => context.templates?.has(entry_id) === true);
  return isTemplate
    ? { dropped: "Its quote is from a message that begins like those of two other sessions: a template." }
    : { passed: candidate };
}

interface EchoedWords {
  readonly content: string;
  readonly main: readonly string[];
}

function echoed(evidence: Evidence, { content, main }: EchoedWords, context: GateContext): GivenText | undefined {
  const session_id = context.entriesById.get(evidence.entry_id)?.session_id;
  const quote = comparable(evidence.quote);
  if (quote === "") return undefined;
  // A heading or another beginning may stand before what was given.
  const parts = [quote, ...[content, ...main].map(comparable).filter((part) => part.length >= ECHOED_CHARS_MIN)];
  // An assistant that wraps what it was given in words of its own still repeats it.
  const isAssistants = speakersOf(evidence, context).every((by) => by === "assistant");
  return context.given.find(({ session_id: given_in, words, from }) => {
    // What a memory file says is known; the gate of known statements looks for it line by line.
    if (given_in !== session_id || from === "memory_file") return false;
    if (parts.some((part) => within(part, words))) return true;
    const given = words.trim();
    return isAssistants && given.length >= ECHOED_CHARS_MIN && within(given, ` ${quote} `);
  });
}

function within(part: string, whole: string): boolean {
  return whole.includes(` ${part} `) || (/[^\p{ASCII}]/u.test(part) && whole.includes(part));
}

const SAME_MIN = 0.7;
const SIMILAR_MIN = 0.4;
/** Two statements that contradict each other have at least their subject in common. */
const RELATED_MIN = 0.2;

/** How a reason names a memory's status; undefined where it may be proposed again. */
const statusNames: { readonly [S in MemoryStatus]: string | undefined } = {
  active: "is known already",
  candidate: "is already waiting for review",
  rejected: "was rejected before",
  superseded: undefined,
};

/**
 * The seventh gate: what is known, waits or was rejected is not proposed again. What resembles or contradicts it is proposed with
 * a note of that.
 */
function knownGate(candidate: KeptProposal, { context, stems }: GateInput): GateResult {
  const line = lineThatSays(candidate, context, stems);
  if (line !== undefined) return { dropped: `A memory file that the session read says so: "${line.slice(0, 100)}".` };
  const project = projectOf(candidate, context);
  const relevant = context.memories.filter(
    (memory) => statusNames[memory.status] !== undefined && (memory.project === project || memory.project === ""),
  );
  const similar_to: string[] = [];
  const conflicts_with: string[] = [];
  let same: KnownMemory | undefined;
  for (const memory of relevant) {
    const relation = relationOf(candidate.content, memory.content, stems);
    if (relation === "same") same = firstOf(same, memory);
    else if (relation === "similar" && memory.status !== "rejected") similar_to.push(memory.id);
    else if (relation === "conflicting" && memory.status !== "rejected") conflicts_with.push(memory.id);
  }
  if (same === undefined) return { passed: { ...candidate, similar_to, conflicts_with } };
  const dropped = `The same ${statusNames[same.status]}: memory ${same.id}.`;
  return same.status === "candidate" ? { dropped, joins: same.id } : { dropped };
}

/** A project's command, and the folder that it runs in. */
const COMMAND_OF = /^\w+: `([^`]+)`(?: in `([^`]+)`)?/;

/** The line of a memory file, read in a quoted session, that says the same or names the command. */
function lineThatSays({ content, evidence, source }: KeptProposal, context: GateContext, stems: Stems) {
  if (source === "import" || source === "person") return undefined;
  // A decision is quoted apart from its rationale.
  const quotes = evidence.map(({ quote }) => comparable(quote)).filter((quote) => quote.length >= ECHOED_CHARS_MIN);
  const said = [comparable(content), ...quotes];
  const sessions = new Set(evidence.map(({ entry_id }) => context.entriesById.get(entry_id)?.session_id));
  const [, command, folder = ""] = source === "rule:commands" ? (COMMAND_OF.exec(content) ?? []) : [];
  return context.file_lines
    ?.filter(({ session_id }) => sessions.has(session_id))
    .find(({ text }) => {
      if (command !== undefined) return text.includes(command) && text.includes(folder);
      const line = comparable(text);
      return said.some((one) => line.includes(one)) || relationOf(content, text, stems) === "same";
    })?.text;
}

/** What one statement is to another. */
export function relationOf(
  statement: string,
  another: string,
  stems: Stems,
): "same" | "similar" | "conflicting" | "unrelated" {
  // How often a command ran changes, and makes no other statement.
  const [one, other] = [subjectOf(statement), subjectOf(another)];
  const similarity = stems.similarity(one, other);
  // Statements of stop words alone have no stems to be alike in.
  if (similarity < RELATED_MIN && stems.of(one).size > 0) return "unrelated";
  if (comparable(one) === comparable(other)) return "same";
  // Statements that share everything else can differ in a number or a "not" alone.
  if (contradict(one, other, stems)) return "conflicting";
  if (similarity >= SAME_MIN) return "same";
  return similarity >= SIMILAR_MIN ? "similar" : "unrelated";
}

/** A verdict counts for more than waiting: a rejected statement gets no evidence through a candidate like it. */
function firstOf(one: KnownMemory | undefined, other: KnownMemory): KnownMemory {
  return one === undefined || (one.status === "candidate" && other.status !== "candidate") ? other : one;
}

interface Placed {
  readonly type: MemoryType;
  readonly source: MemorySource;
  readonly evidence: readonly Evidence[];
  readonly project: string;
}

/**
 * The last gate: a memory belongs to the project of what it quotes, whatever its proposer says. Where that names none, it can wait
 * without one, and is promoted only with one.
 */
function projectGate(candidate: KeptProposal, { context }: GateInput): GateResult {
  const projects = projectsOf(candidate, context);
  const own = projectOf(candidate, context);
  if (own === undefined) {
    return {
      dropped: `Its evidence is from several projects (${projects.join(", ")}). A memory belongs to one project.`,
    };
  }
  return { passed: { ...candidate, project: own } };
}

/**
 * The project that a proposal belongs to; undefined where its evidence is of several, and it cannot hold everywhere.
 * Only a person without evidence is taken at their word.
 */
function projectOf(placed: Placed, context: GateContext): string | undefined {
  if (placed.evidence.length === 0) return placed.source === "person" ? placed.project : "";
  return projectAmong(projectsOf(placed, context), placed.type);
}

/** The projects of the evidence without repetition; an entry without a project is one of none. */
function projectsOf({ evidence }: Placed, { entriesById }: GateContext): readonly string[] {
  return [...new Set(evidence.map(({ entry_id }) => entriesById.get(entry_id)?.project ?? ""))];
}
