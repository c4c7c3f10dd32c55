// One memory: its evidence, uses and history.

import { getMemory, type MemoryAnswer } from "../api.js";
import { firstLine, formatScore, formatUses, formatWhen, plural } from "../format.js";
import { useTitle } from "../labels.js";
import { Evidence, RelatedMemories } from "../parts/evidence.js";
import { Failed, Loading } from "../parts/notice.js";
import { useRequest } from "../requests.js";
import { Link, to } from "../router.js";

export function MemoryScreen({ id }: { readonly id: string }) {
  const { value, error, reload } = useRequest((signal) => getMemory(id, signal), [id]);
  if (error !== undefined) return <Failed error={error} reload={reload} />;
  if (value === undefined) return <Loading what="Reading the memory" />;
  const { type, content, project, status, confidence, given, used, confirmed, supported, superseded_by, reason } =
    value;
  return (
    <article className="column memory-page">
      <p className="aside">
        {type} · {project === "" ? "everywhere" : project} · {status} · confidence {confidence.toFixed(2)}
      </p>
      <h1 className="statement" dir="auto">
        {content}
      </h1>
      {!supported && <p className="conflict">All of its evidence was forgotten, so it is no longer recalled.</p>}
      {superseded_by !== undefined && (
        <p>
          <Link to={to(["memory", superseded_by])}>Another memory</Link> replaces it.
        </p>
      )}
      {reason !== undefined && <p className="quiet">Reason: {reason.replaceAll("_", " ")}</p>}
      <RelatedMemories memory={value} />
      <p>
        Given {plural(given, "time")}, used {plural(used, "time")}, confirmed {plural(confirmed, "time")}.{" "}
        <Link to={to(["search"], { q: `"${content}"` })}>Search for mentions</Link>
      </p>
      <h2>Evidence</h2>
      <Evidence memory={value} />
      {value.uses.length > 0 && (
        <>
          <h2>Where it was used, and what followed</h2>
          <Uses memory={value} />
        </>
      )}
      <h2>History</h2>
      <History memory={value} />
    </article>
  );
}

function Uses({ memory }: { readonly memory: MemoryAnswer }) {
  return (
    <ol className="history">
      {memory.uses.map((use) => (
        <li key={use.entry_id}>
          <time dateTime={use.created_at}>{formatWhen(use.created_at)}</time>
          <Use {...use} />
        </li>
      ))}
    </ol>
  );
}

function Use({ entry_id, position, session_id, given, used, confirmed, followed }: MemoryAnswer["uses"][number]) {
  const title = useTitle(session_id);
  const place = session_id === "" ? to(["entries", entry_id]) : to(["sessions", session_id], {}, String(position));
  return (
    <span>
      <Link to={place} dir="auto">
        {formatUses({ given, used, confirmed })} in {session_id === "" ? "an answer" : `“${title}”`}
      </Link>
      <WhatFollowed {...followed} />
    </span>
  );
}

/** Errors and low confidence after a use, or that there were none. */
function WhatFollowed({ errors, low_confidence, feedback, next }: MemoryAnswer["uses"][number]["followed"]) {
  const problems = [
    errors > 0 ? plural(errors, "error") : "",
    low_confidence > 0 ? `${plural(low_confidence, "answer")} of low confidence` : "",
  ].filter((trouble) => trouble !== "");
  const opinions = feedback.map(({ score, label, comment }) =>
    [formatScore(score), label, comment].filter((word) => word !== "").join(", "),
  );
  return (
    <>
      {problems.length > 0 ? (
        <span className="note">, followed by {problems.join(" and ")}</span>
      ) : (
        ", no errors followed"
      )}
      {opinions.length > 0 && `; ${opinions.join("; ")}`}
      {next !== "" && (
        <q className="because" dir="auto">
          {firstLine(next, 200)}
        </q>
      )}
    </>
  );
}

const eventNames: { readonly [kind: string]: string } = {
  memory_proposed: "proposed",
  memory_promoted: "accepted",
  memory_rejected: "rejected",
  memory_edited: "evidence added",
  memory_superseded: "superseded",
  memory_reinforced: "confirmed",
};

function History({ memory }: { readonly memory: MemoryAnswer }) {
  return (
    <ol className="history">
      {memory.history.map(({ position, kind, at, actor, content, reason, turn_id, ...uses }) => {
        // Uses are listed above, with what followed.
        if (kind === "memory_reinforced" && memory.uses.some(({ entry_id }) => entry_id === turn_id)) return null;
        const event = kind === "memory_edited" && content !== undefined ? "reworded" : (eventNames[kind] ?? kind);
        return (
          <li key={position}>
            <time dateTime={at}>{formatWhen(at)}</time>
            <span>
              {event} {formatUses(uses)} by {actor}
              {reason !== undefined && `: ${reason.replaceAll("_", " ")}`}
              {kind === "memory_edited" && content !== undefined && (
                <q className="because" dir="auto">
                  {content}
                </q>
              )}
              {turn_id !== undefined && (
                <>
                  {" "}
                  <Link to={to(["entries", turn_id])}>in this turn</Link>
                </>
              )}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
