// The record live: activity over time, then the newest entries, grouped by session.
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { getHealth, listEntries, type QueryParameters, type Row, type RowPage } from "../api.js";
import { formatCount, plural, speakerOf } from "../format.js";
import { step, useKeys } from "../keyboard.js";
import { useLabels, useTitle } from "../labels.js";
import { Activity, type Range, ranges } from "../parts/activity.js";
import { EntryLine } from "../parts/entry-line.js";
import { FilterSelect, KindFilter } from "../parts/filters.js";
import { GettingStarted } from "../parts/getting-started.js";
import { Failed, Loading } from "../parts/notice.js";
import { useRequest } from "../requests.js";
import { Link, setQuery, to } from "../router.js";
import { tailLog } from "../tail-log.js";

const PAGE = 100;
/** The largest page that the server allows. */
const RELOAD_PAGE = 500;
/** How many entries stay in a list that is open for long; older ones are loaded again on request. */
const SHOWN_MAX = 600;
/** Redraw the activity chart at most this often. */
const REDRAW_MS = 5_000;

export function LiveScreen({ query }: { readonly query: URLSearchParams }) {
  const filters = useMemo(() => filtersOf(query), [query]);
  const range = rangeOf(query);
  const chosen = { since: query.get("since") ?? "", until: query.get("until") ?? "" };
  const labels = useLabels();
  const { rows, fresh, take, more, isFirst, error, reload, busy, version } = useLiveEntries({ ...filters, ...chosen });
  useKeys({ j: () => step("[data-result]", 1), k: () => step("[data-result]", -1) });
  if (isFirst && rows.length === 0 && Object.values({ ...filters, ...chosen }).every((value) => value === "")) {
    return <GettingStarted />;
  }
  return (
    <div className="column wide">
      <div className="tools">
        <h1 className="only-read">The record</h1>
        <KindFilter query={query} />
        <FilterSelect name="project" label="project" all="all projects" values={labels.projects} query={query} />
        <FilterSelect name="client" label="client" all="all agents" values={labels.clients} query={query} />
        <span className="grow" />
        <fieldset className="ranges" aria-label="Time shown">
          {(Object.keys(ranges) as Range[]).map((each) => (
            <button
              key={each}
              type="button"
              className="plain"
              aria-pressed={each === range}
              onClick={() => setQuery({ range: each, since: "", until: "" })}
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
        choose={({ since, until }) => setQuery({ since, until })}
      />
      {fresh > 0 && (
        <button type="button" className="fresh" onClick={take}>
          {plural(fresh, "new entry", "new entries")}
        </button>
      )}
      {error !== undefined && <Failed error={error} reload={reload} />}
      {rows.length === 0 &&
        error === undefined &&
        (busy ? (
          <Loading what="Reading the newest entries" />
        ) : (
          <p className="quiet">No entries match these filters.</p>
        ))}
      <Groups rows={rows} />
      {more !== undefined && (
        <button type="button" className="more" onClick={more} disabled={busy}>
          Older entries
        </button>
      )}
    </div>
  );
}

function filtersOf(query: URLSearchParams): QueryParameters {
  const named = (name: string): string => query.get(name) ?? "";
  return { kind: named("kind"), project: named("project"), client: named("client") };
}

function rangeOf(query: URLSearchParams): Range {
  const range = query.get("range") ?? "";
  return Object.hasOwn(ranges, range) ? (range as Range) : "24h";
}

/** The newest entries and live ones: inserted while the reader is at the top, otherwise held back until asked for. */
function useLiveEntries(filters: QueryParameters) {
  const question = JSON.stringify(filters);
  // Lists sort by `created_at`, the log by arrival: imported entries may belong far down.
  const first = useRequest(
    async (signal): Promise<RowPage & { readonly through: number }> => {
      const { position } = await getHealth(signal);
      return { through: position, ...(await listEntries({ ...filters, limit: PAGE }, signal)) };
    },
    [question],
  );
  const [list, setList] = useState<LiveList>(listOf());
  const [version, setVersion] = useState(0);
  const redrawnMs = useRef(0);
  const isBounded = filters.until !== "";

  // Set while rendering: in an effect the result would exist for a moment without its rows, and the store look empty.
  const [read, setRead] = useState<RowPage>();
  if (first.value !== undefined && first.value !== read) {
    setRead(first.value);
    setList(listOf(first.value));
  }

  const start = first.value?.through;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `question` stands for the filters.
  useEffect(() => {
    if (start === undefined || isBounded) return;
    const stop = new AbortController();
    const { since: _, until: __, ...live } = filters;
    const onEntries = (entries: readonly Row[]): void => {
      const newest = entries.toReversed();
      if (scrollY < 80) setList((before) => prepend(before, newest, newest.length));
      else setList((before) => holdBack(before, newest));
      if (Date.now() - redrawnMs.current < REDRAW_MS) return;
      redrawnMs.current = Date.now();
      setVersion((before) => before + 1);
    };
    void tailLog({ after: start, filters: live, signal: stop.signal, onEntries });
    return () => stop.abort();
  }, [start, question]);

  const take = useCallback((): void => {
    setList((before) => ({ ...prepend(before, before.waiting, before.fresh), waiting: [], fresh: 0 }));
    scrollTo({ top: 0 });
  }, []);
  const more = (): void => {
    loadOlder(list, filters).then(
      ({ rows, cursor }) =>
        setList((before) => {
          // The filters have changed since.
          if (before.first !== list.first) return before;
          return { ...before, rows: merge(before.rows, rows), cursor, isCut: false };
        }),
      () => undefined,
    );
  };
  const isFirst = first.value !== undefined;
  const { error, reload, busy } = first;
  return {
    rows: list.rows,
    fresh: list.fresh,
    take,
    more: list.isCut || list.cursor !== null ? more : undefined,
    isFirst,
    error,
    reload,
    busy,
    version,
  };
}

interface LiveList {
  /** The first page that the list began with. */
  readonly first: RowPage | undefined;
  readonly rows: readonly Row[];
  /** The cursor after the rows; useless once rows have been dropped. */
  readonly cursor: string | null;
  readonly isCut: boolean;
  /** The newest entries held back while the reader was further down, and how many arrived. */
  readonly waiting: readonly Row[];
  readonly fresh: number;
}

function listOf(first?: RowPage): LiveList {
  const { entries: rows = [], next_cursor: cursor = null } = first ?? {};
  return { first, rows, cursor, isCut: false, waiting: [], fresh: 0 };
}

/** Prepends rows. If more arrived than were kept, the older rows no longer follow without a gap and are dropped. */
function prepend(list: LiveList, newest: readonly Row[], count: number): LiveList {
  const all = count > newest.length ? newest : merge(newest, list.rows);
  const rows = all.slice(0, Math.max(SHOWN_MAX, list.rows.length));
  return { ...list, rows, isCut: list.isCut || rows.length < all.length || count > newest.length };
}

function holdBack(list: LiveList, newest: readonly Row[]): LiveList {
  return { ...list, waiting: merge(newest, list.waiting).slice(0, SHOWN_MAX), fresh: list.fresh + newest.length };
}

function merge(newer: readonly Row[], before: readonly Row[]): readonly Row[] {
  const known = new Set(before.map(({ position }) => position));
  return [...newer.filter(({ position }) => !known.has(position)), ...before];
}

/** Loads the next rows; from the top if rows have been dropped. */
async function loadOlder(
  { rows, cursor, isCut }: LiveList,
  filters: QueryParameters,
): Promise<Pick<LiveList, "rows" | "cursor">> {
  let read: readonly Row[] = isCut ? [] : rows;
  let next = isCut ? null : cursor;
  do {
    const page: RowPage = await listEntries({
      ...filters,
      limit: isCut ? RELOAD_PAGE : PAGE,
      cursor: next ?? undefined,
    });
    read = [...read, ...page.entries];
    next = page.next_cursor;
  } while (next !== null && read.length <= rows.length);
  return { rows: read, cursor: next };
}

function Groups({ rows }: { readonly rows: readonly Row[] }) {
  const groups = useMemo(() => groupBySession(rows), [rows]);
  return (
    <ol className="groups">
      {groups.map(({ key, session_id, entries }) => (
        <li key={key} className="group">
          <GroupHead session_id={session_id} entries={entries} />
          <GroupLines entries={entries} />
        </li>
      ))}
    </ol>
  );
}

/** Entries shown per session; the rest on request. */
const GROUP_SHOWN = 8;
/** Up to this many more are shown as well: hiding them would save no room. */
const EXTRA_SHOWN = 4;

function GroupLines({ entries }: { readonly entries: readonly Row[] }) {
  const [isOpen, setOpen] = useState(false);
  const isSystemGroup = entries.every(isSystemEntry);
  // System entries are many and seldom what the reader looks for.
  const most = isSystemGroup ? 0 : GROUP_SHOWN;
  const isCut = !isOpen && entries.length > most + EXTRA_SHOWN;
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
          {isSystemGroup ? systemEntriesText(entries) : plural(entries.length - most, "earlier one")}
        </button>
      )}
    </>
  );
}

