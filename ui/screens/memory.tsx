// One memory and its life: what it rests on, who decided, where it was given, and what followed.
import { useAnswer } from "../answer.js";
import { getMemory, type MemoryAnswer } from "../api.js";
import { useLabels, useTitle } from "../labels.js";
import { Evidence, Neighbours } from "../parts/evidence.js";
import { Failed, Loading } from "../parts/notice.js";
import { Link, to } from "../router.js";
import { firstLine, plural, scoreWords, usesWords, whenOf } from "../words.js";

export function MemoryScreen({ id }: { readonly id: string }) {
  const { value, error, again } = useAnswer((signal) => getMemory(id, signal), [id]);
  if (error !== undefined) return <Failed error={error} again={again} />;
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
          <Link to={to(["memories", superseded_by])}>Another memory</Link> replaces it.
        </p>
      )}
      {reason !== undefined && <p className="quiet">Reason: {reason.replaceAll("_", " ")}</p>}
      <Neighbours memory={value} />
      <p>
        Given {plural(given, "time")}, used {plural(used, "time")}, confirmed {plural(confirmed, "time")}.{" "}
        <Link to={to(["search"], { q: `"${content}"` })}>Where it was said</Link>
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
      <Life memory={value} />
    </article>
  );
}

function Uses({ memory }: { readonly memory: MemoryAnswer }) {
  return (
    <ol className="life">
      {memory.uses.map((use) => (
        <li key={use.entry_id}>
          <time dateTime={use.created_at}>{whenOf(use.created_at)}</time>
          <Use {...use} />
        </li>
      ))}
    </ol>
  );
}

function Use({ entry_id, position, session_id, given, used, confirmed, followed }: MemoryAnswer["uses"][number]) {
  const title = useTitle({ session_id, title: useLabels().byId.get(session_id)?.title ?? "" });
  const place = session_id === "" ? to(["entries", entry_id]) : to(["sessions", session_id], {}, String(position));
  return (
    <span>
      <Link to={place} dir="auto">
        {usesWords({ given, used, confirmed })} in {session_id === "" ? "an answer" : `“${title}”`}
      </Link>
      <Followed {...followed} />
    </span>
  );
}

/** Errors and doubts are marked; that nothing went wrong is said too. */
function Followed({ errors, low_confidence, feedback, next }: MemoryAnswer["uses"][number]["followed"]) {
  const troubles = [
    errors > 0 ? plural(errors, "error") : "",
    low_confidence > 0 ? `${plural(low_confidence, "answer")} of low confidence` : "",
  ].filter((trouble) => trouble !== "");
  const opinions = feedback.map(({ score, label, comment }) =>
    [scoreWords(score), label, comment].filter((word) => word !== "").join(", "),
  );
  return (
    <>
      {troubles.length > 0 ? <span className="note"> then {troubles.join(" and ")}</span> : " then no error"}
      {opinions.length > 0 && `; ${opinions.join("; ")}`}
      {next !== "" && (
        <q className="because" dir="auto">
          {firstLine(next, 200)}
        </q>
      )}
    </>
  );
}

const deeds: { readonly [kind: string]: string } = {
  memory_proposed: "proposed",
  memory_promoted: "promoted",
  memory_rejected: "rejected",
  memory_edited: "evidence added",
  memory_superseded: "superseded",
  memory_reinforced: "confirmed",
};

function Life({ memory }: { readonly memory: MemoryAnswer }) {
  return (
    <ol className="life">
      {memory.history.map(({ position, kind, at, actor, content, reason, turn_id, ...uses }) => {
        // Its uses are told above, with what followed.
        if (kind === "memory_reinforced" && memory.uses.some(({ entry_id }) => entry_id === turn_id)) return null;
        const deed = kind === "memory_edited" && content !== undefined ? "reworded" : (deeds[kind] ?? kind);
        return (
          <li key={position}>
            <time dateTime={at}>{whenOf(at)}</time>
            <span>
              {deed} {usesWords(uses)} by {actor}
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
