// What a memory rests on: each quote where it stands, with what was said before and after it.
import type { ReactNode } from "react";
import { messageText } from "../../src/model/content-parts.js";
import { useAnswer } from "../answer.js";
import { getEntry, getMemory, type Memory, Refused, type Row, sessionEntries } from "../api.js";
import { Snippet } from "../marks.js";
import { Link, to } from "../router.js";
import { gistLine, plural, speakerOf, whenOf } from "../words.js";

export function Evidence({ memory }: { readonly memory: Memory }) {
  if (memory.evidence.length === 0) {
    return <p className="quiet">{memory.source === "person" ? "Added by hand." : "Without evidence."}</p>;
  }
  return (
    <ol className="evidence-list">
      {memory.evidence.map(({ entry_id, quote }) => (
        <li key={`${entry_id} ${quote}`}>
          <Quote id={entry_id} quote={quote} />
        </li>
      ))}
    </ol>
  );
}

interface QuotedEntry {
  readonly entry: Row;
  readonly before: readonly Row[];
  readonly after: readonly Row[];
}

function Quote({ id, quote }: { readonly id: string; readonly quote: string }) {
  const { value, error } = useAnswer((signal) => look(id, signal), [id]);
  if (error !== undefined) {
    const isGone = error instanceof Refused && error.status === 404;
    return <p className="quiet">{isGone ? "The quoted entry is not in this store." : error.message}</p>;
  }
  if (value === undefined) return <p className="quiet">“{quote}”</p>;
  if (value === "forgotten") return <p className="quiet">The quoted entry was forgotten.</p>;
  const { entry, before, after } = value;
  return (
    <div className="quoted">
      {before.map((row) => (
        <Around key={row.position} row={row} />
      ))}
      <p className="quoted-line">
        <span className="speaker">{speakerOf(entry)}</span>
        <span dir="auto">
          <QuoteIn text={wholeText(entry)} quote={quote} />
        </span>
        <Link to={placeOf(entry)}>{whenOf(entry.created_at)}</Link>
      </p>
      {after.map((row) => (
        <Around key={row.position} row={row} />
      ))}
    </div>
  );
}

function Around({ row }: { readonly row: Row }) {
  return (
    <p className="quoted-line around">
      <span className="speaker">{speakerOf(row)}</span>
      <span dir="auto">{gistLine(row, 200)}</span>
    </p>
  );
}

const AROUND_CHARS = 280;

/** The quote marked in its text, with so much of the text as is read at a glance. */
function QuoteIn({ text, quote }: { readonly text: string; readonly quote: string }) {
  const at = text.indexOf(quote);
  if (at === -1) return <mark>{quote}</mark>;
  const from = Math.max(0, at - AROUND_CHARS);
  const shown = text.slice(from, at + quote.length + AROUND_CHARS);
  return (
    <>
      {from > 0 && "…"}
      <Snippet text={shown} matches={[[at - from, at - from + quote.length]]} />
      {from + shown.length < text.length && "…"}
    </>
  );
}

/** All that an entry says, as it was recorded. */
export function wholeText(entry: Row): string {
  if (entry.kind === "message") return messageText(entry);
  const texts = entry as unknown as { readonly [field: string]: unknown };
  const fields = ["prompt", "response", "decision", "rationale", "error", "result", "content"];
  return fields
    .map((field) => texts[field])
    .filter((value) => value !== undefined && value !== "")
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join("\n");
}

function placeOf({ session_id, position, id }: Row): string {
  return session_id === "" ? to(["entries", id]) : to(["sessions", session_id], {}, String(position));
}

async function look(id: string, signal: AbortSignal): Promise<QuotedEntry | "forgotten"> {
  const entry = await getEntry(id, signal);
  if ("erased" in entry) return "forgotten";
  const { session_id, position } = entry;
  const row = entry as unknown as Row;
  if (session_id === "") return { entry: row, before: [], after: [] };
  const [before, after] = await Promise.all([
    sessionEntries(session_id, { order: "desc", after: position, limit: 1, excerpts: 1 }, signal),
    sessionEntries(session_id, { after: position, limit: 1, excerpts: 1 }, signal),
  ]);
  return { entry: row, before: before.entries, after: after.entries };
}

/** Memories that say nearly the same, or the opposite, side by side with this one. */
export function Neighbours({ memory }: { readonly memory: Memory }) {
  const { similar_to, conflicts_with } = memory;
  if (similar_to.length + conflicts_with.length === 0) return null;
  return (
    <>
      {conflicts_with.length > 0 && (
        <section className="conflict" aria-label="Contradiction">
          <p>Contradicts {plural(conflicts_with.length, "memory", "memories")}</p>
          <div className="sides">
            <Side memory={memory} name="this one" />
            {conflicts_with.map((id) => (
              <OtherSide key={id} id={id} />
            ))}
          </div>
        </section>
      )}
      {similar_to.length > 0 && (
        <p className="aside">
          Resembles{" "}
          {similar_to.map((id) => (
            <Neighbour key={id} id={id} />
          ))}
        </p>
      )}
    </>
  );
}

function OtherSide({ id }: { readonly id: string }) {
  const { value } = useAnswer((signal) => getMemory(id, signal), [id]);
  if (value === undefined) return <p className="quiet">{id}</p>;
  return <Side memory={value} name={<Link to={to(["memories", id])}>the other</Link>} />;
}

/** One of two that cannot both be true: what it says, and what speaks for it. */
function Side({ memory, name }: { readonly memory: Memory; readonly name: ReactNode }) {
  const { content, status, confidence, given, used, confirmed, created_at, evidence } = memory;
  return (
    <div>
      <p className="side-statement" dir="auto">
        {content}
      </p>
      <p className="aside">
        {name} · {status} · {whenOf(created_at)} · confidence {confidence.toFixed(2)}
      </p>
      <p className="aside">
        given {plural(given, "time")}, used {plural(used, "time")}, confirmed {plural(confirmed, "time")}
      </p>
      {evidence.map(({ entry_id, quote }) => (
        <p key={`${entry_id} ${quote}`} className="because" dir="auto">
          <Link to={to(["entries", entry_id])}>“{quote}”</Link>
        </p>
      ))}
    </div>
  );
}

function Neighbour({ id }: { readonly id: string }) {
  const { value } = useAnswer((signal) => getMemory(id, signal), [id]);
  return (
    <Link to={to(["memories", id])} dir="auto">
      {value === undefined ? id : `“${value.content}” (${value.status})`}{" "}
    </Link>
  );
}
