// Memories on a terminal: their table, one with its evidence and history, a candidate to review, and the audit of a file.
import type { FileAudit, MemoryDetail, MemorySummary } from "../../../index.js";
import { shortTime } from "./entry-text.js";
import { type Column, countOf, type Fact, factsText, renderTable, wrapText } from "./table.js";
import { cleanLine, cleanText, type Pane } from "./terminal.js";

const ID_WIDTH = 36;
const PROJECT_WIDTH_MIN = 6;

export function memoryTable(memories: readonly MemorySummary[], pane: Pane): string {
  const { colours } = pane;
  const columns: readonly Column[] = [
    // Never shortened, because people copy it.
    { title: "ID", widthMax: ID_WIDTH, paint: (text) => colours.dim(text) },
    { title: "STATUS", paint: (text) => statusColour(text, pane)(text) },
    { title: "TYPE" },
    { title: "PROJECT", widthMin: PROJECT_WIDTH_MIN },
    { title: "MEMORY" },
  ];
  return renderTable({
    columns,
    rows: memories.map(({ id, status, type, project, content }) => [
      ...[cleanLine(id), status, type, cleanLine(project), cleanLine(content)],
    ]),
    width: pane.columns,
    colours,
  });
}

export function memoryText(memory: MemoryDetail, pane: Pane): string {
  const { bold, dim } = pane.colours;
  const { valid_until = "", last_confirmed_at = "", reason = "", superseded_by = "" } = memory;
  const uses = `given ${memory.given}, used ${memory.used}, confirmed ${memory.confirmed}`;
  const facts: readonly Fact[] = [
    ["Id", memory.id],
    ["Status", `${memory.status}${reason === "" ? "" : ` (${reason})`}${memory.supported ? "" : ", unsupported"}`],
    ["Type", memory.type],
    ["Project", memory.project],
    ["Source", memory.generation === "" ? memory.source : `${memory.source} ${memory.generation}`],
    ["Confidence", String(memory.confidence)],
    ["Uses", last_confirmed_at === "" ? uses : `${uses}, last on ${shortTime(last_confirmed_at, { year: true })}`],
    ["Tags", memory.tags.join(", ")],
    ["Valid until", valid_until],
    ["Similar to", memory.similar_to.join(", ")],
    ["Conflicts with", memory.conflicts_with.join(", ")],
    ["Superseded by", superseded_by],
  ];
  const known = facts.filter(([, text]) => text !== "");
  const head = wrapText(cleanText(memory.content), pane.columns).map(bold).join("\n");
  const quotes = memory.evidence.map(({ entry_id, quote }) => quoteText(quote, dim(`  ${cleanLine(entry_id)}`), pane));
  const history = memory.history.map(({ at, kind, actor }) =>
    cleanLine(`${shortTime(at, { year: true })} ${kind.replace("memory_", "")} by ${actor}`),
  );
  return [
    `${head}\n${factsText(known, pane)}`,
    ...(quotes.length === 0 ? [] : [`${bold("Evidence")}\n${quotes.join("")}`]),
    ...(memory.uses.length === 0 ? [] : [`${bold("Uses, and what followed")}\n${usesText(memory, pane)}`]),
    `${bold("History")}\n${history.map((line) => `  ${line}\n`).join("")}`,
  ].join("\n");
}

/** One line per answer, and what the user said next. */
function usesText({ uses }: MemoryDetail, pane: Pane): string {
  return uses
    .slice(0, USES_SHOWN)
    .map(({ entry_id, created_at, session_id, given, used, confirmed, followed }) => {
      const { errors, low_confidence, feedback, next } = followed;
      const use = [given && "given", used && "used", confirmed && "confirmed"].filter((word) => word !== false);
      const where = session_id === "" ? entry_id : `${entry_id} in ${session_id}`;
      const troubles = [
        ...(errors === 0 ? [] : [countOf(errors, "error", "errors")]),
        ...(low_confidence === 0 ? [] : [`${low_confidence} with low confidence`]),
        ...feedback.map(({ score, label, comment }) => ["feedback", score, label, comment].filter(isSaid).join(" ")),
      ];
      const line = `${shortTime(created_at, { year: true })} ${use.join(", ")}: ${where}`;
      const then = troubles.length === 0 ? "" : pane.colours.yellow(`, followed by ${cleanLine(troubles.join(", "))}`);
      const said = next === "" ? "" : `    ${pane.colours.dim(`» ${cleanLine(next)}`)}\n`;
      return `  ${cleanLine(line)}${then}\n${said}`;
    })
    .join("");
}

