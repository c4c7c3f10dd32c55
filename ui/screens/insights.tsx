// Insights: reflection as an article: what the newest entries say about the agents; every number links to its entries.
import { type ReactNode, useMemo } from "react";
import { type ReflectionAnswer, reflect, searchRecord } from "../api.js";
import { formatDuration, formatWhen, plural } from "../format.js";
import { useLabels } from "../labels.js";
import { FilterSelect } from "../parts/filters.js";
import { GettingStarted } from "../parts/getting-started.js";
import { Failed, Loading } from "../parts/notice.js";
import { type Bar, Columns, NamedBars, TimeRows } from "../parts/plots.js";
import { useRequest } from "../requests.js";
import { Link, to } from "../router.js";

const limits = ["200", "1000", "5000", "20000"];

export function InsightsScreen({ query }: { readonly query: URLSearchParams }) {
  const limit = query.get("limit") ?? "1000";
  const project = query.get("project") ?? "";
  const labels = useLabels();
  const { value, error, reload } = useRequest((signal) => reflect({ limit, project }, signal), [limit, project]);
  if (value?.reviewed === 0 && project === "") return <GettingStarted />;
  return (
    <article className="column reflection">
      <div className="tools">
        <h1>Insights</h1>
        <span className="grow" />
        <FilterSelect name="project" label="project" all="all projects" values={labels.projects} query={query} />
        <FilterSelect name="limit" label="how many" all="newest 1000" values={limits} query={query} />
      </div>
      {error !== undefined && <Failed error={error} reload={reload} />}
      {value === undefined ? (
        <Loading what="Reading the newest entries" />
      ) : (
        <Report report={value} project={project} />
      )}
    </article>
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
      <Tools report={report} />
      <Topics report={report} projectFilter={projectFilter} />
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

function Topics({ report, projectFilter }: { readonly report: ReflectionAnswer; readonly projectFilter: string }) {
  const { topics, trend } = report;
  const [first] = trend.timeline;
  const last = trend.timeline.at(-1);
  const words = topics.map(({ word }) => word).join(" ");
  const { value: mentions } = useRequest(
    (signal) => Promise.all(topics.map(({ word }) => timesOf(word, projectFilter, first?.from, signal))),
    [words, projectFilter, first?.from],
  );
  if (topics.length === 0 || first === undefined || last === undefined) return null;
  const range = { from: first.from, to: last.to };
  return (
    <section>
      <h2>Recurring topics</h2>
      <TimeRows
        title="Words that users used most, and when"
        rows={topics.map(({ word, count }, at) => ({
          name: word,
          times: mentions?.[at] ?? [],
          words: plural(count, "mention"),
          href: to(["search"], { q: `${word} role:user${projectFilter}` }),
        }))}
        range={range}
        axis={[formatWhen(range.from), formatWhen(range.to)]}
      />
    </section>
  );
}

const MENTIONS_MAX = 500;

/** When users mentioned a word, newest mentions only. */
async function timesOf(
  word: string,
  projectFilter: string,
  since: string | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { results } = await searchRecord(
    { q: `"${word}" role:user${projectFilter}`, since, limit: MENTIONS_MAX },
    signal,
  );
  return results.map(({ created_at }) => created_at);
}

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

const EVIDENCE_SHOWN = 5;

/** The entries behind a finding. */
function Evidence({ ids }: { readonly ids: readonly string[] }) {
  return (
    <span className="evidence">
      {ids.slice(0, EVIDENCE_SHOWN).map((id, at) => (
        <Link key={id} to={to(["entries", id])} aria-label={`Evidence ${at + 1}`}>
          {at + 1}
        </Link>
      ))}
    </span>
  );
}
