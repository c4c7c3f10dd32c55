// A line of the transcript: time and speaker in the margin, then the content.
import { memo, type ReactNode, useMemo, useState } from "react";
import { CONFIDENCE_LOW } from "../../src/model/states.js";
import { usePermission } from "../access.js";
import type { Row } from "../api.js";
import { append, type Session, sessionEntries } from "../api.js";
import {
  firstLine,
  formatDay,
  formatDuration,
  formatFullTime,
  formatTime,
  plural,
  speakerOf,
  summaryLine,
} from "../format.js";
import { Highlighted } from "../highlight.js";
import { useRequest } from "../requests.js";
import { Link, to } from "../router.js";
import { type Line, notableIn, toTranscript } from "../transcript/lines.js";
import { EntryBody } from "./entry-body.js";
import { LongLine } from "./long-text.js";
import { contextSummary, ModelContext } from "./model-context.js";
import { Failed, Loading } from "./notice.js";
import { ToolCalls } from "./tool-calls.js";

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
      return <h2 className="day">{formatDay(line.at)}</h2>;
    case "mark":
      return <Mark line={line} />;
    case "speech":
      return <MessageLine {...props} line={line} />;
    case "calls":
      return (
        <LineFrame {...props} speaker="" aside={line.answer && <LineAside {...props} entry={line.answer} isAnswer />}>
          <ToolCalls
            calls={line.calls}
            isOpen={props.isOpen}
            isHere={props.isHere}
            isMatch={props.isMatch}
            toggle={() => props.toggle(line.key)}
          />
          {line.answer !== undefined && props.isContextOpen && <ModelContext entry={line.answer} />}
        </LineFrame>
      );
    case "raw":
      return (
        <LineFrame {...props} speaker="">
          <p className="aside">
            {plural(line.entries.length, "tool record")} from{" "}
            {line.entries[0]?.kind === "raw" && line.entries[0].source}
            {" · "}
            <Link to={to(["entries", line.entries[0]?.id ?? ""])}>Open</Link>
          </p>
        </LineFrame>
      );
    case "subagent":
      return <Subagent {...props} line={line} />;
  }
});

type MessageLineProps = LineProps & { readonly line: Extract<Line, { is: "speech" }> };

function MessageLine(props: MessageLineProps) {
  const { line, isMatch, isContextOpen, toggle } = props;
  const { entry, calls, withdrawn } = line;
  const speaker = speakerOf(entry);
  const isAnswer = entry.kind === "interaction" || (entry.kind === "message" && speaker === "assistant");
  return (
    <LineFrame {...props} speaker={speaker} aside={<LineAside {...props} entry={entry} isAnswer={isAnswer} />}>
      <EntryBody entry={entry} withdrawn={withdrawn} />
      {calls.length > 0 && (
        <ToolCalls
          calls={calls}
          isOpen={props.isOpen}
          isMatch={isMatch}
          isHere={props.isHere}
          toggle={() => toggle(line.key)}
        />
      )}
      {isAnswer && isContextOpen && <ModelContext entry={entry} />}
    </LineFrame>
  );
}

/** In the outer margin: confidence, the model's context and rating. */
function LineAside(props: LineProps & { readonly entry: Row; readonly isAnswer: boolean }) {
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
        <span className="answer-actions" data-kept={isContextOpen || score !== undefined || undefined}>
          <button type="button" className="plain" aria-expanded={isContextOpen} onClick={() => toggle(-line.key)}>
            {contextSummary(entry)}
          </button>
          <RateAnswer id={entry.id} score={score} />
        </span>
      )}
    </>
  );
}

function LineFrame(
  props: LineProps & { readonly speaker: string; readonly children: ReactNode; readonly aside?: ReactNode },
) {
  const { line, isHere, speaker, children, aside } = props;
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
      <a className="time" href={`#${line.key}`} title={formatFullTime(line.at)}>
        <time dateTime={line.at}>{formatTime(line.at)}</time>
      </a>
      <span className="speaker">{speaker}</span>
      <div className="body">{children}</div>
      {aside !== undefined && <aside className="line-aside">{aside}</aside>}
    </article>
  );
}

