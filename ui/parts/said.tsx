// What an entry says, as text: words in serif, thoughts folded, things that are no words by their names.
import { type ContentPart, messageParts } from "../../src/model/content-parts.js";
import type { Row } from "../api.js";
import { Link, to } from "../router.js";
import { countOf, gistOf, scoreWords, textOf, withoutAnsi } from "../words.js";
import { Code } from "./code.js";
import { LongLine, LongText } from "./long-text.js";
import { Picture } from "./picture.js";
import { useSome } from "./some.js";
import { WholeResponse } from "./whole-response.js";

export function Said({ entry, withdrawn }: { readonly entry: Row; readonly withdrawn: boolean }) {
  switch (entry.kind) {
    case "message":
      return <MessageText entry={entry} withdrawn={withdrawn} />;
    case "interaction":
      return (
        <>
          <LongText text={entry.prompt} />
          {(entry.response_chars > 0 || entry.response_summary !== "") && (
            <div className="response">
              <span className="speaker">answered</span>
              <WholeResponse entry={entry} />
            </div>
          )}
          {entry.error !== "" && <LongLine className="error-text" text={withoutAnsi(entry.error)} />}
        </>
      );
    case "response":
      return <WholeResponse entry={entry} />;
    case "error":
      return (
        <>
          <LongLine className="error-text" text={withoutAnsi(entry.error)} />
          {entry.context !== "" && <LongLine className="because" text={entry.context} />}
        </>
      );
    case "decision":
      return (
        <>
          <LongLine className="decision" text={entry.decision} />
          {entry.rationale !== "" && <LongLine className="because" lead="because " text={entry.rationale} />}
        </>
      );
    case "feedback":
      return (
        <LongLine
          className="aside"
          lead={
            <>
              <Link to={to(["entries", entry.entry_id])}>{scoreWords(entry.score)}</Link>
              {entry.label !== "" && ` · ${entry.label}`}{" "}
            </>
          }
          text={entry.comment}
        />
      );
    case "audit":
      return (
        <p className="aside" dir="auto">
          {entry.action.replaceAll("_", " ")} by {entry.actor} {entry.target}
        </p>
      );
    default:
      return <LongLine className="aside" text={gistOf(entry)} />;
  }
}

/** More pieces of one message are drawn only where somebody asks. */
const PIECES_FIRST = 100;

function MessageText({
  entry,
  withdrawn,
}: {
  readonly entry: Extract<Row, { kind: "message" }>;
  readonly withdrawn: boolean;
}) {
  // Calls have lines of their own, with what came of them; what was thought beside what was said comes first.
  const pieces = [...messageParts({ content: "", extra: entry.extra }), ...messageParts({ content: entry.content })];
  const { some, more } = useSome(pieces, PIECES_FIRST);
  return (
    <>
      {withdrawn && <p className="aside">Message removed from context.</p>}
      {pieces.length === 0 && entry.tool_calls.length === 0 && <p className="aside">No text</p>}
      <div className={withdrawn ? "withdrawn" : undefined}>
        {some.map((piece, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name, and never change.
          <PieceText key={at} piece={piece} />
        ))}
        {more}
      </div>
    </>
  );
}

function PieceText({ piece }: { readonly piece: ContentPart }) {
  switch (piece.is) {
    case "text":
      return <LongText text={piece.text} />;
    case "thought":
      return (
        <details className="thought">
          <summary>Thinking, {countOf(piece.text.length)} characters</summary>
          <LongText text={piece.text} />
        </details>
      );
    case "call":
      return <Code text={textOf(piece.given ?? {})} language={piece.name} />;
    case "result":
      return <Code text={piece.text} language={piece.failed ? "failed" : "result"} fromEnd />;
    case "thing":
      return piece.image === undefined ? (
        <LongLine className="aside" text={piece.text} />
      ) : (
        <Picture text={piece.text} image={piece.image} />
      );
  }
}
