// A memory file held against the record: what it has of each statement, and which can be proposed.
import type { EntryIndex } from "../../index/port.js";
import type { Proposal } from "../../model/memory.js";
import { TimeSlice } from "../../model/scheduling.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";
import { relationOf } from "../judge/gates.js";
import type { KnownMemory } from "../judge/judgement.js";
import { comparable } from "../judge/statement.js";
import { namesTool } from "../propose/rules/named-programs.js";
import type { AuditedStatement } from "../review/memory-answers.js";
import type { QuotedEntry, Speaker, Spoken } from "../text/quoted-entry.js";
import type { Stems } from "../text/stems.js";
import { CommandRecord, type CommandRuns, type OtherCommand } from "./command-runs.js";
import { type Passage, passagesAbout } from "./quotations.js";
import { StatementLookup } from "./statement-lookup.js";
import { statementsOf } from "./statements.js";
import { SupportSearch } from "./support.js";

export interface FileText {
  readonly text: string;
  /** Only entries of this project; of all projects where it is empty. */
  readonly project: string;
}

/** What the record says of one statement. */
type Audited = Omit<AuditedStatement, "statement" | "line">;

/** A statement of a file with its evidence looked up. */
export interface FoundStatement {
  readonly line: number;
  readonly proposal: Proposal;
}

interface FileAuditorParts {
  readonly index: EntryIndex;
  readonly entries: EntryReader;
  readonly stems: Stems;
}

/** Of a statement that was said often, the newest evidence is quoted. */
const EVIDENCE_MAX = 3;

/** For one file; it caches what it has read. */
export class FileAuditor {
  readonly #file: FileText;
  readonly #parts: FileAuditorParts;
  readonly #stems: Stems;
  readonly #lookup: StatementLookup;
  readonly #support: SupportSearch;
  readonly #copies: FileCopies;
  readonly #turn = new TimeSlice();

  constructor(file: FileText, parts: FileAuditorParts) {
    this.#file = file;
    this.#parts = parts;
    this.#stems = parts.stems;
    this.#lookup = new StatementLookup(parts);
    this.#support = new SupportSearch(parts.stems);
    this.#copies = new FileCopies(file.text);
  }