/** A rule across the column: context cleared or compacted, a message withdrawn. */
function Mark({ line }: { readonly line: Extract<Line, { is: "mark" }> }) {
  const { entry } = line;
  return (
    <div className="mark-rule" data-kind={entry.kind} id={`at-${entry.position}`}>
      <p dir="auto">
        <time dateTime={line.at} title={formatFullTime(line.at)}>
          {formatTime(line.at)}
        </time>{" "}
        <Highlighted text={markWords(line)} />
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

/** A subagent's session in one line; its outline opens in place. */
function Subagent(props: LineProps & { readonly line: Extract<Line, { is: "subagent" }> }) {
  const { line, isOpen, toggle } = props;
  const { session } = line;
  const { messages, tool_calls, errors } = session;
  const lengthMs = Date.parse(session.last_at) - Date.parse(session.first_at);
  const facts = [
    plural(messages, "message"),
    plural(tool_calls, "tool call"),
    ...(errors > 0 ? [plural(errors, "error")] : []),
    formatDuration(lengthMs),
  ];
  return (
    <LineFrame {...props} speaker="subagent">
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
      {isOpen && <SubagentOutline session={session} />}
    </LineFrame>
  );
}

const OUTLINE_ENTRIES = 200;
const OUTLINE_LINES = 12;

function SubagentOutline({ session }: { readonly session: Session }) {
  const { session_id } = session;
  const { value, error, reload } = useRequest(
    (signal) => sessionEntries(session_id, { limit: OUTLINE_ENTRIES, excerpts: 1 }, signal),
    [session_id],
  );
  const lines = useMemo(() => toTranscript(value?.entries ?? []).lines.filter(({ is }) => isInOutline(is)), [value]);
  if (error !== undefined) return <Failed error={error} reload={reload} />;
  if (value === undefined) return <Loading what="Reading the subagent’s session" />;
  // The task and the result say most, so the middle is cut.
  const isCut = lines.length > OUTLINE_LINES;
  const shown = isCut ? [...lines.slice(0, OUTLINE_LINES / 2), ...lines.slice(-OUTLINE_LINES / 2)] : lines;
  return (
    <ol className="outline" aria-label="Outline of the subagent’s session">
      {shown.map((line, at) => (
        <li key={line.key} data-tone={notableIn(line)}>
          {isCut && at === OUTLINE_LINES / 2 && (
            <p className="aside">{plural(lines.length - OUTLINE_LINES, "line")} between</p>
          )}
          <Link to={to(["sessions", session_id], {}, String(line.key))}>
            <span className="speaker">{line.is === "speech" ? speakerOf(line.entry) : ""}</span>
            <span className={line.is === "calls" ? "argument" : "gist"} dir="auto">
              <Highlighted text={outlineText(line)} />
            </span>
          </Link>
        </li>
      ))}
    </ol>
  );
}

function isInOutline(is: Line["is"]): boolean {
  return is === "speech" || is === "calls";
}

function outlineText(line: Line): string {
  if (line.is === "speech") return summaryLine(line.entry, 200);
  if (line.is !== "calls") return "";
  const failed = line.calls.filter((call) => call.failed).length;
  const tools = [...new Set(line.calls.map(({ tool }) => tool))].join(", ");
  return `${plural(line.calls.length, "tool call")}${failed > 0 ? `, ${failed} failed` : ""}: ${tools}`;
}

const ratings = [
  { value: 1, word: "Good" },
  { value: -1, word: "Bad" },
] as const;

/** Records a rating as a feedback entry. */
function RateAnswer({ id, score }: { readonly id: string; readonly score: number | undefined }) {
  const isAllowed = usePermission("capture");
  const [chosen, setChosen] = useState<number>();
  const [failure, setFailure] = useState("");
  const now = chosen ?? score;
  const rate = (value: 1 | -1): void => {
    setChosen(value);
    setFailure("");
    append({ kind: "feedback", entry_id: id, score: value }).catch((error: Error) => {
      setChosen(undefined);
      setFailure(error.message);
    });
  };
  if (!isAllowed) return null;
  return (
    <span className="thumbs">
      {ratings.map(({ value, word }) => (
        <button
          key={value}
          type="button"
          className="plain"
          aria-label={`${word} answer`}
          aria-pressed={now !== undefined && Math.sign(now) === value}
          onClick={() => rate(value)}
        >
          {word}
        </button>
      ))}
      {failure !== "" && <span role="alert">{failure}</span>}
    </span>
  );
}
