// The statements of a memory file such as CLAUDE.md or AGENTS.md: its list items and sentences, without code and headings.
import { itemAt } from "../../model/item-at.js";
import { plain } from "../propose/rules/prose.js";
import { sentencesOf } from "../text/sentences.js";

interface Statement {
  readonly text: string;
  /** The line it begins on, from 1. */
  readonly line: number;
  /** The headings above it, outermost first. */
  readonly under: readonly string[];
}

/** The largest memory file that is read. */
export const FILE_CHARS_MAX = 2_000_000;
/** A list item up to this length is one statement, even with several sentences. */
const ITEM_CHARS_MAX = 280;
/** A shorter text is only a name. */
const STATEMENT_CHARS_MIN = 8;

const FENCE = /^\s{0,12}(`{3,}|~{3,})/;
const HEADING = /^\s{0,3}(#{1,6})\s+(\S.*)$/;
const ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/;
/** Tables, rules, imports of other files, lone tags. */
const NO_PROSE = /^\s*(?:\||[-*_=]{3,}\s*$|@\S+\s*$|<\/?[a-z][^<>]*>\s*$)/i;

/** "Commands:" is no statement. */
const ANNOUNCES = /[:：]$/;

interface Block {
  readonly line: number;
  readonly isItem: boolean;
  text: string;
}

export function statementsOf(file: string): readonly Statement[] {
  const statements: Statement[] = [];
  const under: string[] = [];
  let block: Block | undefined;
  let fence = "";
  const close = () => {
    if (block !== undefined) statements.push(...statementsIn(block, under));
    block = undefined;
  };
  for (const [at, line] of linesOf(file).entries()) {
    const mark = FENCE.exec(line)?.[1];
    if (fence !== "" || mark !== undefined) {
      close();
      if (fence === "") fence = mark ?? "";
      else if (mark?.startsWith(fence) === true) fence = "";
      continue;
    }
    const heading = HEADING.exec(line);
    if (heading !== null) {
      close();
      under.splice(itemAt(heading, 1).length - 1, under.length, plain(itemAt(heading, 2)));
    } else if (line.trim() === "" || NO_PROSE.test(line)) close();
    else if (ITEM.test(line)) {
      close();
      block = { line: at + 1, isItem: true, text: line.replace(ITEM, "") };
    } else if (block === undefined) block = { line: at + 1, isItem: false, text: line.trim() };
    else block.text += `\n${line.trim()}`;
  }
  close();
  return statements;
}

/** The lines, with front matter and comments replaced by empty lines, so line numbers stay. */
function linesOf(file: string): readonly string[] {
  const blank = (part: string) => part.replace(/[^\n]/g, "");
  const lines = file.slice(0, FILE_CHARS_MAX).replace(/\r\n?/g, "\n").split("\n");
  if (lines[0]?.trim() === "---") {
    const end = lines.indexOf("---", 1);
    if (end !== -1) lines.fill("", 0, end + 1);
  }
  return withoutComments(lines.join("\n"), blank).split("\n");
}

function withoutComments(text: string, blank: (part: string) => string): string {
  const parts: string[] = [];
  let at = 0;
  for (let open = text.indexOf("<!--"); open !== -1; open = text.indexOf("<!--", at)) {
    const close = text.indexOf("-->", open);
    if (close === -1) break;
    parts.push(text.slice(at, open), blank(text.slice(open, close + 3)));
    at = close + 3;
  }
  return [...parts, text.slice(at)].join("");
}

function statementsIn({ text, line, isItem }: Block, under: readonly string[]): readonly Statement[] {
  const joined = text.replaceAll("\n", " ");
  // An item that announces others may hold a statement before that.
  const isOne = isItem && joined.length <= ITEM_CHARS_MAX && !ANNOUNCES.test(joined.trimEnd());
  const sentences = isOne ? [{ text: joined, start: 0 }] : [...sentencesOf(joined)];
  return sentences.flatMap((sentence) => {
    const statement = plain(sentence.text);
    // A path alone is no statement.
    if (statement.length < STATEMENT_CHARS_MIN || ANNOUNCES.test(statement) || /^[!-~]+$/.test(statement)) return [];
    return [{ text: statement, line: line + linesBefore(text, sentence.start), under: [...under] }];
  });
}

/** Line breaks before a place. */
function linesBefore(text: string, place: number): number {
  return text.slice(0, place).split("\n").length - 1;
}
