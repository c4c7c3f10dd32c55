// The list of sessions, sorted and filtered by the server; subagents are below the session that started them.
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { listSessions, type Session } from "../api.js";
import { formatCost, formatDay, formatDuration, formatFullTime, formatTime, formatWhen, plural } from "../format.js";
import { step, useKeys } from "../keyboard.js";
import { sessionTitle, useLabels } from "../labels.js";
import { FilterSelect } from "../parts/filters.js";
import { GettingStarted } from "../parts/getting-started.js";
import { Failed, Loading } from "../parts/notice.js";
import { PeriodSelect, periodOf, sinceOf } from "../parts/period.js";
import { agentsOf, CountCell, Outcome } from "../parts/session-facts.js";
import { usePages, useRequest } from "../requests.js";
import { Link, setQuery, to } from "../router.js";

const PAGE = 100;
const VISITED = "hansard-sessions-seen";
/** Typing sends a request once it pauses for this long. */
const TYPING_MS = 200;

/** The server's names of what a list can be sorted by. */
const columns = [
  { sort: "title", title: "Title", way: "asc" },
  { sort: "project", title: "Project", way: "asc" },
  { sort: "client", title: "Agent", way: "asc" },
  { sort: "last", title: "When", way: "desc" },
  { sort: "length", title: "Active", way: "desc" },
  { sort: "turns", title: "Turns", way: "desc" },
  { sort: "failures", title: "Failed", way: "desc" },
  { sort: "files", title: "Files", way: "desc" },
  { sort: "cost", title: "Cost", way: "desc" },
] as const;

export function SessionsScreen({ query }: { readonly query: URLSearchParams }) {
  const period = periodOf(query, "all");
  const filters = {
    project: query.get("project") ?? "",
    client: query.get("client") ?? "",
    title: query.get("title") ?? "",
    since: sinceOf(period) ?? "",
  };
  const sort = query.get("sort") ?? "last";
  const way = query.get("order") ?? columns.find((column) => column.sort === sort)?.way ?? "desc";
  const labels = useLabels();
  const { sessions, more, error, reload, busy, isRead } = useSessions({ ...filters, sort, order: way });
  const seenBefore = useLastVisit();
  useKeys({ j: () => step("[data-result]", 1), k: () => step("[data-result]", -1) });
  const isUnfiltered = Object.values(filters).every((filter) => filter === "");
  if (isRead && sessions.length === 0 && isUnfiltered) return <GettingStarted />;
  return (
    <div className="column wide">
      <div className="tools">
        <h1>Sessions</h1>
        <Link to={to(["entries"])} className="quiet">
          All entries
        </Link>
        <span className="grow" />
        <TitleFilter title={filters.title} />
        <FilterSelect name="project" label="project" all="all projects" values={labels.projects} query={query} />
        <FilterSelect name="client" label="client" all="all agents" values={labels.clients} query={query} />
        <PeriodSelect period={period} />
      </div>
      {error !== undefined && <Failed error={error} reload={reload} />}
      {busy && sessions.length === 0 && <Loading what="Reading the sessions" />}
      {isRead && sessions.length === 0 && (
        <p className="quiet">
          No sessions match. <Link to={to(["sessions"])}>Clear filters</Link>
        </p>
      )}
      {sessions.length > 0 && (
        <table className="contents-page">
          <thead>
            <tr>
              {columns.map((column) => (
                <SortHead key={column.sort} column={column} sort={sort} way={way} />
              ))}
            </tr>
          </thead>
          <tbody>
            {sessions.map((session, at) => (
              <SessionRow
                key={session.session_id}
                session={session}
                isNew={session.last_at > seenBefore}
                day={sort === "last" ? newDay(session, sessions[at - 1]) : undefined}
                isUnderDay={sort === "last"}
              />
            ))}
          </tbody>
        </table>
      )}
      {more !== undefined && (
        <button type="button" className="more" onClick={more}>
          More sessions
        </button>
      )}
    </div>
  );
}

/** A click sorts by the column, a second one turns it round. */
function SortHead(options: { readonly column: (typeof columns)[number]; readonly sort: string; readonly way: string }) {
  const { column, sort, way } = options;
  const isSorted = column.sort === sort;
  const next = isSorted && way === column.way ? (column.way === "asc" ? "desc" : "asc") : column.way;
  const change = (): void =>
    setQuery({ sort: column.sort === "last" ? "" : column.sort, order: next === column.way ? "" : next });
  const direction = way === "asc" ? "ascending" : "descending";
  return (
    <th scope="col" className={column.sort} aria-sort={isSorted ? direction : "none"}>
      <button type="button" className="plain" onClick={change}>
        {column.title}
        {isSorted && <span aria-hidden="true">{way === "asc" ? " ↑" : " ↓"}</span>}
      </button>
    </th>
  );
}

