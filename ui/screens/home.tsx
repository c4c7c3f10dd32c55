// Home: what happened on a day or in a week, what is running, and what needs a look.
import { useMemo } from "react";
import { listSessions, type Session } from "../api.js";
import { formatCost, formatDay, formatDuration, formatTime, formatWhen, plural } from "../format.js";
import { useNewestPosition } from "../growth.js";
import { step, useKeys } from "../keyboard.js";
import { sessionTitle, useLabels } from "../labels.js";
import { FilterSelect } from "../parts/filters.js";
import { GettingStarted } from "../parts/getting-started.js";
import { Empty, Failed, Loading } from "../parts/notice.js";
import { dayStart, sinceOf } from "../parts/period.js";
import { agentsOf, Outcome, sumWords } from "../parts/session-facts.js";
import { useRequest } from "../requests.js";
import { Link, setQuery, to } from "../router.js";

const SESSIONS_MAX = 200;
const LOOKS_MAX = 5;
const DAY_MS = 86_400_000;

const spans = [
  { span: "", name: "Latest day" },
  { span: "today", name: "Today" },
  { span: "yesterday", name: "Yesterday" },
  { span: "7d", name: "7 days" },
] as const;
type Span = (typeof spans)[number]["span"];

export function HomeScreen({ query }: { readonly query: URLSearchParams }) {
  const named = query.get("span") ?? "";
  const span = spans.find((each) => each.span === named)?.span ?? "";
  const filters = { project: query.get("project") ?? "", client: query.get("client") ?? "" };
  const labels = useLabels();
  const position = useNewestPosition();
  const { value, error, reload } = useRequest(
    (signal) => listSessions({ ...filters, ...timesOf(span), parent: "-", limit: SESSIONS_MAX }, signal),
    [span, JSON.stringify(filters), position],
  );
  useKeys({ j: () => step("[data-result]", 1), k: () => step("[data-result]", -1) });
  const sessions = useMemo(() => ofSpan(value?.sessions ?? [], span), [value, span]);
  const isUnfiltered = Object.values(filters).every((filter) => filter === "");
  if (value?.sessions.length === 0 && span === "" && isUnfiltered) {
    return position > 0 ? <OnlyEntries /> : <GettingStarted />;
  }
  const [newest] = sessions;
  return (
    <div className="column wide home">
      <div className="tools">
        <fieldset className="ranges" aria-label="Time shown">
          {spans.map((each) => (
            <button
              key={each.span}
              type="button"
              className="plain"
              aria-pressed={each.span === span}
              onClick={() => setQuery({ span: each.span })}
            >
              {each.name}
            </button>
          ))}
        </fieldset>
        <span className="grow" />
        <FilterSelect name="project" label="project" all="all projects" values={labels.projects} query={query} />
        <FilterSelect name="client" label="client" all="all agents" values={labels.clients} query={query} />
      </div>
      {error !== undefined && <Failed error={error} reload={reload} />}
      {value === undefined && error === undefined && <Loading what="Reading the sessions" />}
      {value !== undefined && (
        <>
          <header className="home-head">
            <h1>{headOf(span, newest)}</h1>
            <p className="quiet">{sessions.length === 0 ? "No sessions." : sumWords(sessions)}</p>
          </header>
          <Running sessions={sessions} />
          <NeedsLook sessions={sessions} />
          {byProject(sessions).map(([project, its]) => (
            <Project key={project} project={project} sessions={its} isOneDay={span !== "7d"} />
          ))}
          {value.next_cursor !== null && (
            <p>
              <Link to={to(["sessions"], filters)}>More sessions</Link>
            </p>
          )}
        </>
      )}
    </div>
  );
}

/** What is recorded without a session is in no session's list. */
function OnlyEntries() {
  return (
    <Empty title="No sessions yet">
      <p>
        What was recorded has no <code>session_id</code>. <Link to={to(["entries"])}>Show all entries</Link>
      </p>
    </Empty>
  );
}

function timesOf(span: Span): { readonly since?: string; readonly until?: string } {
  const today = dayStart(Date.now()).getTime();
  if (span === "today") return { since: new Date(today).toISOString() };
  if (span === "yesterday") {
    return { since: dayStart(today - DAY_MS / 2).toISOString(), until: new Date(today - 1).toISOString() };
  }
  const since = span === "7d" ? sinceOf("7d") : undefined;
  return since === undefined ? {} : { since };
}

