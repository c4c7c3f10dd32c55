// The record as it comes: a strip of activity, then the newest entries on top, grouped by session.
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useAnswer } from "../answer.js";
import { getHealth, listEntries, type Query, type Row, type RowPage } from "../api.js";
import { step, useKeys } from "../keys.js";
import { type Labels, useLabels, useTitle } from "../labels.js";
import { Activity, type Range, ranges } from "../parts/activity.js";
import { EntryLine } from "../parts/entry-line.js";
import { Choice, KindFilter } from "../parts/filters.js";
import { FirstEntry } from "../parts/first-entry.js";
import { Failed, Loading } from "../parts/notice.js";
import { Link, to, withQuery } from "../router.js";
import { follow } from "../tail.js";
import { countOf, plural, speakerOf } from "../words.js";

const PAGE = 100;
/** The most that a list answers with at once. */
const ANEW = 500;
/** So many are kept on a page that stays open; older ones are a page away. */
const SHOWN_MAX = 600;
/** The strip is drawn anew at most this often. */
const REDRAW_MS = 5_000;

export function LiveScreen({ query }: { readonly query: URLSearchParams }) {
  const filters = useMemo(() => filtersOf(query), [query]);
  const range = rangeOf(query);
  const chosen = { since: query.get("since") ?? "", until: query.get("until") ?? "" };
  const labels = useLabels();
  const { rows, fresh, take, more, isFirst, error, again, busy, version } = useLive({ ...filters, ...chosen });
  useKeys({ j: () => step("[data-result]", 1), k: () => step("[data-result]", -1) });
  if (isFirst && rows.length === 0 && Object.values({ ...filters, ...chosen }).every((value) => value === "")) {
    return <FirstEntry />;
  }
  return (
    <div className="column wide">
      <div className="tools">
        <h1 className="only-read">The record</h1>
        <KindFilter query={query} />
        <Choice name="project" label="project" all="all projects" values={labels.projects} query={query} />
        <Choice name="client" label="client" all="all clients" values={labels.clients} query={query} />
        <span className="grow" />
        <fieldset className="ranges" aria-label="Time shown">
          {(Object.keys(ranges) as Range[]).map((each) => (
            <button
              key={each}
              type="button"
              className="plain"
              aria-pressed={each === range}
              onClick={() => withQuery({ range: each, since: "", until: "" })}
            >
              {{ "1h": "hour", "24h": "day", "7d": "week" }[each]}
            </button>
          ))}
        </fieldset>
      </div>
      <Activity
        range={range}
        filters={filters}
        version={version}
        chosen={chosen}
        choose={({ since, until }) => withQuery({ since, until })}
      />
      {fresh > 0 && (
        <button type="button" className="fresh" onClick={take}>
          {plural(fresh, "new entry", "new entries")}
        </button>
      )}
      {error !== undefined && <Failed error={error} again={again} />}
      {rows.length === 0 &&
        error === undefined &&
        (busy ? (
          <Loading what="Reading the newest entries" />
        ) : (
          <p className="quiet">No entries match these filters.</p>
        ))}
      <Groups rows={rows} labels={labels} />
      {more !== undefined && (
        <button type="button" className="more" onClick={more} disabled={busy}>
          Older entries
        </button>
      )}
    </div>
  );
}

function filtersOf(query: URLSearchParams): Query {
  const named = (name: string): string => query.get(name) ?? "";
  return { kind: named("kind"), project: named("project"), client: named("client") };
}

function rangeOf(query: URLSearchParams): Range {
  const range = query.get("range") ?? "";
  return Object.hasOwn(ranges, range) ? (range as Range) : "24h";
}

