// The list of sessions: title, project, time, length, and counts.
import { useEffect, useMemo, useState } from "react";
import { getUsage, listSessions, type Session } from "../api.js";
import { formatCost, formatCount, formatDuration, formatFullTime, formatWhen } from "../format.js";
import { step, useKeys } from "../keyboard.js";
import { useLabels, useTitle } from "../labels.js";
import { FilterSelect } from "../parts/filters.js";
import { GettingStarted } from "../parts/getting-started.js";
import { Failed, Loading } from "../parts/notice.js";
import { usePages, useRequest } from "../requests.js";
import { Link, setQuery, to } from "../router.js";

const PAGE = 100;
const VISITED = "hansard-sessions-seen";

const columns = [
  { name: "last_at", title: "When", of: (session: Session) => Date.parse(session.last_at) },
  { name: "length", title: "Length", of: lengthOf },
  { name: "messages", title: "Messages", of: messagesIn },
  { name: "tool_calls", title: "Tools", of: (session: Session) => session.tool_calls },
  { name: "errors", title: "Errors", of: (session: Session) => session.errors },
  { name: "decisions", title: "Decisions", of: (session: Session) => session.decisions },
] as const;
/** Shown if any session has usage. */
const spentColumns = [
  { name: "tokens", title: "Tokens", of: (session: Session, usage: Usage) => usageOf(session, usage).tokens },
  { name: "cost", title: "Cost", of: (session: Session, usage: Usage) => usageOf(session, usage).cost ?? 0 },
] as const;

export function SessionsScreen({ query }: { readonly query: URLSearchParams }) {
  const filters = { project: query.get("project") ?? "", client: query.get("client") ?? "" };
  const sort = query.get("sort") ?? "last_at";
  const labels = useLabels();
  const { sessions, more, error, reload, busy, isFirst } = useSessions(filters);
  const usage = useUsage(filters);
  const seenBefore = useLastVisit();
  useKeys({ j: () => step("[data-result]", 1), k: () => step("[data-result]", -1) });
  const sorted = useMemo(() => {
    const column = [...columns, ...spentColumns].find(({ name }) => name === sort);
    if (column === undefined || column.name === "last_at") return sessions;
    return sessions.toSorted((one, other) => column.of(other, usage) - column.of(one, usage));
  }, [sessions, sort, usage]);
  if (isFirst && sessions.length === 0 && filters.project === "" && filters.client === "") return <GettingStarted />;
  return (
    <div className="column wide">
      <div className="tools">
        <h1>Sessions</h1>
        <span className="grow" />
        <FilterSelect name="project" label="project" all="all projects" values={labels.projects} query={query} />
        <FilterSelect name="client" label="client" all="all agents" values={labels.clients} query={query} />
      </div>
      {error !== undefined && <Failed error={error} reload={reload} />}
      {busy && sessions.length === 0 && <Loading what="Reading the sessions" />}
      <table className="contents-page">
        <thead>
          <tr>
            <th scope="col">Session</th>
            {[...columns, ...(usage.size > 0 ? spentColumns : [])].map(({ name, title }) => (
              <th key={name} scope="col" className={name} aria-sort={sort === name ? "descending" : "none"}>
                <button
                  type="button"
                  className="plain"
                  onClick={() => setQuery({ sort: name === "last_at" ? "" : name })}
                >
                  {title}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((session) => (
            <SessionRow
              key={session.session_id}
              session={session}
              isNew={session.last_at > seenBefore}
              usage={usage.size === 0 ? undefined : usageOf(session, usage)}
            />
          ))}
        </tbody>
      </table>
      {more !== undefined && (
        <button type="button" className="more" onClick={more}>
          More sessions
        </button>
      )}
    </div>
  );
}

function SessionRow(options: {
  readonly session: Session;
  readonly isNew: boolean;
  /** Undefined if no session has usage. */
  readonly usage: SessionUsage | undefined;
}) {
  const { session, isNew, usage } = options;
  const title = useTitle(session);
  const where = [...session.projects, ...session.clients].filter((label) => label !== "").join(" · ");
  return (
    <tr data-new={isNew || undefined}>
      <th scope="row">
        <Link to={to(["sessions", session.session_id])} data-result dir="auto">
          {title}
        </Link>
        <span className="where" dir="auto">
          {session.parent !== "" && "subagent · "}
          {where}
        </span>
      </th>
      <td className="last_at">
        <time dateTime={session.last_at} title={formatFullTime(session.last_at)}>
          {formatWhen(session.last_at)}
        </time>
      </td>
      <td className="length">{lengthOf(session) > 0 && formatDuration(lengthOf(session))}</td>
      <Count name="messages" count={messagesIn(session)} />
      <Count name="tool_calls" count={session.tool_calls} />
      <Count name="errors" count={session.errors} />
      <Count name="decisions" count={session.decisions} />
      {usage !== undefined && (
        <>
          <Count name="tokens" count={usage.tokens} />
          <td className="cost" data-none={usage.cost === undefined || undefined}>
            {usage.cost === undefined ? "–" : formatCost(usage.cost)}
          </td>
        </>
      )}
    </tr>
  );
}

/** On a phone there are no columns, so each count carries its unit. */
function Count({ name, count }: { readonly name: string; readonly count: number }) {
  const unit = name.replace("tool_calls", "tools");
  return (
    <td className={name} data-none={count === 0 || undefined}>
      {formatCount(count)}
      <span className="unit"> {count === 1 ? unit.slice(0, -1) : unit}</span>
    </td>
  );
}

function lengthOf({ first_at, last_at }: Session): number {
  return Date.parse(last_at) - Date.parse(first_at);
}

function messagesIn({ messages, interactions }: Session): number {
  return messages + interactions;
}

function useSessions(filters: { readonly project: string; readonly client: string }) {
  const question = JSON.stringify(filters);
  const first = useRequest((signal) => listSessions({ ...filters, limit: PAGE }, signal), [question]);
  const { pages, more } = usePages(first.value, (cursor) => listSessions({ ...filters, limit: PAGE, cursor }));
  const sessions = useMemo(() => pages.flatMap((page) => page.sessions), [pages]);
  const { error, reload, busy } = first;
  return { sessions, more, error, reload, busy, isFirst: first.value !== undefined };
}

interface SessionUsage {
  readonly tokens: number;
  readonly cost: number | undefined;
}

type Usage = ReadonlyMap<string, SessionUsage>;

const NO_USAGE: SessionUsage = { tokens: 0, cost: undefined };

function usageOf({ session_id }: Session, usage: Usage): SessionUsage {
  return usage.get(session_id) ?? NO_USAGE;
}

/** Tokens and cost by session. */
function useUsage(filters: { readonly project: string; readonly client: string }): Usage {
  const { value } = useRequest((signal) => getUsage({ ...filters, by: "session" }, signal), [JSON.stringify(filters)]);
  return useMemo(
    () =>
      new Map(
        (value?.rows ?? []).map(({ session = "", input_tokens, output_tokens, cost }) => [
          session,
          { tokens: input_tokens + output_tokens, cost },
        ]),
      ),
    [value],
  );
}

/** The time of the last visit; newer sessions are bold. */
function useLastVisit(): string {
  const [seenBefore] = useState(() => localStorage.getItem(VISITED) ?? new Date().toISOString());
  useEffect(() => localStorage.setItem(VISITED, new Date().toISOString()), []);
  return seenBefore;
}
