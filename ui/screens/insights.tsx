// Insights: reflection as an article: what the newest entries say about the agents; every number links to its entries.
import { type ReactNode, useMemo } from "react";
import { type ReflectionAnswer, reflect } from "../api.js";
import { formatCount, formatDuration, formatWhen, plural } from "../format.js";
import { useNewestPosition } from "../growth.js";
import { useLabels } from "../labels.js";
import { FilterSelect } from "../parts/filters.js";
import { GettingStarted } from "../parts/getting-started.js";
import { Failed, Loading } from "../parts/notice.js";
import { type Period, PeriodSelect, periodOf, sinceOf } from "../parts/period.js";
import { type Bar, Columns, NamedBars } from "../parts/plots.js";
import { useRequest } from "../requests.js";
import { Link, to } from "../router.js";

/** As many of the newest entries of the period are looked at. */
const ENTRIES_MAX = 20_000;

export function InsightsScreen({ query }: { readonly query: URLSearchParams }) {
  const period = periodOf(query, "7d");
  const project = query.get("project") ?? "";
  const labels = useLabels();
  const isEmpty = useNewestPosition() === 0;
  const since = sinceOf(period);
  const { value, error, reload } = useRequest(
    (signal) => reflect({ limit: ENTRIES_MAX, since, project }, signal),
    [since, project],
  );
  if (value?.reviewed === 0 && project === "" && (isEmpty || period === "all")) return <GettingStarted />;
  return (
    <article className="column reflection">
      <div className="tools">
        <h1>Insights</h1>
        <span className="grow" />
        <FilterSelect name="project" label="project" all="all projects" values={labels.projects} query={query} />
        <PeriodSelect period={period} />
      </div>
      {error !== undefined && <Failed error={error} reload={reload} />}
      {value === undefined ? (
        error === undefined && <Loading what="Reading the newest entries" />
      ) : value.reviewed === 0 ? (
        <TooLittle period={period} query={query} />
      ) : (
        <Report report={value} project={project} />
      )}
    </article>
  );
}

/** The next longer period, and what to call both. */
const longer: { readonly [P in Period]: readonly [words: string, next?: Period, offer?: string] } = {
  "7d": ["in the last 7 days", "30d", "Show 30 days"],
  "30d": ["in the last 30 days", "90d", "Show 90 days"],
  "90d": ["in the last 90 days", "all", "Show all"],
  all: ["so far"],
};

function TooLittle({ period, query }: { readonly period: Period; readonly query: URLSearchParams }) {
  const [words, next, offer] = longer[period];
  return (
    <p className="lead">
      Not enough activity {words}.{" "}
      {next !== undefined && <Link to={to(["insights"], { ...Object.fromEntries(query), period: next })}>{offer}</Link>}
    </p>
  );
}

function Report({ report, project }: { readonly report: ReflectionAnswer; readonly project: string }) {
  const { reviewed, users, responses, errors, insights, trend } = report;
  const projectFilter = project === "" ? "" : ` project:${/\s/.test(project) ? `"${project}"` : project}`;
  return (
    <>
      <p className="lead">
        Looked at {plural(reviewed, "entry", "entries")}:{" "}
        <SearchLink q={`role:user${projectFilter}`}>{users} from users</SearchLink>,{" "}
        <SearchLink q={`role:assistant${projectFilter}`}>{plural(responses, "response")}</SearchLink>,{" "}
        <SearchLink q={`is:error${projectFilter}`}>{plural(errors, "error")}</SearchLink>.
      </p>
      {insights.map(({ text, entry_ids }) => (
        <p key={text}>
          {text} <Evidence ids={entry_ids} />
        </p>
      ))}
      <EntriesOverTime report={report} />
      {trend.changes.length > 0 && (
        <p>
          Compared with as many earlier entries:{" "}
          {trend.changes
            .map(({ measure, now, before }) => `${measure.replaceAll("_", " ")} ${now}, ${before} before`)
            .join("; ")}
          .
        </p>
      )}
      <Confidence report={report} projectFilter={projectFilter} />
      <Errors report={report} />
      <Commands report={report} projectFilter={projectFilter} />
      <Tools report={report} />
      <Disliked report={report} />
      <Decisions report={report} />
    </>
  );
}

function EntriesOverTime({ report }: { readonly report: ReflectionAnswer }) {
  const { timeline } = report.trend;
  const [first] = timeline;
  const last = timeline.at(-1);
  if (first === undefined || last === undefined) return null;
  const bars = timeline.map(
    ({ from, entries, errors }): Bar => ({
      name: formatWhen(from),
      value: entries,
      failed: errors,
      words: `${plural(entries, "entry", "entries")}, ${plural(errors, "error")}`,
    }),
  );
  const middle = timeline[Math.floor(timeline.length / 2)] ?? first;
  return (
    <Columns
      title="Entries over time, errors in red"
      bars={bars}
      axis={[formatWhen(first.from), formatWhen(middle.from), formatWhen(last.to)]}
    />
  );
}