const USES_SHOWN = 10;

function isSaid(part: number | string | undefined): boolean {
  return part !== undefined && part !== "";
}

/** A candidate with its evidence in context: everything a person needs to decide. */
export function candidateText(
  memory: MemoryDetail,
  place: { readonly at: number; readonly of: number; readonly others: ReadonlyMap<string, string> },
  pane: Pane,
): string {
  const { bold, dim, yellow } = pane.colours;
  const where = memory.project === "" ? "no project" : cleanLine(memory.project);
  const head = dim(`${place.at} of ${place.of} · ${memory.type} · ${where} · from ${memory.source}`);
  const statement = wrapText(cleanText(memory.content), pane.columns).map(bold).join("\n");
  const words = memory.words.map(({ quote, before, after, kind, session_id, created_at }) => {
    const quoted = yellow(`»${cleanLine(quote, Number.MAX_SAFE_INTEGER)}«`);
    // A full stop stays with the words before it.
    const gaps = [/\s$/.test(before) ? " " : "", /^\s/.test(after) ? " " : ""];
    const said = `${cleanLine(before)}${gaps[0]}${quoted}${gaps[1]}${cleanLine(after)}`.trim();
    const from = dim(
      `${shortTime(created_at, { year: true })} ${kind}${session_id === "" ? "" : ` in ${cleanLine(session_id)}`}`,
    );
    const width = pane.columns === undefined ? undefined : pane.columns - 2;
    return `  ${from}\n${wrapText(said, width)
      .map((line) => `  ${line}\n`)
      .join("")}`;
  });
  const related = (label: string, ids: readonly string[]): readonly string[] =>
    ids.flatMap((id) => wrapText(`${label} ${id}: ${cleanLine(place.others.get(id) ?? "…")}`, pane.columns));
  const warnings = [...related("Similar to", memory.similar_to), ...related("Contradicts", memory.conflicts_with)].map(
    (line) => `${yellow(line)}\n`,
  );
  return `${head}\n${statement}\n${words.join("")}${warnings.join("")}`;
}

/** The verdict on each statement of a memory file. */
export function auditText({ file, statements, counts }: FileAudit & { readonly file: string }, pane: Pane): string {
  const { bold, dim, green, yellow, red } = pane.colours;
  const paints: { readonly [verdict: string]: (text: string) => string } = {
    quoted: green,
    ran: green,
    mentioned: yellow,
    against: red,
    not_found: dim,
  };
  const said = Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`);
  const lines = statements.map(({ line, verdict, statement, reason, evidence }) => {
    const quote = evidence === undefined ? "" : ` »${cleanLine(evidence.quote, QUOTE_SHOWN)}« ${evidence.entry_id}`;
    const wrapped = (text: string, indent: number): readonly string[] =>
      wrapText(text, pane.columns === undefined ? undefined : pane.columns - indent);
    const first = `${String(line).padStart(5)}  ${(paints[verdict] ?? dim)(verdict.padEnd(12))} `;
    const said = wrapped(cleanLine(statement), STATEMENT_INDENT).join(`\n${" ".repeat(STATEMENT_INDENT)}`);
    const why = wrapped(cleanLine(`${reason}${quote}`, Number.MAX_SAFE_INTEGER), REASON_INDENT);
    return `${first}${said}\n${why.map((part) => `${" ".repeat(REASON_INDENT)}${dim(part)}\n`).join("")}`;
  });
  return `${bold(cleanLine(file))}: ${said.length === 0 ? "no statements" : said.join(", ")}\n${lines.join("")}`;
}

/** What is said of proposals that never came into the queue. */
export function heldBackText(count: number): string {
  const of = countOf(count, "proposal", "proposals");
  return `${of} of the last 7 days held back, because their key had too many waiting; see: hansard search kind:audit`;
}

const QUOTE_SHOWN = 200;
/** After the line number, and after the verdict. */
const REASON_INDENT = 7;
const STATEMENT_INDENT = 20;

function quoteText(quote: string, where: string, pane: Pane): string {
  const width = pane.columns === undefined ? undefined : pane.columns - 4;
  const lines = wrapText(cleanText(quote), width).map((line) => `  > ${line}\n`);
  return `${lines.join("")}${where}\n`;
}

function statusColour(status: string, { colours }: Pane): (text: string) => string {
  const { yellow, green, dim } = colours;
  return status.trim() === "candidate" ? yellow : status.trim() === "active" ? green : dim;
}