/** The newest entries, and what comes while they are looked at: at once at the top, else when the reader wants it. */
function useLive(filters: Query) {
  const question = JSON.stringify(filters);
  // Lists go by the time of what happened, the log by when it was told: what an import brought last may lie far below.
  const first = useAnswer(
    async (signal): Promise<RowPage & { readonly through: number }> => {
      const { position } = await getHealth(signal);
      return { through: position, ...(await listEntries({ ...filters, limit: PAGE }, signal)) };
    },
    [question],
  );
  const [list, setList] = useState<List>(listOf());
  const [version, setVersion] = useState(0);
  const drawnMs = useRef(0);
  const isBounded = filters.until !== "";

  // While it is rendered, not in an effect: for a moment an answer would be there without its rows, and a store seem empty.
  const [read, setRead] = useState<RowPage>();
  if (first.value !== undefined && first.value !== read) {
    setRead(first.value);
    setList(listOf(first.value));
  }

  const start = first.value?.through;
  // biome-ignore lint/correctness/useExhaustiveDependencies: filters are the question.
  useEffect(() => {
    if (start === undefined || isBounded) return;
    const stop = new AbortController();
    const { since: _, until: __, ...live } = filters;
    const heard = (entries: readonly Row[]): void => {
      const newest = entries.toReversed();
      if (scrollY < 80) setList((before) => taken(before, newest, newest.length));
      else setList((before) => heldBack(before, newest));
      if (Date.now() - drawnMs.current < REDRAW_MS) return;
      drawnMs.current = Date.now();
      setVersion((before) => before + 1);
    };
    void follow({ after: start, filters: live, signal: stop.signal, heard });
    return () => stop.abort();
  }, [start, question]);

  const take = useCallback((): void => {
    setList((before) => ({ ...taken(before, before.waiting, before.fresh), waiting: [], fresh: 0 }));
    scrollTo({ top: 0 });
  }, []);
  const more = (): void => {
    older(list, filters).then(
      ({ rows, cursor }) =>
        setList((before) => {
          // Another question was asked meanwhile, to which these are no answer.
          if (before.first !== list.first) return before;
          return { ...before, rows: merged(before.rows, rows), cursor, isCut: false };
        }),
      () => undefined,
    );
  };
  const isFirst = first.value !== undefined;
  const { error, again, busy } = first;
  return {
    rows: list.rows,
    fresh: list.fresh,
    take,
    more: list.isCut || list.cursor !== null ? more : undefined,
    isFirst,
    error,
    again,
    busy,
    version,
  };
}

interface List {
  /** The answer that it began with. */
  readonly first: RowPage | undefined;
  readonly rows: readonly Row[];
  /** Where the rows go on; of no use where some of them were let go. */
  readonly cursor: string | null;
  readonly isCut: boolean;
  /** The newest of those that came while the reader was further down, and how many came. */
  readonly waiting: readonly Row[];
  readonly fresh: number;
}

function listOf(first?: RowPage): List {
  const { entries: rows = [], next_cursor: cursor = null } = first ?? {};
  return { first, rows, cursor, isCut: false, waiting: [], fresh: 0 };
}

/** With these on top; where only the newest of them are left, what was below does not follow them any more. */
function taken(list: List, newest: readonly Row[], count: number): List {
  const all = count > newest.length ? newest : merged(newest, list.rows);
  const rows = all.slice(0, Math.max(SHOWN_MAX, list.rows.length));
  return { ...list, rows, isCut: list.isCut || rows.length < all.length || count > newest.length };
}

function heldBack(list: List, newest: readonly Row[]): List {
  return { ...list, waiting: merged(newest, list.waiting).slice(0, SHOWN_MAX), fresh: list.fresh + newest.length };
}

function merged(newer: readonly Row[], before: readonly Row[]): readonly Row[] {
  const known = new Set(before.map(({ position }) => position));
  return [...newer.filter(({ position }) => !known.has(position)), ...before];
}

/** What is shown and what comes after it: read anew from the top where some of it was let go. */
async function older({ rows, cursor, isCut }: List, filters: Query): Promise<Pick<List, "rows" | "cursor">> {
  let read: readonly Row[] = isCut ? [] : rows;
  let next = isCut ? null : cursor;
  do {
    const page: RowPage = await listEntries({ ...filters, limit: isCut ? ANEW : PAGE, cursor: next ?? undefined });
    read = [...read, ...page.entries];
    next = page.next_cursor;
  } while (next !== null && read.length <= rows.length);
  return { rows: read, cursor: next };
}