function Confidence({ report, projectFilter }: { readonly report: ReflectionAnswer; readonly projectFilter: string }) {
  const { count, items } = report.low_confidence;
  const { rated, tenths } = report.confidence;
  if (rated === 0) return null;
  const bars = tenths.map((answers, at): Bar => {
    const name = `${(at / 10).toFixed(1)} to ${((at + 1) / 10).toFixed(1)}`;
    return { name, value: answers, words: plural(answers, "answer"), ...(at < 5 ? { tone: "low" } : {}) };
  });
  return (
    <section>
      <h2>Low confidence ({count})</h2>
      <p>
        Of {plural(rated, "answer")} with a confidence,{" "}
        <SearchLink q={`is:low_confidence${projectFilter}`}>
          {count} {count === 1 ? "is" : "are"} below 0.5
        </SearchLink>
        .
      </p>
      <Columns title="Answers by confidence, low confidence in ochre" bars={bars} axis={["0", "0.5", "1"]} />
      <ul className="findings">
        {items.map(({ id, text, confidence, session_id, position }) => (
          <li key={id}>
            <span className="confidence" data-low>
              {confidence.toFixed(2)}
            </span>{" "}
            <EntryLink session_id={session_id} position={position} id={id}>
              {text}
            </EntryLink>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Errors({ report }: { readonly report: ReflectionAnswer }) {
  if (report.error_groups.length === 0) return null;
  return (
    <section>
      <h2>Errors ({report.errors})</h2>
      <ul className="findings">
        {report.error_groups.map(({ fingerprint, text, count, last_at, entry_ids }) => (
          <li key={fingerprint}>
            <span className="count">{count}×</span> <span className="error-text">{text}</span>{" "}
            <span className="quiet">last {formatWhen(last_at)}</span> <Evidence ids={entry_ids} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Tools({ report }: { readonly report: ReflectionAnswer }) {
  const tools = useMemo(() => report.tools.toSorted((one, other) => other.calls - one.calls).slice(0, 12), [report]);
  if (tools.length === 0) return null;
  const timed = tools.filter(({ median_ms }) => median_ms !== undefined);
  return (
    <section>
      <h2>Tools</h2>
      <NamedBars
        title="Calls per tool, failures in red"
        bars={tools.map(({ tool, calls, failures }) => ({
          name: tool,
          value: calls,
          failed: failures,
          words: failures === 0 ? String(calls) : `${calls}, ${failures} failed`,
          href: to(["search"], { q: `tool:${tool}${failures === 0 ? "" : " is:error"}` }),
        }))}
      />
      {timed.length > 0 && (
        <NamedBars
          title="Duration of calls: median and 95th percentile"
          bars={timed.map(({ tool, median_ms = 0, p95_ms = 0 }) => ({
            name: tool,
            value: median_ms,
            words: `${formatDuration(median_ms)}, ${formatDuration(p95_ms)}`,
          }))}
        />
      )}
    </section>
  );
}

function Commands({ report, projectFilter }: { readonly report: ReflectionAnswer; readonly projectFilter: string }) {
  if (report.commands.length === 0) return null;
  return (
    <section>
      <h2>Failing commands</h2>
      <ul className="findings">
        {report.commands.slice(0, COMMANDS_SHOWN).map(({ command, calls, failures, error, entry_ids }) => (
          <li key={command}>
            <SearchLink q={`"${command.replaceAll('"', "")}" kind:tool_call is:error${projectFilter}`}>
              <code dir="auto">{command}</code>
            </SearchLink>{" "}
            failed {formatCount(failures)} of {plural(calls, "time")}{" "}
            {error !== "" && (
              <code className="error-line" dir="auto">
                {error}
              </code>
            )}{" "}
            <Evidence ids={entry_ids} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const COMMANDS_SHOWN = 12;

function Disliked({ report }: { readonly report: ReflectionAnswer }) {
  const { count, items } = report.disliked;
  if (count === 0) return null;
  return (
    <section>
      <h2>Disliked answers ({count})</h2>
      <ul className="findings">
        {items.map(({ id, text, comment, session_id, position }) => (
          <li key={id}>
            <EntryLink session_id={session_id} position={position} id={id}>
              {text}
            </EntryLink>{" "}
            {comment !== "" && <span className="because">{comment}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Decisions({ report }: { readonly report: ReflectionAnswer }) {
  if (report.decisions.length === 0) return null;
  return (
    <section>
      <h2>Decisions followed by errors</h2>
      <ul className="findings">
        {report.decisions.map(({ id, decision, errors, session_id, position, entry_ids }) => (
          <li key={id}>
            <EntryLink session_id={session_id} position={position} id={id}>
              {decision}
            </EntryLink>
            , then {plural(errors, "error")} <Evidence ids={entry_ids.slice(1)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function SearchLink({ q, children }: { readonly q: string; readonly children: ReactNode }) {
  return <Link to={to(["search"], { q })}>{children}</Link>;
}

function EntryLink(options: {
  readonly session_id: string;
  readonly position: number;
  readonly id: string;
  readonly children: ReactNode;
}) {
  const { session_id, position, id, children } = options;
  const place = session_id === "" ? to(["entries", id]) : to(["sessions", session_id], {}, String(position));
  return (
    <Link to={place} dir="auto">
      {children}
    </Link>
  );
}

/** The entries behind a finding: leads to the newest. */
function Evidence({ ids }: { readonly ids: readonly string[] }) {
  const [newest] = ids;
  if (newest === undefined) return null;
  return (
    <Link className="evidence" to={to(["entries", newest])} title="Opens the newest">
      {plural(ids.length, "entry", "entries")}
    </Link>
  );
}
