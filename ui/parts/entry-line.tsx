// An entry as one line of a list: when, who or what, and the beginning of what was said.
import { Fragment, type ReactNode } from "react";
import type { Row } from "../api.js";
import { useStatement } from "../labels.js";
import { Marked } from "../marks.js";
import { Link, to } from "../router.js";
import { exactTimeOf, gistLine, isFailed, isUnsure, speakerOf, usesWords, whenOf, wholeTimeOf } from "../words.js";

const TEXT_CHARS = 400;
/** In the address of a session that was opened from a search: the next match may lie in another one. */
export const THROUGH_ALL = { through: "all" } as const;

/** Where an entry is read: what is about a memory there, all else in its session where it has one. */
function placeOf(entry: Row, q = ""): string {
  const { session_id, position, id } = entry;
  if (entry.kind === "memory_proposed") return to(["memories", id]);
  if ("memory_id" in entry) return to(["memories", entry.memory_id]);
  const met = entry.kind === "memory_reinforced" ? entry.memories[0]?.memory_id : undefined;
  if (typeof met === "string") return to(["memories", met]);
  return session_id === ""
    ? to(["entries", id || String(position)])
    : to(["sessions", session_id], { q, ...(q === "" ? {} : THROUGH_ALL) }, String(position));
}

export function EntryLine(options: {
  readonly entry: Row;
  readonly exact?: boolean;
  /** What was searched for, so that it is marked where it leads. */
  readonly q?: string;
  readonly children?: ReactNode;
}) {
  const { entry, exact = false, q = "", children } = options;
  const tone = isFailed(entry) ? "error" : isUnsure(entry) ? "unsure" : undefined;
  return (
    <Link to={placeOf(entry, q)} className="entry-line" data-tone={tone} data-kind={entry.kind} data-result>
      <time dateTime={entry.created_at} title={wholeTimeOf(entry.created_at)}>
        {exact ? exactTimeOf(entry.created_at) : whenOf(entry.created_at)}
      </time>
      <span className="speaker">{speakerOf(entry)}</span>
      <span className="gist" dir="auto">
        {children || <Gist entry={entry} />}
      </span>
    </Link>
  );
}

function Gist({ entry }: { readonly entry: Row }) {
  switch (entry.kind) {
    case "memory_reinforced":
      return entry.memories.map(({ memory_id, ...uses }) => (
        <Fragment key={String(memory_id)}>
          <Statement id={String(memory_id)} /> {usesWords(uses)}{" "}
        </Fragment>
      ));
    case "memory_promoted":
    case "memory_rejected":
    case "memory_superseded":
      return (
        <>
          <Statement id={entry.memory_id} /> by {entry.actor}
          {entry.reason !== "" && `: ${entry.reason.replaceAll("_", " ")}`}
        </>
      );
    case "audit":
      if (entry.action !== "verdict") break;
      return (
        <>
          verdict by {entry.actor}: <Statement id={entry.target} />
        </>
      );
  }
  return <Marked text={gistLine(entry, TEXT_CHARS) || "(empty)"} />;
}

/** A memory by what it says: its id tells nobody anything. */
function Statement({ id }: { readonly id: string }) {
  return <span className="statement-name">{useStatement(id)}</span>;
}