function Groups({ rows, labels }: { readonly rows: readonly Row[]; readonly labels: Labels }) {
  const groups = useMemo(() => grouped(rows), [rows]);
  return (
    <ol className="groups">
      {groups.map(({ key, session_id, entries }) => (
        <li key={key} className="group">
          <GroupHead session_id={session_id} entries={entries} labels={labels} />
          <GroupLines entries={entries} />
        </li>
      ))}
    </ol>
  );
}

/** So many entries of one session are shown; the rest when it is asked for. */
const SHOWN_OF_SESSION = 8;
/** A few more are shown as well: they would take no more room than the line that hides them. */
const SPARED = 4;

function GroupLines({ entries }: { readonly entries: readonly Row[] }) {
  const [isOpen, setOpen] = useState(false);
  const isNotes = entries.every(isOwn);
  // What the record notes of its own is seldom what somebody came for, and there is much of it.
  const most = isNotes ? 0 : SHOWN_OF_SESSION;
  const isCut = !isOpen && entries.length > most + SPARED;
  const shown = isCut ? entries.slice(0, most) : entries;
  return (
    <>
      <ol>
        {shown.map((entry) => (
          <li key={entry.position}>
            <EntryLine entry={entry} exact />
          </li>
        ))}
      </ol>
      {isCut && (
        <button type="button" className="plain rest" onClick={() => setOpen(true)}>
          {isNotes ? notesWords(entries) : plural(entries.length - most, "earlier one")}
        </button>
      )}
    </>
  );
}

/** Whether the record wrote it of itself. */
function isOwn({ kind }: Row): boolean {
  return kind === "audit" || kind === "redaction" || kind.startsWith("memory_");
}

/** `12 notes: 7 reinforced, 5 proposed`. */
function notesWords(entries: readonly Row[]): string {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(speakerOf(entry), (counts.get(speakerOf(entry)) ?? 0) + 1);
  const parts = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([label, count]) => `${countOf(count)} ${label}`);
  return `${plural(entries.length, "note")}: ${parts.join(", ")}`;
}

function GroupHead(options: {
  readonly session_id: string;
  readonly entries: readonly Row[];
  readonly labels: Labels;
}) {
  const { session_id, entries, labels } = options;
  const [entry] = entries;
  const title = useTitle({ session_id, title: labels.byId.get(session_id)?.title ?? "" });
  const where = session_id === "" ? "" : [entry?.project, entry?.client].filter((label) => label !== "").join(" · ");
  return (
    <h2 className="group-head">
      {session_id === "" ? (
        <span className="quiet">{entries.every(isOwn) ? "System entries" : "No session"}</span>
      ) : (
        <Link to={to(["sessions", session_id])} dir="auto">
          {title}
        </Link>
      )}
      <span className="where" dir="auto">
        {where}
      </span>
    </h2>
  );
}

interface Group {
  readonly session_id: string;
  readonly entries: Row[];
}

/** Agents that work side by side speak in turns: an entry joins its session where that is so few groups away … */
const NEAR_GROUPS = 4;
/** … and went on within so long. */
const NEAR_MS = 600_000;

/** The newest on top, by session; a group's key is its oldest entry, so that it stays while newer ones join. */
function grouped(rows: readonly Row[]): readonly (Group & { readonly key: string })[] {
  const groups: Group[] = [];
  for (const entry of rows) {
    const near = groups.slice(-NEAR_GROUPS).find((group) => isNear(group, entry));
    if (near !== undefined) near.entries.push(entry);
    else groups.push({ session_id: entry.session_id, entries: [entry] });
  }
  return groups.map((group) => ({ ...group, key: String(group.entries.at(-1)?.position) }));
}

function isNear({ session_id, entries }: Group, entry: Row): boolean {
  const oldest = entries.at(-1);
  if (oldest === undefined || session_id !== entry.session_id || isOwn(oldest) !== isOwn(entry)) return false;
  return Date.parse(oldest.created_at) - Date.parse(entry.created_at) < NEAR_MS;
}