  /** What the record says of every statement. */
  async audit(all: readonly KnownMemory[]): Promise<readonly AuditedStatement[]> {
    const { text, project } = this.#file;
    const memories = all.filter((memory) => project === "" || memory.project === "" || memory.project === project);
    const found: AuditedStatement[] = [];
    const commands = await CommandRecord.read(project, this.#parts);
    for (const { text: statement, line } of statementsOf(text)) {
      if (this.#turn.isOver) await this.#turn.next();
      const { entries, packs } = await this.#lookup.find(statement, project);
      const { said, copies } = this.#copies.split(entries);
      const context = { entries: said, packs: [...copies, ...packs], memories, commands };
      found.push({ statement, line, ...audited(statement, context, this.#stems) });
    }
    return found;
  }

  /** The statements as proposals, with who said so in the record. */
  async proposals(): Promise<readonly FoundStatement[]> {
    const { text, project } = this.#file;
    const found: FoundStatement[] = [];
    for (const { text: content, line } of statementsOf(text)) {
      if (this.#turn.isOver) await this.#turn.next();
      const { said } = this.#copies.split((await this.#lookup.find(content, project)).entries);
      const same = this.#support.find(said, content).filter(({ says }) => says === "same");
      const type = namesTool(content) ? "project" : "preference";
      const evidence = same.slice(-EVIDENCE_MAX).map((support) => support.evidence);
      const proposal = { type, content, source: "import", evidence, project, tags: [], generation: "" } as const;
      found.push({ line, proposal });
    }
    return found;
  }
}

interface AuditContext {
  /** Entries in which the statement's words were found, in the order of the log. */
  readonly entries: readonly QuotedEntry[];
  /** Copies of the file, and context packs, in which they were found: given to models, and said by nobody. */
  readonly packs: readonly QuotedEntry[];
  readonly memories: readonly KnownMemory[];
  readonly commands?: CommandRecord;
}

/** How many passages are shown of a statement that is only mentioned. */
const PASSAGES_MAX = 3;
const speakerNames: { readonly [by in Speaker]: string } = {
  user: "A user",
  tool: "A tool",
  assistant: "An assistant",
  system: "A program",
};

/** @internal Exported for tests. */
export function audited(statement: string, context: AuditContext, stems: Stems): Audited {
  const memory = memoryThatSays(statement, context.memories, stems);
  const passages = passagesAbout(statement, context.entries, stems).filter(({ by }) => by !== "system");
  const runs = context.commands?.find(statement);
  return { ...verdictOf({ statement, passages, runs, packs: context.packs }, stems), ...memory };
}

interface Found {
  readonly statement: string;
  readonly passages: readonly Passage[];
  readonly runs: CommandRuns | OtherCommand | undefined;
  readonly packs: readonly QuotedEntry[];
}

function verdictOf({ statement, passages, runs, packs }: Found, stems: Stems): Audited {
  const ran = runs === undefined ? {} : { runs: toRuns(runs) };
  // The last word of a user or a tool counts: people change their minds. An assistant's counts where there is no other.
  const decided = passages.filter((one) => one.is !== "mentioned");
  const last = decided.findLast(({ by }) => by !== "assistant") ?? decided.at(-1);
  if (last !== undefined) {
    const { by, evidence, differs } = last;
    const said = last.is === "quoted" ? "said so" : `said otherwise: ${differs}`;
    return { verdict: last.is, by, reason: `${speakerNames[by]} ${said}.`, evidence, ...ran };
  }
  if (runs !== undefined && "instead_of" in runs) {
    const { command, worked, failed, instead_of, evidence } = runs;
    const reason = `\`${command}\` ran ${timesText(worked + failed)}, and \`${instead_of}\` never.`;
    return { verdict: "against", reason, evidence, ...ran };
  }
  if (runs !== undefined) return { verdict: "ran", reason: ranText(runs), evidence: runs.evidence, ...ran };
  const given = passagesAbout(statement, packs, stems).filter((one) => one.is === "quoted");
  const nearest = passages.toSorted((one, other) => other.similarity - one.similarity).slice(0, PASSAGES_MAX);
  const [first] = nearest;
  if (first !== undefined) {
    const reason = `${speakerNames[first.by]} said something near to it: ${first.differs}.`;
    const shown = nearest.map(({ by, evidence, differs }) => ({ by, differs, ...evidence }));
    return { verdict: "mentioned", by: first.by, reason, evidence: first.evidence, passages: shown };
  }
  const [copy] = given;
  if (copy !== undefined) {
    return { verdict: "mentioned", reason: "It was only given to models, never said.", evidence: copy.evidence };
  }
  return { verdict: "not_found", reason: "Nothing like it is in the record." };
}

function toRuns({ command, worked, failed, last_at }: CommandRuns): NonNullable<Audited["runs"]> {
  return { command, worked, failed, last_at };
}

function ranText({ command, worked, failed, last_at }: CommandRuns): string {
  const failures = failed === 0 ? "never failed" : `failed ${timesText(failed)}`;
  return `\`${command}\` ran ${timesText(worked + failed)} and ${failures}; the last time on ${last_at.slice(0, 10)}.`;
}

function timesText(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

/** The memory that says the same: an active one first, and whether it was superseded. */
function memoryThatSays(statement: string, memories: readonly KnownMemory[], stems: Stems) {
  const same = memories.filter(
    ({ status, content }) =>
      (status === "active" || status === "superseded") && relationOf(statement, content, stems) === "same",
  );
  const memory = same.find(({ status }) => status === "active") ?? same[0];
  return memory === undefined ? {} : { memory: memory.id, memory_status: memory.status };
}

/** A text that holds this share of a file's lines is a copy of it. */
const COPIED_SHARE = 0.8;
/** A shorter file cannot be told from what somebody says. */
const LINES_MIN = 3;
const TEXT_CHARS_MAX = 1_000_000;
const HEADING = /^\s{0,3}#{1,6}\s/;

/**
 * Finds copies of a memory file in the record: a tool read it, an assistant wrote it, a program put it into a user's message.
 * They were given to a model and support nothing that the file says.
 */
export class FileCopies {
  readonly #lines: readonly string[];
  readonly #headings: readonly string[];
  readonly #known = new WeakMap<Spoken, boolean>();

  /** @param file Its text. */
  constructor(file: string) {
    const lines = file.slice(0, TEXT_CHARS_MAX).split(/[\r\n]+/);
    const distinct = (some: readonly string[]) => [...new Set(some.map(lineOf))].filter((line) => line !== "");
    this.#lines = distinct(lines);
    this.#headings = distinct(lines.filter((line) => HEADING.test(line)));
  }

  /** What was said; and what only repeats the file, as words of the system. */
  split(entries: readonly QuotedEntry[]): { readonly said: QuotedEntry[]; readonly copies: QuotedEntry[] } {
    const said: QuotedEntry[] = [];
    const copies: QuotedEntry[] = [];
    for (const entry of entries) {
      const own = entry.said.filter((one) => !this.#isCopy(one));
      if (own.length > 0) said.push({ ...entry, said: own });
      if (own.length === entry.said.length) continue;
      const given = entry.said.filter((one) => this.#isCopy(one));
      copies.push({ ...entry, said: given.map(({ text }) => ({ by: "system", text })) });
    }
    return { said, copies };
  }

  /** A user may have dictated the lines; where the headings stand there, too, a program put the file into the message. */
  #isCopy(spoken: Spoken): boolean {
    const { by, text } = spoken;
    if (this.#lines.length < LINES_MIN || (by === "user" && this.#headings.length === 0)) return false;
    const known = this.#known.get(spoken);
    if (known !== undefined) return known;
    const whole = lineOf(text.slice(0, TEXT_CHARS_MAX));
    const isCopy = this.#holdsMost(whole) && (by !== "user" || this.#headings.every((line) => whole.includes(line)));
    this.#known.set(spoken, isCopy);
    return isCopy;
  }

  /** Gives up as soon as too many lines are missing. */
  #holdsMost(whole: string): boolean {
    let missing = this.#lines.length * (1 - COPIED_SHARE);
    return this.#lines.every((line) => {
      if (!whole.includes(line)) missing -= 1;
      // Not 0, because of rounding.
      return missing > -0.1;
    });
  }
}

/** A heading is the same without its marks. */
function lineOf(text: string): string {
  return comparable(text.replaceAll("#", " "));
}
