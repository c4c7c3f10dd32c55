// Costs: how much, where, and against the time before.
import { useMemo } from "react";
import { getUsage, type UsageAnswer } from "../api.js";
import { formatCost, formatCount, formatTokens, plural } from "../format.js";
import { useLabels } from "../labels.js";
import { FilterSelect } from "../parts/filters.js";
import { Empty, Failed, Loading } from "../parts/notice.js";
import { PeriodSelect, periodOf, sinceOf, spanBefore } from "../parts/period.js";
import { type Bar, Columns } from "../parts/plots.js";
import { useRequest } from "../requests.js";
import { Link, setQuery, to } from "../router.js";

const divisions = ["model", "project", "client", "session", "user", "tool"] as const;
type Division = (typeof divisions)[number];
type Row = UsageAnswer["rows"][number];

const ROWS_MAX = 100;
const TURNS_SHOWN = 5;

const names: { readonly [D in Division]: string } = {
  model: "Model",
  project: "Project",
  client: "Agent",
  session: "Session",
  user: "User",
  tool: "Tool",
};

export function CostsScreen({ query }: { readonly query: URLSearchParams }) {
  const period = periodOf(query, "30d");
  const by = divisions.find((division) => division === query.get("by")) ?? "model";
  const labels = useLabels();
  const filters = { project: query.get("project") ?? "", client: query.get("client") ?? "" };
  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
  const span = { ...filters, timezone, since: sinceOf(period) ?? "" };
  const question = JSON.stringify([span, by]);
  const { value, error, reload } = useRequest((signal) => getUsage({ ...span, by }, signal), [question]);
  const days = useRequest((signal) => getUsage({ ...span, by: "day" }, signal), [JSON.stringify(span)]);
  const before = useRequest(
    async (signal) => {
      const earlier = spanBefore(period);
      return earlier === undefined ? undefined : getUsage({ ...filters, timezone, ...earlier, by: "day" }, signal);
    },
    [JSON.stringify(span)],
  );
  const turns = useRequest((signal) => getUsage({ ...span, by: "session,turn" }, signal), [JSON.stringify(span)]);
  const rows = useMemo(() => mostExpensive(value?.rows ?? []), [value]);
  return (
    <div className="column wide costs">
      <div className="tools">
        <h1>Costs</h1>
        <span className="grow" />
        <FilterSelect name="project" label="project" all="all projects" values={labels.projects} query={query} />
        <FilterSelect name="client" label="client" all="all agents" values={labels.clients} query={query} />
        <PeriodSelect period={period} />
        {rows.length > 0 && <ExportCsv by={by} rows={rows} />}
      </div>
      {error !== undefined && <Failed error={error} reload={reload} />}
      {value === undefined && error === undefined && <Loading what="Adding up" />}
      {value?.rows.length === 0 && <NothingCounted />}
      {value !== undefined && value.rows.length > 0 && (
        <>
          <Total usage={value} before={before.value} />
          {days.value !== undefined && <CostPerDay rows={days.value.rows} />}
          <p className="ranges">
            By
            {divisions.map((division) => (
              <button
                key={division}
                type="button"
                className="plain"
                aria-pressed={division === by}
                onClick={() => setQuery({ by: division === "model" ? "" : division })}
              >
                {names[division].toLowerCase()}
              </button>
            ))}
          </p>
          <Rows by={by} rows={rows} />
          {turns.value !== undefined && <Turns rows={mostExpensive(turns.value.rows).slice(0, TURNS_SHOWN)} />}
        </>
      )}
    </div>
  );
}

function NothingCounted() {
  return (
    <Empty title="No token counts recorded in this time">
      <p>
        Agents whose transcripts have token counts are named in <a href="/docs">the documentation</a>;{" "}
        <code>recordingFetch</code> and the proxy record them for every provider.
      </p>
    </Empty>
  );
}

function Total({ usage, before }: { readonly usage: UsageAnswer; readonly before: UsageAnswer | undefined }) {
  const { total, unpriced } = usage;
  const tokens = total.input_tokens + total.output_tokens;
  const cached = total.input_tokens === 0 ? 0 : Math.round((100 * total.cache_read_tokens) / total.input_tokens);
  const change = (total.cost ?? 0) - (before?.total.cost ?? 0);
  return (
    <p className="cost-total">
      <strong>{formatCost(total.cost ?? 0)}</strong>
      {before !== undefined && before.rows.length > 0 && (
        <span className="quiet">
          {change >= 0 ? "▲ " : "▼ "}
          {formatCost(Math.abs(change))} {change >= 0 ? "more" : "less"} than in the time before
        </span>
      )}
      <span>
        {formatTokens(tokens)} tokens, {cached} % read from cache
      </span>
      <span>{plural(total.calls, "call")}</span>
      {unpriced.length > 0 && (
        <span className="quiet" title={unpriced.map((model) => model || "no model named").join(", ")}>
          no price for {plural(unpriced.length, "model")}
        </span>
      )}
    </p>
  );
}

