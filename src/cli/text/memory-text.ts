// Memories on a terminal: the table of them, and one with what it rests on and what was done with it.
import type { MemoryDetail, MemorySummary } from "../../index.js";
import { shortTime } from "./entry-text.js";
import { type Fact, factsText } from "./facts.js";
import { type Column, renderTable, wrapText } from "./table.js";
import { cleanLine, cleanText, type Pane } from "./terminal.js";

const ID_WIDTH = 36;
const ID_WIDTH_MIN = 8;

export function memoryTable(memories: readonly MemorySummary[], pane: Pane): string {
  const { colours } = pane;
  const columns: readonly Column[] = [
    { title: "ID", widthMax: ID_WIDTH, widthMin: ID_WIDTH_MIN, paint: (text) => colours.dim(text) },
    { title: "STATUS", paint: (text) => statusColour(text, pane)(text) },
    { title: "TYPE" },
    { title: "PROJECT" },
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
    `${bold("History")}\n${history.map((line) => `  ${line}\n`).join("")}`,
  ].join("\n");
}

function quoteText(quote: string, where: string, pane: Pane): string {
  const width = pane.columns === undefined ? undefined : pane.columns - 4;
  const lines = wrapText(cleanText(quote), width).map((line) => `  > ${line}\n`);
  return `${lines.join("")}${where}\n`;
}

function statusColour(status: string, { colours }: Pane): (text: string) => string {
  const { yellow, green, dim } = colours;
  return status.trim() === "candidate" ? yellow : status.trim() === "active" ? green : dim;
}
