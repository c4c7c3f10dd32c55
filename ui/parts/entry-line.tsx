// An entry as one line of a list: time, speaker or kind, and a summary.
import { Fragment, type ReactNode } from "react";
import type { Row } from "../api.js";
import {
  formatExactTime,
  formatFullTime,
  formatUses,
  formatWhen,
  isFailed,
  isLowConfidence,
  speakerOf,
  summaryLine,
} from "../format.js";
import { Highlighted } from "../highlight.js";
import { useStatement } from "../labels.js";
import { Link, to } from "../router.js";

const TEXT_CHARS = 400;
/** Marks a session opened from a search: the next match may be in another session. */
export const THROUGH_ALL = { through: "all" } as const;

/** Where an entry is read: its memory, its session, or its own page. */
function placeOf(entry: Row, q = ""): string {
  const { session_id, position, id } = entry;
  if (entry.kind === "memory_proposed") return to(["memory", id]);
  if ("memory_id" in entry) return to(["memory", entry.memory_id]);
  const usedMemory = entry.kind === "memory_reinforced" ? entry.memories[0]?.memory_id : undefined;
  if (typeof usedMemory === "string") return to(["memory", usedMemory]);
  return session_id === ""
    ? to(["entries", id || String(position)])
    : to(["sessions", session_id], { q, ...(q === "" ? {} : THROUGH_ALL) }, String(position));
}

export function EntryLine(options: {
  readonly entry: Row;
  readonly exact?: boolean;
  /** The search text, highlighted in the linked session. */
  readonly q?: string;
  readonly children?: ReactNode;
}) {
  const { entry, exact = false, q = "", children } = options;
  const tone = isFailed(entry) ? "error" : isLowConfidence(entry) ? "unsure" : undefined;
  return (
    <Link to={placeOf(entry, q)} className="entry-line" data-tone={tone} data-kind={entry.kind} data-result>
      <time dateTime={entry.created_at} title={formatFullTime(entry.created_at)}>
        {exact ? formatExactTime(entry.created_at) : formatWhen(entry.created_at)}
      </time>
      <span className="speaker">{speakerOf(entry)}</span>
      <span className="gist" dir="auto">
        {children || <EntrySummary entry={entry} />}
      </span>
    </Link>
  );
}

function EntrySummary({ entry }: { readonly entry: Row }) {
  switch (entry.kind) {
    case "memory_reinforced":
      return entry.memories.map(({ memory_id, ...uses }) => (
        <Fragment key={String(memory_id)}>
          <Statement id={String(memory_id)} /> {formatUses(uses)}{" "}
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
  return <Highlighted text={summaryLine(entry, TEXT_CHARS) || "(empty)"} />;
}

/** A memory shown by its statement, because its id says nothing. */
function Statement({ id }: { readonly id: string }) {
  return <span className="statement-name">{useStatement(id)}</span>;
}
