// A line of a transcript: time and speaker in the margin, and beside them what was said, called, decided or marked.
import { memo, type ReactNode } from "react";
import { CONFIDENCE_LOW } from "../../src/model/states.js";
import type { Row } from "../api.js";
import { Marked } from "../marks.js";
import { Link, to } from "../router.js";
import { type Line, notableIn } from "../transcript/lines.js";
import { dayOf, durationOf, firstLine, plural, speakerOf, timeOf, wholeTimeOf } from "../words.js";
import { Calls } from "./calls.js";
import { Given, givenWords } from "./given.js";
import { LongLine } from "./long-text.js";
import { Outline } from "./outline.js";
import { Said } from "./said.js";
import { Thumbs } from "./thumbs.js";

interface LineProps {
  readonly line: Line;
  readonly isHere: boolean;
  readonly isOpen: boolean;
  readonly isContextOpen: boolean;
  readonly isMatch: boolean;
  readonly scoreById: ReadonlyMap<string, number>;
  toggle(key: number): void;
}

export const TranscriptLine = memo(function TranscriptLine(props: LineProps): ReactNode {
  const { line } = props;
  switch (line.is) {
    case "day":
      return <h2 className="day">{dayOf(line.at)}</h2>;
    case "mark":
      return <Mark line={line} />;
    case "speech":
      return <Speech {...props} line={line} />;
    case "calls":
      return (
        <Margin {...props} speaker="" beside={line.answer && <Beside {...props} entry={line.answer} isAnswer />}>
          <Calls
            calls={line.calls}
            isOpen={props.isOpen}
            isHere={props.isHere}
            isMatch={props.isMatch}
            toggle={() => props.toggle(line.key)}
          />
          {line.answer !== undefined && props.isContextOpen && <Given entry={line.answer} />}
        </Margin>
      );
    case "raw":
      return (
        <Margin {...props} speaker="">
          <p className="aside">
            {plural(line.entries.length, "tool record")} from{" "}
            {line.entries[0]?.kind === "raw" && line.entries[0].source}
            {" · "}
            <Link to={to(["entries", line.entries[0]?.id ?? ""])}>Open</Link>
          </p>
        </Margin>
      );
    case "subagent":
      return <Subagent {...props} line={line} />;
  }
});

type SpeechProps = LineProps & { readonly line: Extract<Line, { is: "speech" }> };

function Speech(props: SpeechProps) {
  const { line, isMatch, isContextOpen, toggle } = props;
  const { entry, calls, withdrawn } = line;
  const speaker = speakerOf(entry);
  const isAnswer = entry.kind === "interaction" || (entry.kind === "message" && speaker === "assistant");
  return (
    <Margin {...props} speaker={speaker} beside={<Beside {...props} entry={entry} isAnswer={isAnswer} />}>
      <Said entry={entry} withdrawn={withdrawn} />
      {calls.length > 0 && (
        <Calls
          calls={calls}
          isOpen={props.isOpen}
          isMatch={isMatch}
          isHere={props.isHere}
          toggle={() => toggle(line.key)}
        />
      )}
      {isAnswer && isContextOpen && <Given entry={entry} />}
    </Margin>
  );
}

/** In the outer margin: how sure it was, and what can be asked and said about an answer. */
function Beside(props: LineProps & { readonly entry: Row; readonly isAnswer: boolean }) {
  const { line, entry, isContextOpen, scoreById, toggle, isAnswer } = props;
  const confidence = "confidence" in entry ? entry.confidence : undefined;
  const isLow = confidence !== undefined && confidence < CONFIDENCE_LOW;
  const score = scoreById.get(entry.id);
  return (
    <>
      {confidence !== undefined && (
        <span className="confidence" data-low={isLow || undefined} title="confidence">
          {isLow && "Low confidence "}
          {confidence.toFixed(2)}
        </span>
      )}
      {isAnswer && (
        <span className="asides" data-kept={isContextOpen || score !== undefined || undefined}>
          <button type="button" className="plain" aria-expanded={isContextOpen} onClick={() => toggle(-line.key)}>
            {givenWords(entry)}
          </button>
          <Thumbs id={entry.id} score={score} />
        </span>
      )}
    </>
  );
}

function Margin(
  props: LineProps & { readonly speaker: string; readonly children: ReactNode; readonly beside?: ReactNode },
) {
  const { line, isHere, speaker, children, beside } = props;
  return (
    <article
      className="line"
      data-is={line.is}
      data-speaker={speaker}
      data-here={isHere || undefined}
      data-tone={notableIn(line)}
      data-entry={line.is === "speech" ? line.entry.id : undefined}
      aria-current={isHere || undefined}
    >
      <a className="time" href={`#${line.key}`} title={wholeTimeOf(line.at)}>
        <time dateTime={line.at}>{timeOf(line.at)}</time>
      </a>
      <span className="speaker">{speaker}</span>
      <div className="body">{children}</div>
      {beside !== undefined && <aside className="beside">{beside}</aside>}
    </article>
  );
}

/** Rules across the column: where the history starts anew, where it was consolidated, what was taken back. */
function Mark({ line }: { readonly line: Extract<Line, { is: "mark" }> }) {
  const { entry } = line;
  return (
    <div className="mark-rule" data-kind={entry.kind} id={`at-${entry.position}`}>
      <p dir="auto">
        <time dateTime={line.at} title={wholeTimeOf(line.at)}>
          {timeOf(line.at)}
        </time>{" "}
        <Marked text={markWords(line)} />
      </p>
      {entry.kind === "consolidation" && entry.summary !== "" && <LongLine className="summary" text={entry.summary} />}
    </div>
  );
}

function markWords({ entry }: Extract<Line, { is: "mark" }>): string {
  switch (entry.kind) {
    case "consolidation":
      return `Consolidated through #${entry.through}`;
    case "clear":
      return "Context cleared";
    case "withdrawal":
      return `#${entry.withdraws} was withdrawn`;
    case "redaction":
      return `${plural(entry.positions.length, "entry", "entries")} forgotten: ${entry.reason}`;
    case "session_info":
      return entry.title === "" ? "Session details recorded" : `Titled “${firstLine(entry.title)}”`;
    default:
      return entry.kind;
  }
}

/** A subagent's session is one line here, opened in place, and a page of its own. */
function Subagent(props: LineProps & { readonly line: Extract<Line, { is: "subagent" }> }) {
  const { line, isOpen, toggle } = props;
  const { session } = line;
  const { messages, tool_calls, errors } = session;
  const lengthMs = Date.parse(session.last_at) - Date.parse(session.first_at);
  const facts = [
    plural(messages, "message"),
    plural(tool_calls, "tool call"),
    ...(errors > 0 ? [plural(errors, "error")] : []),
    durationOf(lengthMs),
  ];
  return (
    <Margin {...props} speaker="subagent">
      <p className="aside">
        <Link to={to(["sessions", session.session_id])} dir="auto">
          {firstLine(session.title) || session.session_id}
        </Link>{" "}
        {facts.join(" · ")}
        {" · "}
        <button type="button" className="plain" aria-expanded={isOpen} onClick={() => toggle(line.key)}>
          {isOpen ? "close" : "outline"}
        </button>
      </p>
      {isOpen && <Outline session={session} />}
    </Margin>
  );
}
