// The evidence of a memory: each quote in its entry, with the entries before and after.
import type { ReactNode } from "react";
import { messageText } from "../../src/model/content-parts.js";
import { ApiError, getEntry, getMemory, type Memory, type Row, sessionEntries } from "../api.js";
import { formatWhen, plural, speakerOf, summaryLine } from "../format.js";
import { Snippet } from "../highlight.js";
import { useRequest } from "../requests.js";
import { Link, to } from "../router.js";

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
  const { value, error } = useRequest((signal) => loadQuote(id, signal), [id]);
  if (error !== undefined) {
    const isGone = error instanceof ApiError && error.status === 404;
    return <p className="quiet">{isGone ? "The quoted entry is not in this store." : error.message}</p>;
  }
  if (value === undefined) return <p className="quiet">“{quote}”</p>;
  if (value === "forgotten") return <p className="quiet">The quoted entry was forgotten.</p>;
  const { entry, before, after } = value;
  return (
    <div className="quoted">
      {before.map((row) => (
        <SurroundingEntry key={row.position} row={row} />
      ))}
      <p className="quoted-line">
        <span className="speaker">{speakerOf(entry)}</span>
        <span dir="auto">
          <QuoteIn text={fullText(entry)} quote={quote} />
        </span>
        <Link to={placeOf(entry)}>{formatWhen(entry.created_at)}</Link>
      </p>
      {after.map((row) => (
        <SurroundingEntry key={row.position} row={row} />
      ))}
    </div>
  );
}

function SurroundingEntry({ row }: { readonly row: Row }) {
  return (
    <p className="quoted-line surrounding">
      <span className="speaker">{speakerOf(row)}</span>
      <span dir="auto">{summaryLine(row, 200)}</span>
    </p>
  );
}

const CONTEXT_CHARS = 280;

/** The quote highlighted in an excerpt of its text. */
function QuoteIn({ text, quote }: { readonly text: string; readonly quote: string }) {
  const at = text.indexOf(quote);
  if (at === -1) return <mark>{quote}</mark>;
  const from = Math.max(0, at - CONTEXT_CHARS);
  const shown = text.slice(from, at + quote.length + CONTEXT_CHARS);
  return (
    <>
      {from > 0 && "…"}
      <Snippet text={shown} matches={[[at - from, at - from + quote.length]]} />
      {from + shown.length < text.length && "…"}
    </>
  );
}

/** All text of an entry, as recorded. */
export function fullText(entry: Row): string {
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

async function loadQuote(id: string, signal: AbortSignal): Promise<QuotedEntry | "forgotten"> {
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

/** Memories that conflict with this one, side by side, and those that resemble it. */
export function RelatedMemories({ memory }: { readonly memory: Memory }) {
  const { similar_to, conflicts_with } = memory;
  if (similar_to.length + conflicts_with.length === 0) return null;
  return (
    <>
      {conflicts_with.length > 0 && (
        <section className="conflict" aria-label="Contradiction">
          <p>Contradicts {plural(conflicts_with.length, "memory", "memories")}</p>
          <div className="sides">
            <ConflictSide memory={memory} name="this one" />
            {conflicts_with.map((id) => (
              <OtherMemory key={id} id={id} />
            ))}
          </div>
        </section>
      )}
      {similar_to.length > 0 && (
        <p className="aside">
          Resembles{" "}
          {similar_to.map((id) => (
            <SimilarMemory key={id} id={id} />
          ))}
        </p>
      )}
    </>
  );
}

function OtherMemory({ id }: { readonly id: string }) {
  const { value } = useRequest((signal) => getMemory(id, signal), [id]);
  if (value === undefined) return <p className="quiet">{id}</p>;
  return <ConflictSide memory={value} name={<Link to={to(["memory", id])}>the other</Link>} />;
}

/** One of two contradicting memories, with its evidence. */
function ConflictSide({ memory, name }: { readonly memory: Memory; readonly name: ReactNode }) {
  const { content, status, confidence, given, used, confirmed, created_at, evidence } = memory;
  return (
    <div>
      <p className="side-statement" dir="auto">
        {content}
      </p>
      <p className="aside">
        {name} · {status} · {formatWhen(created_at)} · confidence {confidence.toFixed(2)}
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

function SimilarMemory({ id }: { readonly id: string }) {
  const { value } = useRequest((signal) => getMemory(id, signal), [id]);
  return (
    <Link to={to(["memory", id])} dir="auto">
      {value === undefined ? id : `“${value.content}” (${value.status})`}{" "}
    </Link>
  );
}
