// A subagent's session in a few lines, in the place where it was sent off: what it was asked, what it did, what it said.
import { useMemo } from "react";
import { useAnswer } from "../answer.js";
import { type Session, sessionEntries } from "../api.js";
import { Marked } from "../marks.js";
import { Link, to } from "../router.js";
import { type Line, notableIn, toTranscript } from "../transcript/lines.js";
import { gistLine, plural, speakerOf } from "../words.js";
import { Failed, Loading } from "./notice.js";

const ENTRIES = 200;
const LINES = 12;

export function Outline({ session }: { readonly session: Session }) {
  const { session_id } = session;
  const { value, error, again } = useAnswer(
    (signal) => sessionEntries(session_id, { limit: ENTRIES, excerpts: 1 }, signal),
    [session_id],
  );
  const told = useMemo(() => toTranscript(value?.entries ?? []).lines.filter(({ is }) => isTold(is)), [value]);
  if (error !== undefined) return <Failed error={error} again={again} />;
  if (value === undefined) return <Loading what="Reading the subagent’s session" />;
  // What it was asked and what came of it say most.
  const isCut = told.length > LINES;
  const shown = isCut ? [...told.slice(0, LINES / 2), ...told.slice(-LINES / 2)] : told;
  return (
    <ol className="outline" aria-label="Outline of the subagent’s session">
      {shown.map((line, at) => (
        <li key={line.key} data-tone={notableIn(line)}>
          {isCut && at === LINES / 2 && <p className="aside">{plural(told.length - LINES, "line")} between</p>}
          <Link to={to(["sessions", session_id], {}, String(line.key))}>
            <span className="speaker">{line.is === "speech" ? speakerOf(line.entry) : ""}</span>
            <span className={line.is === "calls" ? "argument" : "gist"} dir="auto">
              <Marked text={wordsOf(line)} />
            </span>
          </Link>
        </li>
      ))}
    </ol>
  );
}

function isTold(is: Line["is"]): boolean {
  return is === "speech" || is === "calls";
}

function wordsOf(line: Line): string {
  if (line.is === "speech") return gistLine(line.entry, 200);
  if (line.is !== "calls") return "";
  const failed = line.calls.filter((call) => call.failed).length;
  const tools = [...new Set(line.calls.map(({ tool }) => tool))].join(", ");
  return `${plural(line.calls.length, "tool call")}${failed > 0 ? `, ${failed} failed` : ""}: ${tools}`;
}
