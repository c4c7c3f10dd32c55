// The few ways in which recorded text becomes part of a page: as text, never as HTML.
import { lexer, type Token, Tokenizer, type Tokens } from "marked";

const ESCAPES: { readonly [char: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** No text needs them, and some programs act on them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/g;
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/g;

/** Text as it is; control characters, those that turn the direction of text, and halves of characters become a box. */
export function escapeHtml(text: string): string {
  const isPlain = text.search(CONTROLS) === -1;
  const clean = isPlain ? text : withoutControls(text);
  return clean.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? "");
}

function withoutControls(text: string): string {
  let out = "";
  let from = 0;
  // Whole characters beyond the first plane consist of two halves.
  for (const match of text.matchAll(PAIR)) {
    out += text.slice(from, match.index).replace(CONTROLS, "\ufffd") + match[0];
    from = match.index + match[0].length;
  }
  return out + text.slice(from).replace(CONTROLS, "\ufffd");
}

/** Longer text is shown as plain text: parsing it could take too long. */
const MARKDOWN_CHARS_MAX = 20_000;
/** Every row of a table is filled up to the columns of its head, so a few kilobytes can make millions of cells. */
const CELLS_MAX = 2_000;
/** Deeper quotes and lists are shown as text. */
const DEPTH_MAX = 20;

/** Markdown as HTML, built from the parser's tokens; HTML in it stays text, and images are not fetched. */
export function markdownHtml(text: string): string {
  if (text.length > MARKDOWN_CHARS_MAX || isTangled(text)) return plainHtml(text);
  try {
    return blocks(lexer(text, { gfm: true, breaks: true, tokenizer: new BoundedTokenizer() }), 0);
  } catch {
    return plainHtml(text);
  }
}

export function plainHtml(text: string): string {
  return `<p class="plain" dir="auto">${escapeHtml(text)}</p>`;
}

/** Runs of marks without words take a parser very long, and are no prose. */
function isTangled(text: string): boolean {
  return /[*_~`[\]()<>!|\\]{60}/.test(text) || /(?:^|\n)(?:[ \t]*[>*+-]){20}/.test(text) || tooManyMarks(text);
}

/** Prose has words between its marks. */
function tooManyMarks(text: string): boolean {
  const marks = text.match(/[*_~`[\]<>!]/g)?.length ?? 0;
  return marks > 400 && marks > text.length / 8;
}

class BoundedTokenizer extends Tokenizer {
  override table(source: string): Tokens.Table | undefined {
    const lines = (source.split(/\n[ \t]*\n/, 1)[0] ?? "").split("\n");
    const columns = (lines[0] ?? "").split("|").length;
    return columns * lines.length > CELLS_MAX ? undefined : super.table(source);
  }
}

function blocks(tokens: readonly Token[], depth: number): string {
  return tokens.map((token) => block(token, depth)).join("");
}

function block(token: Token, depth: number): string {
  if (depth > DEPTH_MAX) return plainHtml(token.raw);
  switch (token.type) {
    case "space":
      return "";
    case "heading":
      return `<p class="heading" dir="auto">${inline(token.tokens ?? [], depth)}</p>`;
    case "code":
      return `<pre>${escapeHtml((token as Tokens.Code).text)}</pre>`;
    case "list":
      return list(token as Tokens.List, depth);
    case "blockquote":
      return `<blockquote>${blocks(token.tokens ?? [], depth + 1)}</blockquote>`;
    case "table":
      return table(token as Tokens.Table, depth);
    case "hr":
      return "<hr>";
    case "text":
      return inline(token.tokens ?? [token], depth);
    case "paragraph":
      return `<p dir="auto">${inline(token.tokens ?? [], depth)}</p>`;
    // HTML, too, is shown as text.
    default:
      return plainHtml(token.raw.replace(/\n+$/, ""));
  }
}

function list(token: Tokens.List, depth: number): string {
  const items = token.items.map((item) => {
    const box = item.task ? (item.checked === true ? "☑ " : "☐ ") : "";
    const inner = item.tokens.filter(({ type }) => type !== "checkbox");
    return `<li dir="auto">${box}${blocks(inner, depth + 1)}</li>`;
  });
  const first = Number(token.start) || 1;
  return token.ordered ? `<ol start="${first}">${items.join("")}</ol>` : `<ul>${items.join("")}</ul>`;
}

function table({ header, rows }: Tokens.Table, depth: number): string {
  const cells = (row: readonly Tokens.TableCell[], tag: string): string =>
    row.map((cell) => `<${tag}>${inline(cell.tokens, depth)}</${tag}>`).join("");
  const body = rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("");
  return `<div class="scrolls"><table><thead><tr>${cells(header, "th")}</tr></thead><tbody>${body}</tbody></table></div>`;
}

function inline(tokens: readonly Token[], depth: number): string {
  return tokens.map((token) => inlineToken(token, depth + 1)).join("");
}

const tags: { readonly [type: string]: string } = { strong: "strong", em: "em", del: "del" };

function inlineToken(token: Token, depth: number): string {
  if (depth > DEPTH_MAX * 2) return escapeHtml(token.raw);
  const tag = tags[token.type];
  if (tag !== undefined) return `<${tag}>${inline((token as Tokens.Strong).tokens ?? [], depth)}</${tag}>`;
  switch (token.type) {
    case "codespan":
      return `<code>${escapeHtml((token as Tokens.Codespan).text)}</code>`;
    case "br":
      return "<br>";
    case "link":
      return link(token as Tokens.Link, depth);
    case "text":
      return token.tokens === undefined ? escapeHtml((token as Tokens.Text).text) : inline(token.tokens, depth);
    case "escape":
      return escapeHtml((token as Tokens.Escape).text);
    default:
      return escapeHtml(token.raw);
  }
}

/** Only addresses of the web become links; others stay text. */
function link({ href, raw, tokens }: Tokens.Link, depth: number): string {
  if (!/^https?:\/\//i.test(href)) return escapeHtml(raw);
  const address = escapeHtml(href);
  return `<a href="${address}" title="${address}" rel="noreferrer noopener nofollow">${inline(tokens, depth)}</a>`;
}
