// A memory file held against the record: which of its statements somebody said, and which can be proposed.
import type { EntryIndex } from "../../index/port.js";
import type { Proposal } from "../../model/memory.js";
import { TimeSlice } from "../../model/scheduling.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";
import { relationOf } from "../judge/gates.js";
import type { KnownMemory } from "../judge/judgement.js";
import { comparable } from "../judge/statement.js";
import { namesTool } from "../propose/rules/named-programs.js";
import type { AuditedStatement } from "../review/memory-answers.js";
import type { QuotedEntry, Spoken } from "../text/quoted-entry.js";
import type { Stems } from "../text/stems.js";
import { StatementLookup } from "./statement-lookup.js";
import { statementsOf } from "./statements.js";
import { type Support, SupportSearch } from "./support.js";

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
  readonly #stems: Stems;
  readonly #lookup: StatementLookup;
  readonly #support: SupportSearch;
  readonly #copies: FileCopies;
  readonly #turn = new TimeSlice();

  constructor(file: FileText, parts: FileAuditorParts) {
    this.#file = file;
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
    for (const { text: statement, line } of statementsOf(text)) {
      if (this.#turn.isOver) await this.#turn.next();
      const { entries, packs } = await this.#lookup.find(statement, project);
      const { said, copies } = this.#copies.split(entries);
      const context = { entries: said, packs: [...copies, ...packs], memories, support: this.#support };
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
  /** Context packs in which they were found, as entries of a system. */
  readonly packs: readonly QuotedEntry[];
  readonly memories: readonly KnownMemory[];
  readonly support: SupportSearch;
}

/** @internal Exported for tests. */
export function audited(statement: string, context: AuditContext, stems: Stems): Audited {
  const found = context.support.find(context.entries, statement);
  const { active, superseded, conflicting } = relatedTo(statement, context.memories, stems);
  if (superseded !== undefined && active === undefined) {
    return { verdict: "superseded", reason: "A memory that says this was superseded.", memory: superseded.id };
  }
  // The last word counts: people change their minds.
  const last = found.filter(({ by }) => by === "user" || by === "tool").at(-1);
  if (last !== undefined) return verdictOf(last);
  if (conflicting !== undefined && active === undefined) {
    return { verdict: "contradicted", reason: "An active memory says otherwise.", memory: conflicting.id };
  }
  const echo = [...found, ...context.support.find(context.packs, statement)].find(({ says }) => says === "same");
  if (echo === undefined) return { verdict: "unsupported", reason: "Not found in the record." };
  const who = echo.by === "assistant" ? "Only assistants said it." : "It was only given to models, never said.";
  return { verdict: "mentioned", reason: who, evidence: echo.evidence };
}

/** The first memories that say the same or the opposite. */
function relatedTo(statement: string, memories: readonly KnownMemory[], stems: Stems) {
  const related: { active?: KnownMemory; superseded?: KnownMemory; conflicting?: KnownMemory } = {};
  for (const memory of memories) {
    if (memory.status !== "active" && memory.status !== "superseded") continue;
    const relation = relationOf(statement, memory.content, stems);
    if (relation === "same") related[memory.status] ??= memory;
    else if (relation === "conflicting" && memory.status === "active") related.conflicting ??= memory;
  }
  return related;
}

function verdictOf({ by, says, evidence }: Support): Audited {
  const who = by === "user" ? "A user" : "A tool";
  if (says === "same") return { verdict: "supported", reason: `${who} said so.`, evidence };
  return { verdict: "contradicted", reason: `${who} said otherwise.`, evidence };
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