/** Whether Hansard itself wrote the entry. */
function isSystemEntry({ kind }: Row): boolean {
  return kind === "audit" || kind === "redaction" || kind.startsWith("memory_");
}

/** `12 notes: 7 reinforced, 5 proposed`. */
function systemEntriesText(entries: readonly Row[]): string {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(speakerOf(entry), (counts.get(speakerOf(entry)) ?? 0) + 1);
  const parts = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([label, count]) => `${formatCount(count)} ${label}`);
  return `${plural(entries.length, "note")}: ${parts.join(", ")}`;
}

function GroupHead(options: { readonly session_id: string; readonly entries: readonly Row[] }) {
  const { session_id, entries } = options;
  const [entry] = entries;
  const title = useTitle(session_id);
  const where = session_id === "" ? "" : [entry?.project, entry?.client].filter((label) => label !== "").join(" · ");
  return (
    <h2 className="group-head">
      {session_id === "" ? (
        <span className="quiet">{entries.every(isSystemEntry) ? "System entries" : "No session"}</span>
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

/**
 * Agents that run at the same time interleave: an entry joins its session if that is at most this many groups away …
 */
const NEAR_GROUPS = 4;
/** … and was active within this time. */
const NEAR_MS = 600_000;

/** Groups by session, newest first. The key is the oldest entry, so it stays the same while newer ones join. */
function groupBySession(rows: readonly Row[]): readonly (Group & { readonly key: string })[] {
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
  if (oldest === undefined || session_id !== entry.session_id || isSystemEntry(oldest) !== isSystemEntry(entry))
    return false;
  return Date.parse(oldest.created_at) - Date.parse(entry.created_at) < NEAR_MS;
}
