// Markdown as React elements built from the parser's tokens; HTML in the text stays text.
import { lexer, type Token, Tokenizer, type Tokens } from "marked";
import { Fragment, memo, type ReactNode } from "react";
import { Highlighted } from "../highlight.js";
import { CodeBlock } from "./code-block.js";

/** Longer text is shown as plain text, because rendering it would be too slow. */
const CHARS_MAX = 60_000;

export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const tokens = text.length > CHARS_MAX ? undefined : tokensOf(text);
  if (tokens === undefined) {
    return (
      <p className="plain-text" dir="auto">
        <Highlighted text={text} />
      </p>
    );
  }
  return <Blocks tokens={tokens} />;
});

/** A text the parser fails on is shown as plain text. */
function tokensOf(text: string): readonly Token[] | undefined {
  try {
    return lexer(text, { gfm: true, breaks: true, tokenizer: new BoundedTokenizer() });
  } catch {
    return undefined;
  }
}

/** Every row of a table is filled up to the columns of its head, so a few kilobytes can make millions of cells. */
const CELLS_MAX = 5_000;

/** Leaves oversized tables as text. */
class BoundedTokenizer extends Tokenizer {
  override table(source: string): Tokens.Table | undefined {
    const lines = (source.split(/\n[ \t]*\n/, 1)[0] ?? "").split("\n");
    const columns = (lines[0] ?? "").split("|").length;
    return columns * lines.length > CELLS_MAX ? undefined : super.table(source);
  }
}

function Blocks({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  return tokens.map((token, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens of a text have no id and never change.
    <Fragment key={at}>
      <Block token={token} />
    </Fragment>
  ));
}

function Block({ token }: { readonly token: Token }): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return token.type === "def" ? <p>{token.raw.trim()}</p> : null;
    case "heading":
      return (
        <p className="heading" data-depth={(token as Tokens.Heading).depth} dir="auto">
          <Inline tokens={token.tokens ?? []} />
        </p>
      );
    case "code":
      return <CodeBlock text={(token as Tokens.Code).text} language={(token as Tokens.Code).lang ?? ""} />;
    case "list":
      return <List list={token as Tokens.List} />;
    case "blockquote":
      return (
        <blockquote>
          <Blocks tokens={token.tokens ?? []} />
        </blockquote>
      );
    case "table":
      return <Table table={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "text":
      return <Inline tokens={token.tokens ?? [token]} />;
    case "paragraph":
      return (
        <p dir="auto">
          <Inline tokens={token.tokens ?? []} />
        </p>
      );
    // HTML, too, is shown as text.
    default:
      return (
        <p className="plain-text" dir="auto">
          <Highlighted text={token.raw.replace(/\n+$/, "")} />
        </p>
      );
  }
}

function List({ list }: { readonly list: Tokens.List }) {
  const items = list.items.map((item, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: as above.
    <li key={at} dir="auto">
      {item.task && (item.checked === true ? "☑ " : "☐ ")}
      <Blocks tokens={item.tokens.filter(({ type }) => type !== "checkbox")} />
    </li>
  ));
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table }: { readonly table: Tokens.Table }) {
  return (
    <div className="scrolls">
      <table className="set">
        <thead>
          <tr>
            {table.header.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above.
              <th key={at} scope="col">
                <Inline tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above.
            <tr key={at}>
              {row.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above.
                <td key={column}>
                  <Inline tokens={cell.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Inline({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  return tokens.map((token, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: as above.
    <Fragment key={at}>
      <InlineToken token={token} />
    </Fragment>
  ));
}

function InlineToken({ token }: { readonly token: Token }): ReactNode {
  switch (token.type) {
    case "strong":
      return (
        <strong>
          <Inline tokens={token.tokens ?? []} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={token.tokens ?? []} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline tokens={token.tokens ?? []} />
        </del>
      );
    case "codespan":
      return (
        <code>
          <Highlighted text={(token as Tokens.Codespan).text} />
        </code>
      );
    case "br":
      return <br />;
    case "link":
      return <WebLink link={token as Tokens.Link} />;
    case "text":
      return token.tokens === undefined ? (
        <Highlighted text={(token as Tokens.Text).text} />
      ) : (
        <Inline tokens={token.tokens} />
      );
    case "escape":
      return <Highlighted text={(token as Tokens.Escape).text} />;
    // An image would be fetched from another server, so its source is shown.
    default:
      return <Highlighted text={token.raw} />;
  }
}

/** Only http and https addresses become links; others are shown as text. */
function WebLink({ link }: { readonly link: Tokens.Link }) {
  if (!/^https?:\/\//i.test(link.href)) return <Highlighted text={link.raw} />;
  return (
    <a href={link.href} title={link.href} rel="noreferrer noopener" target="_blank">
      <Inline tokens={link.tokens} />
    </a>
  );
}