function TitleFilter({ title }: { readonly title: string }) {
  const [typed, setTyped] = useState(title);
  useEffect(() => setTyped(title), [title]);
  useEffect(() => {
    if (typed === title) return;
    const timer = setTimeout(() => setQuery({ title: typed }, { replace: true }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, title]);
  return (
    <input
      type="search"
      className="title-filter"
      aria-label="Filter by title"
      placeholder="Filter by title"
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
    />
  );
}

/** The day of the first session of a day. */
function newDay(session: Session, before: Session | undefined): string | undefined {
  const day = formatDay(session.last_at);
  return before !== undefined && formatDay(before.last_at) === day ? undefined : day;
}

function SessionRow(options: {
  readonly session: Session;
  readonly isNew: boolean;
  /** Shown above the first session of a day. */
  readonly day: string | undefined;
  readonly isUnderDay: boolean;
}) {
  const { session, isNew, day, isUnderDay } = options;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {day !== undefined && (
        <tr className="day">
          <th scope="rowgroup" colSpan={columns.length}>
            {day}
          </th>
        </tr>
      )}
      <tr data-new={isNew || undefined}>
        <Cells session={session} isUnderDay={isUnderDay}>
          {session.children > 0 && (
            <button type="button" className="plain children" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {plural(session.children, "subagent")}
            </button>
          )}
        </Cells>
      </tr>
      {isOpen && <Children of={session} />}
    </>
  );
}

function Children({ of: { session_id } }: { readonly of: Session }) {
  const { value, error, reload } = useRequest(
    (signal) => listSessions({ parent: session_id, sort: "first", order: "asc", limit: PAGE }, signal),
    [session_id],
  );
  if (error !== undefined) {
    return (
      <tr>
        <td colSpan={columns.length}>
          <Failed error={error} reload={reload} />
        </td>
      </tr>
    );
  }
  return (value?.sessions ?? []).map((session) => (
    <tr key={session.session_id} className="child">
      <Cells session={session} isUnderDay={false} />
    </tr>
  ));
}

function Cells(options: {
  readonly session: Session;
  /** A heading says which day it is. */
  readonly isUnderDay: boolean;
  readonly children?: ReactNode;
}) {
  const { session, isUnderDay, children } = options;
  const { session_id, project, last_at, active_ms, turns, failures, files, cost_total } = session;
  return (
    <>
      <th scope="row">
        <span className="title">
          <Outcome outcome={session.outcome} />
          <Link to={to(["sessions", session_id])} data-result dir="auto">
            {sessionTitle(session)}
          </Link>
          {children}
        </span>
      </th>
      <td className="project" dir="auto">
        {project}
      </td>
      <td className="client" dir="auto">
        {agentsOf(session)}
      </td>
      <td className="last">
        <time dateTime={last_at} title={formatFullTime(last_at)}>
          {isUnderDay ? formatTime(last_at) : formatWhen(last_at)}
        </time>
      </td>
      <td className="length">{active_ms > 0 && formatDuration(active_ms)}</td>
      <CountCell name="turns" count={turns} unit="turns" />
      <CountCell name="failures" count={failures} unit="failed" />
      <CountCell name="files" count={files} unit="files" />
      <td className="cost">{cost_total !== undefined && formatCost(cost_total)}</td>
    </>
  );
}

function useSessions(asked: { readonly [name: string]: string }) {
  const question = JSON.stringify(asked);
  // Without a search for words only top-level sessions: their subagents are below them.
  const whole = { ...asked, limit: PAGE, ...(asked.title === "" ? { parent: "-" } : {}) };
  const first = useRequest((signal) => listSessions(whole, signal), [question]);
  const { pages, more } = usePages(first.value, (cursor) => listSessions({ ...whole, cursor }));
  const sessions = useMemo(() => pages.flatMap((page) => page.sessions), [pages]);
  const { error, reload, busy } = first;
  return { sessions, more, error, reload, busy, isRead: first.value !== undefined };
}

/** The time of the last visit; newer sessions are bold. */
function useLastVisit(): string {
  const [seenBefore] = useState(() => localStorage.getItem(VISITED) ?? new Date().toISOString());
  useEffect(() => localStorage.setItem(VISITED, new Date().toISOString()), []);
  return seenBefore;
}
