// Search results while one types, grouped by session, with facets that narrow the search.
import { useEffect, useMemo, useState } from "react";
import { ApiError, type Hit, type HitPage, searchRecord } from "../api.js";
import { formatCount, plural } from "../format.js";
import { Snippet } from "../highlight.js";
import { step, useKeys } from "../keyboard.js";
import { useTitle } from "../labels.js";
import { EntryLine, THROUGH_ALL } from "../parts/entry-line.js";
import { Failed, Loading } from "../parts/notice.js";
import { submitted } from "../parts/search-box.js";
import { usePages, useRequest } from "../requests.js";
import { Link, to } from "../router.js";
import { useStore } from "../store.js";

const PAGE = 40;
const TYPING_MS = 120;

export function SearchScreen({ query }: { readonly query: URLSearchParams }) {
  const q = useDebounced(query.get("q") ?? "");
  const answer = useRequest(
    async (signal) =>
      q.trim() === "" ? undefined : { q, ...(await searchRecord({ q, limit: PAGE, facets: 1 }, signal)) },
    [q],
  );
  const wanted = useStore(submitted);
  useEffect(() => {
    if (wanted === "" || answer.value?.q !== wanted) return;
    submitted.set("");
    document.querySelector<HTMLElement>("[data-result]")?.focus();
  }, [wanted, answer.value]);
  const { pages, more } = usePages<HitPage>(answer.value, (cursor) =>
    searchRecord({ q: answer.value?.q, limit: PAGE, cursor }),
  );
  useKeys({ j: () => step("[data-result]", 1), k: () => step("[data-result]", -1) });
  const groups = useMemo(() => groupBySession(pages.flatMap(({ results }) => results)), [pages]);
  if (q.trim() === "") return <SearchHelp />;
  const facets = answer.value?.facets;
  // A half-typed filter is rejected with 400, which is not a failure yet.
  const isIncomplete = answer.error instanceof ApiError && answer.error.status === 400;
  return (
    <div className="column wide">
      <div className="tools">
        <h1 className="only-read">Search</h1>
        <p className="found" role="status">
          {isIncomplete ? answer.error.message : foundWords(answer.value)}
        </p>
      </div>
      {answer.error !== undefined && !isIncomplete && <Failed error={answer.error} reload={answer.reload} />}
      {facets !== undefined && facets.counted > 0 && <Facets facets={facets} q={q} />}
      {answer.value !== undefined && <HiddenMatches answer={answer.value} />}
      {answer.busy && groups.length === 0 && <Loading what="Searching" />}
      <ol className="groups" aria-busy={answer.busy}>
        {groups.map(({ session_id, hits: ofSession }) => (
          <li key={session_id || ofSession[0]?.id} className="group">
            <HitGroup session_id={session_id} hits={ofSession} q={q} />
          </li>
        ))}
      </ol>
      {more !== undefined && (
        <button type="button" className="more" onClick={more}>
          More results
        </button>
      )}
    </div>
  );
}

/** The number of results; empty until the first answer. */
function foundWords(answer: (HitPage & { readonly q: string }) | undefined): string {
  if (answer?.facets === undefined) return "";
  const { counted, complete, sessions } = answer.facets;
  if (counted === 0) return `No results for ${answer.q}`;
  const entries = `${complete ? "" : "More than "}${plural(counted, "entry", "entries")}`;
  return `${entries} in ${plural(sessions.length, "session")}, newest first`;
}

function HitGroup(options: { readonly session_id: string; readonly hits: readonly Hit[]; readonly q: string }) {
  const { session_id, hits, q } = options;
  const title = useTitle(session_id);
  const [first] = hits;
  return (
    <>
      <h2 className="group-head">
        {session_id === "" ? (
          <span className="quiet">No session</span>
        ) : (
          <Link to={to(["sessions", session_id], { q, ...THROUGH_ALL })} dir="auto">
            {title}
          </Link>
        )}
        <span className="where" dir="auto">
          {[first?.project, first?.client].filter((label) => label !== "").join(" · ")}
        </span>
      </h2>
      <ol>
        {hits.map((hit) => (
          <li key={hit.position}>
            <EntryLine entry={hit} q={q}>
              {hit.kind !== "altered" && <HitText hit={hit} />}
            </EntryLine>
          </li>
        ))}
      </ol>
    </>
  );
}

function HitText({ hit }: { readonly hit: Hit }) {
  return (
    <>
      {hit.status !== undefined && <span className="field">{hit.status} </span>}
      {hit.field !== "" && hit.field !== "content" && <span className="field">{hit.field.replaceAll("_", " ")} </span>}
      <Snippet text={hit.snippet} matches={hit.matches} />
    </>
  );
}

type FacetCounts = NonNullable<Awaited<ReturnType<typeof searchRecord>>["facets"]>;

const FACETS_SHOWN = 8;

function Facets({ facets, q }: { readonly facets: FacetCounts; readonly q: string }) {
  const words = [
    ...facets.kinds.map(({ kind, count }) => ({ filter: `kind:${kind}`, name: kind.replaceAll("_", " "), count })),
    ...facets.projects.map(({ project, count }) => ({
      filter: `project:${quoted(project === "" ? "-" : project)}`,
      name: project === "" ? "no project" : project,
      count,
    })),
  ].filter(({ filter }) => !q.includes(filter));
  return (
    <p className="facets">
      {words.slice(0, FACETS_SHOWN * 2).map(({ filter, name, count }) => (
        <Link key={filter} to={to(["search"], { q: `${q} ${filter}` })}>
          {name} <span className="quiet">{formatCount(count)}</span>
        </Link>
      ))}
    </p>
  );
}

/** Matches that only a `kind:` filter shows, as links that add it. */
function HiddenMatches({ answer }: { readonly answer: HitPage & { readonly q: string } }) {
  const { elsewhere = {}, elsewhere_at_least, q } = answer;
  const counts = Object.entries(elsewhere);
  if (counts.length === 0) return null;
  return (
    <p className="facets">
      <span className="quiet">Not shown:{elsewhere_at_least === true ? " at least" : ""}</span>
      {counts.map(([name, count]) => (
        <Link key={name} to={to(["search"], { q: `${q} kind:${name}` })}>
          {name.replaceAll("_", " ")} <span className="quiet">{formatCount(count)}</span>
        </Link>
      ))}
    </p>
  );
}

function quoted(label: string): string {
  return /\s/.test(label) ? `"${label}"` : label;
}

function SearchHelp() {
  return (
    <section className="column empty">
      <h1>Search the record</h1>
      <p>
        All words must match, in any language; <code>"quotes"</code> match a phrase, <code>-word</code> excludes a word.
      </p>
      <p>
        <code>kind:error</code> <code>role:user</code> <code>tool:bash</code> <code>project:atlas</code>{" "}
        <code>since:7d</code> <code>is:low_confidence</code> narrow the search.
      </p>
    </section>
  );
}

/** Groups by session, in the order of their newest hit. */
function groupBySession(
  hits: readonly Hit[],
): readonly { readonly session_id: string; readonly hits: readonly Hit[] }[] {
  const groups = new Map<string, Hit[]>();
  for (const hit of hits) {
    const group = groups.get(hit.session_id);
    if (group === undefined) groups.set(hit.session_id, [hit]);
    else group.push(hit);
  }
  return [...groups].map(([session_id, ofSession]) => ({ session_id, hits: ofSession }));
}

/** The text once typing has paused. */
function useDebounced(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
