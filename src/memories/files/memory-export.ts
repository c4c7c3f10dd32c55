// Accepted memories in a memory file such as AGENTS.md: a block between two markers, which an export replaces. Everything else in the
// file is its writer's.
import { comparable } from "../judge/statement.js";

const BEGIN = "<!-- hansard:memories:begin -->";
const END = "<!-- hansard:memories:end -->";
const NOTE =
  "<!-- Accepted memories, written by `hansard memories export`. Change them with `hansard memories`: this block is replaced. -->";

interface ExportedStatement {
  readonly type: string;
  readonly content: string;
  readonly confidence: number;
}

/** What cannot be exported into, in a sentence. */
export interface BrokenMarkers {
  readonly problem: string;
}

/** Instructions first, what was learned of the project last. */
const ORDER = ["identity", "preference", "project", "adaptation", "knowledge", "episodic"];

/**
 * The file with the block. Statements that stand in the rest of it are left out; without any the block goes.
 *
 * @param memories Active ones.
 */
export function withMemories(file: string, memories: readonly ExportedStatement[]): string | BrokenMarkers {
  const begins = placesOf(file, BEGIN);
  const ends = placesOf(file, END);
  const [begin, end] = [begins[0], ends[0]];
  if (begins.length !== ends.length || begins.length > 1 || (begin !== undefined && end !== undefined && end < begin)) {
    return { problem: `the markers ${BEGIN} and ${END} must stand there once each, in this order, or not at all` };
  }
  const newline = file.includes("\r\n") ? "\r\n" : "\n";
  const before = begin === undefined ? file : file.slice(0, begin);
  const after = end === undefined ? "" : file.slice(end + END.length);
  const written = new Set(`${before}\n${after}`.split(/\r?\n/).map((line) => comparable(line)));
  const lines = memories
    .toSorted((one, other) => ORDER.indexOf(one.type) - ORDER.indexOf(other.type) || other.confidence - one.confidence)
    .map(({ content }) => oneLine(content))
    .filter((content) => !written.has(comparable(content)))
    .map((content) => `- ${content}`);
  const block = lines.length === 0 ? "" : [BEGIN, NOTE, ...lines, END].join(newline);
  if (begin !== undefined)
    return block === "" ? `${before.trimEnd()}${newline}${after.trimStart()}` : `${before}${block}${after}`;
  if (block === "") return file;
  return before.trim() === "" ? `${block}${newline}` : `${before.trimEnd()}${newline}${newline}${block}${newline}`;
}

function placesOf(text: string, marker: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(marker); at !== -1; at = text.indexOf(marker, at + 1)) places.push(at);
  return places;
}

/** A statement cannot end the block, nor begin a comment. */
function oneLine(content: string): string {
  return content.replaceAll(/\s+/g, " ").replaceAll("<!--", "<! --").replaceAll("-->", "-- >").trim();
}