/** Of the latest day those that ended on it; imported sessions may be old. */
function ofSpan(sessions: readonly Session[], span: Span): readonly Session[] {
  const [newest] = sessions;
  if (span !== "" || newest === undefined) return sessions;
  const day = formatDay(newest.last_at);
  return sessions.filter(({ last_at }) => formatDay(last_at) === day);
}

function headOf(span: Span, newest: Session | undefined): string {
  if (span === "7d") return "Last 7 days";
  if (span === "yesterday") return formatDay(new Date(Date.now() - DAY_MS).toISOString());
  return formatDay(span === "" && newest !== undefined ? newest.last_at : new Date().toISOString());
}

function Running({ sessions }: { readonly sessions: readonly Session[] }) {
  const running = sessions.filter(({ outcome }) => outcome === "running");
  if (running.length === 0) return null;
  return (
    <section>
      <h2>Running now</h2>
      <ul className="day-rows">
        {running.map((session) => (
          <Row key={session.session_id} session={session} time={formatTime(session.last_at)} />
        ))}
      </ul>
    </section>
  );
}

/** Those whose last turn failed, then those with the most failures. */
function NeedsLook({ sessions }: { readonly sessions: readonly Session[] }) {
  const weight = ({ outcome, failures }: Session): number => failures + (outcome === "failed" ? 1_000_000 : 0);
  const failed = sessions
    .filter((session) => session.outcome === "failed" || session.failures > 0)
    .toSorted((one, other) => weight(other) - weight(one))
    .slice(0, LOOKS_MAX);
  if (failed.length === 0) return null;
  return (
    <section>
      <h2>Needs a look</h2>
      <ul className="day-rows">
        {failed.map((session) => (
          <li key={session.session_id}>
            <Outcome outcome={session.outcome} />
            <Link to={to(["sessions", session.session_id])} data-result dir="auto">
              {sessionTitle(session)}
            </Link>
            <span className="quiet" dir="auto">
              {[session.project, agentsOf(session)].filter((part) => part !== "").join(" · ")}
            </span>
            <span className="failed-words">{session.failures > 0 && `${plural(session.failures, "failure")}`}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Project(options: {
  readonly project: string;
  readonly sessions: readonly Session[];
  readonly isOneDay: boolean;
}) {
  const { project, sessions, isOneDay } = options;
  return (
    <section>
      <h2 className="group-head">
        <span dir="auto">{project === "" ? "No project" : project}</span>
        <span className="where">{sumWords(sessions)}</span>
      </h2>
      <ul className="day-rows">
        {sessions.map((session) => (
          <Row
            key={session.session_id}
            session={session}
            time={isOneDay ? formatTime(session.last_at) : formatWhen(session.last_at)}
          />
        ))}
      </ul>
    </section>
  );
}

function Row({ session, time }: { readonly session: Session; readonly time: string }) {
  const { session_id, last_answer, files, active_ms, cost_total } = session;
  const facts = [
    files > 0 ? plural(files, "file") : "",
    active_ms > 0 ? formatDuration(active_ms) : "",
    cost_total === undefined ? "" : formatCost(cost_total),
  ];
  return (
    <li>
      <time className="quiet" dateTime={session.last_at}>
        {time}
      </time>
      <Outcome outcome={session.outcome} />
      <Link to={to(["sessions", session_id])} data-result dir="auto">
        {sessionTitle(session)}
      </Link>
      <span className="answer" dir="auto">
        {last_answer !== "" && `“${last_answer.replaceAll(/\s+/g, " ")}”`}
      </span>
      <span className="quiet facts">{facts.filter((fact) => fact !== "").join(" · ")}</span>
    </li>
  );
}

/** The project with the newest session first. */
function byProject(sessions: readonly Session[]): readonly (readonly [string, readonly Session[]])[] {
  const groups = new Map<string, Session[]>();
  for (const session of sessions) {
    const group = groups.get(session.project);
    if (group === undefined) groups.set(session.project, [session]);
    else group.push(session);
  }
  return [...groups];
}