function CostPerDay({ rows }: { readonly rows: readonly Row[] }) {
  const days = rows.toSorted((one, other) => String(one.day).localeCompare(String(other.day)));
  const [first] = days;
  const last = days.at(-1);
  if (first?.day === undefined || last?.day === undefined || days.length < 2) return null;
  const bars = days.map(
    ({ day = "", cost = 0, calls }): Bar => ({
      name: day,
      value: cost,
      words: `${formatCost(cost)}, ${plural(calls, "call")}`,
    }),
  );
  const middle = days[Math.floor(days.length / 2)]?.day ?? first.day;
  return <Columns title="Dollars per day" bars={bars} axis={[first.day, middle, last.day]} formatMost={formatCost} />;
}

const columns = [
  { title: "Calls", of: ({ calls }: Row) => formatCount(calls) },
  {
    title: "New input",
    of: (row: Row) => formatTokens(row.input_tokens - row.cache_read_tokens - row.cache_write_tokens),
  },
  { title: "Output", of: ({ output_tokens }: Row) => formatTokens(output_tokens) },
  { title: "Cache read", of: ({ cache_read_tokens }: Row) => formatTokens(cache_read_tokens) },
  { title: "Cache write", of: ({ cache_write_tokens }: Row) => formatTokens(cache_write_tokens) },
  { title: "Cost", of: ({ cost }: Row) => (cost === undefined ? "" : formatCost(cost)) },
] as const;

function Rows({ by, rows }: { readonly by: Division; readonly rows: readonly Row[] }) {
  return (
    <>
      <table className="contents-page">
        <thead>
          <tr>
            <th scope="col">{names[by]}</th>
            {columns.map(({ title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, ROWS_MAX).map((row) => (
            <tr key={row[by] ?? ""}>
              <th scope="row">
                <span className="title" dir="auto">
                  {by === "session" && row.session !== undefined && row.session !== "" ? (
                    <Link to={to(["sessions", row.session])}>{row.title || row.session}</Link>
                  ) : (
                    nameOf(by, row)
                  )}
                </span>
              </th>
              {columns.map(({ title, of }) => (
                <td key={title}>{of(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > ROWS_MAX && (
        <p className="quiet">
          The {ROWS_MAX} most expensive of {formatCount(rows.length)}.
        </p>
      )}
    </>
  );
}

function nameOf(by: Division, row: Row): string {
  const name = row[by] ?? "";
  if (name !== "") return name;
  return by === "tool" ? "No tool" : by === "session" ? "No session" : `No ${names[by].toLowerCase()}`;
}

function Turns({ rows }: { readonly rows: readonly Row[] }) {
  const priced = rows.filter(({ cost = 0, session = "" }) => cost > 0 && session !== "");
  if (priced.length === 0) return null;
  return (
    <section>
      <h2>Most expensive turns</h2>
      <ul className="day-rows">
        {priced.map(({ session = "", turn, prompt = "", title = "", calls, cost = 0 }) => (
          <li key={`${session} ${turn}`}>
            <Link to={to(["sessions", session])} dir="auto">
              {prompt || title || session}
            </Link>
            <span className="quiet answer" dir="auto">
              {prompt !== "" && title}
            </span>
            <span className="quiet facts">
              {plural(calls, "call")} · {formatCost(cost)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function mostExpensive(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((one, other) => (other.cost ?? 0) - (one.cost ?? 0) || other.input_tokens - one.input_tokens);
}

const exported = [
  "calls",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "cost",
] as const;

function ExportCsv({ by, rows }: { readonly by: Division; readonly rows: readonly Row[] }) {
  const lines = [[by, ...exported], ...rows.map((row) => [row[by] ?? "", ...exported.map((name) => row[name] ?? "")])];
  const text = lines.map((line) => line.map(csvCell).join(",")).join("\r\n");
  return (
    <a href={`data:text/csv;charset=utf-8,${encodeURIComponent(text)}`} download={`costs-by-${by}.csv`}>
      Export CSV
    </a>
  );
}

/** A spreadsheet takes a cell that begins with one of these for a formula. */
function csvCell(value: string | number): string {
  const text = String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
