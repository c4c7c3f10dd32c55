// The content of an entry: text, folded thinking, and other parts by name.

import { useState } from "react";
import { type ContentPart, contentText, messageParts } from "../../src/model/content-parts.js";
import type { Injection } from "../../src/model/roles.js";
import type { Row } from "../api.js";
import { getEntry } from "../api.js";
import { formatCount, formatScore, summaryOf, toText, withoutAnsi } from "../format.js";
import { Link, to } from "../router.js";
import { CodeBlock, RecordedImage } from "./code-block.js";
import { LongLine, LongText } from "./long-text.js";
import { useShowMore } from "./show-more.js";

export function EntryBody({ entry, withdrawn }: { readonly entry: Row; readonly withdrawn: boolean }) {
  switch (entry.kind) {
    case "message":
      return <MessageBody entry={entry} withdrawn={withdrawn} />;
    case "interaction":
      return (
        <>
          <LongText text={entry.prompt} />
          {(entry.response_chars > 0 || entry.response_summary !== "") && (
            <div className="response">
              <span className="speaker">assistant</span>
              <ResponseBody entry={entry} />
            </div>
          )}
          {entry.error !== "" && <LongLine className="error-text" text={withoutAnsi(entry.error)} />}
        </>
      );
    case "response":
      return <ResponseBody entry={entry} />;
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
              <Link to={to(["entries", entry.entry_id])}>{formatScore(entry.score)}</Link>
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
      return <LongLine className="aside" text={summaryOf(entry)} />;
  }
}

/** How many parts of one message are shown at first. */
const PARTS_FIRST = 100;

interface MessageBodyProps {
  readonly entry: Extract<Row, { kind: "message" }>;
  readonly withdrawn: boolean;
}

/** Injected messages are folded: nobody said them. */
function MessageBody(props: MessageBodyProps) {
  const { injected, content } = props.entry;
  if (injected === "") return <SpokenBody {...props} />;
  return (
    <details className="thought">
      <summary>
        {injectionNames[injected as Injection] ?? "Text"}, {formatCount(contentText(content ?? "").length)} characters
      </summary>
      <SpokenBody {...props} />
    </details>
  );
}

const injectionNames = {
  command: "Command’s prompt",
  summary: "Summary",
  reminder: "Reminder",
  environment: "Environment",
  hook: "Hook’s output",
  file: "File",
  output: "Command’s output",
  other: "Text",
} satisfies { readonly [name in Injection]: string };

function SpokenBody({ entry, withdrawn }: MessageBodyProps) {
  // Calls have lines of their own. Thinking stored next to the content comes first.
  const pieces = [...messageParts({ content: "", extra: entry.extra }), ...messageParts({ content: entry.content })];
  const { some, more } = useShowMore(pieces, PARTS_FIRST);
  return (
    <>
      {withdrawn && <p className="aside">Message removed from context.</p>}
      {pieces.length === 0 && entry.tool_calls.length === 0 && <p className="aside">No text</p>}
      <div className={withdrawn ? "withdrawn" : undefined}>
        {some.map((piece, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no id and never change.
          <ContentPartBody key={at} piece={piece} />
        ))}
        {more}
      </div>
    </>
  );
}

function ContentPartBody({ piece }: { readonly piece: ContentPart }) {
  switch (piece.is) {
    case "text":
      return <LongText text={piece.text} />;
    case "thought":
      return (
        <details className="thought">
          <summary>Thinking, {formatCount(piece.text.length)} characters</summary>
          <LongText text={piece.text} />
        </details>
      );
    case "call":
      return <CodeBlock text={toText(piece.given ?? {})} language={piece.name} />;
    case "result":
      return <CodeBlock text={piece.text} language={piece.failed ? "failed" : "result"} fromEnd />;
    case "thing":
      return piece.image === undefined ? (
        <LongLine className="aside" text={piece.text} />
      ) : (
        <RecordedImage text={piece.text} image={piece.image} />
      );
  }
}

type Answered = Extract<Row, { readonly kind: "interaction" | "response" }>;

/** A response: the excerpt from the list, the rest on request. */
function ResponseBody({ entry }: { readonly entry: Answered }) {
  const [whole, setWhole] = useState<string>();
  const [failure, setFailure] = useState("");
  const excerpt = entry.response_excerpt ?? "";
  const shown = whole ?? (excerpt || entry.response_summary);
  const missing = whole === undefined ? entry.response_chars - [...excerpt].length : 0;
  const open = (): void => {
    getEntry(entry.id).then(
      (answer) => setWhole("response" in answer ? answer.response : ""),
      (error: Error) => setFailure(error.message),
    );
  };
  return (
    <>
      <LongText text={shown} />
      {missing > 0 && (
        <button type="button" className="plain" onClick={open}>
          Show {formatCount(missing)} more characters
        </button>
      )}
      {failure !== "" && <p role="alert">{failure}</p>}
    </>
  );
}
