// What agents remember, by project and type, with how often each memory was given, used and confirmed per week.
import { useMemo } from "react";
import { memoryTypes } from "../../src/model/memory.js";
import { listEntries, listMemories, type Memory } from "../api.js";
import { formatCount, plural } from "../format.js";
import { step, useKeys } from "../keyboard.js";
import { useLabels } from "../labels.js";
import { Acceptance } from "../parts/acceptance.js";
import { FilterSelect } from "../parts/filters.js";
import { Empty, Failed, Loading } from "../parts/notice.js";
import { useRequest } from "../requests.js";
import { Link, to } from "../router.js";

const PAGE = 500;

const statusByTab: { readonly [tab: string]: string } = {
  active: "active",
  retired: "superseded",
  rejected: "rejected",
};

const headByStatus: { readonly [status: string]: string } = {
  active: "Active memories",
  superseded: "Retired memories",
  rejected: "Rejected candidates",
};

export function MemoriesScreen({ query }: { readonly query: URLSearchParams }) {
  const filters = {
    status: statusByTab[query.get("tab") ?? ""] ?? query.get("status") ?? "",
    project: query.get("project") ?? "",
    type: query.get("type") ?? "",
    unused: query.get("unused") ?? "",
  };
  const client = query.get("client") ?? "";
  const labels = useLabels();
  const { value, error, reload } = useRequest(
    (signal) => listMemories({ ...filters, limit: PAGE }, signal),
    [JSON.stringify(filters)],
  );
  useKeys({ j: () => step("[data-result]", 1), k: () => step("[data-result]", -1) });
  const uses = useMemoryUses(client);
  const isRead = value !== undefined && uses !== undefined;
  // A memory belongs to no client; its client filter means the memories that this client's answers used.
  const memories = useMemo(
    () => (value?.memories ?? []).filter(({ id }) => client === "" || uses?.has(id)),
    [value, uses, client],
  );
  const groups = useMemo(() => byProject(memories), [memories]);
  const { status, ...narrowing } = filters;
  const isUnfiltered = status === "active" && Object.values({ ...narrowing, client }).every((filter) => filter === "");
  if (error !== undefined) return <Failed error={error} reload={reload} />;
  if (value?.memories.length === 0 && isUnfiltered) return <NoMemories />;
  return (
    <div className="column wide">
      <div className="tools">
        <h1>{headByStatus[filters.status] ?? "Memories"}</h1>
        <span className="grow" />
        <FilterSelect name="project" label="project" all="all projects" values={labels.projects} query={query} />
        <FilterSelect name="type" label="type" all="all types" values={memoryTypes} query={query} />
        <FilterSelect name="client" label="used by" all="used by any agent" values={labels.clients} query={query} />
      </div>
      {!isRead && <Loading what="Reading the memories" />}
      {isRead && memories.length === 0 && (
        <p className="quiet">
          {client === ""
            ? "No memories match these filters."
            : `Answers of ${client} used none of them in twelve weeks.`}
        </p>
      )}
      {groups.map(({ project, memories }) => (
        <section key={project} className="group">
          <h2 className="group-head">
            <span dir="auto">{project === "" ? "All projects" : project}</span>
            <span className="where uses" aria-hidden="true">
              <span>given</span>
              <span>used</span>
              <span>confirmed</span>
            </span>
          </h2>
          <ul className="memories">
            {memories.map((memory) => (
              <MemoryRow key={memory.id} memory={memory} uses={uses?.get(memory.id) ?? []} isOfAll={client === ""} />
            ))}
          </ul>
        </section>
      ))}
      {value !== undefined && <Acceptance acceptance={value.acceptance} />}
    </div>
  );
}

function MemoryRow(options: {
  readonly memory: Memory;
  readonly uses: readonly MemoryUse[];
  /** Whether counts are of all clients. */
  readonly isOfAll: boolean;
}) {
  const { memory, uses, isOfAll } = options;
  const { id, type, content, status, confidence, supported, conflicts_with } = memory;
  const notes = [
    status === "active" ? "" : status,
    supported ? "" : "its evidence was deleted",
    conflicts_with.length > 0 ? "contradicted" : "",
  ].filter((note) => note !== "");
  return (
    <li data-status={status}>
      <span className="quiet">{type}</span>
      <span>
        <Link to={to(["memory", id])} data-result dir="auto">
          {content}
        </Link>
        {notes.length > 0 && <span className="note"> {notes.join(", ")}</span>}
      </span>
      <span className="quiet">
        <span className="only-read">confidence </span>
        <span title="confidence">{confidence.toFixed(2)}</span>
      </span>
      <UseSparklines counts={isOfAll ? memory : countUses(uses)} uses={uses} />
    </li>
  );
}

function NoMemories() {
  return (
    <Empty title="No memories yet">
      <p>
        A memory is a statement that a person accepted. Select a sentence in a session and press <kbd>m</kbd>, or:
      </p>
      <pre>
        <code>{`hansard memories add "Totals are rounded half to even." --project atlas --data ${location.origin}`}</code>
      </pre>
    </Empty>
  );
}

function byProject(
  memories: readonly Memory[],
): readonly { readonly project: string; readonly memories: readonly Memory[] }[] {
  const groups = new Map<string, Memory[]>();
  for (const memory of memories) {
    const group = groups.get(memory.project);
    if (group === undefined) groups.set(memory.project, [memory]);
    else group.push(memory);
  }
  return [...groups].sort().map(([project, ofProject]) => ({
    project,
    memories: ofProject.toSorted((one, other) => memoryTypes.indexOf(one.type) - memoryTypes.indexOf(other.type)),
  }));
}

const useKinds = ["given", "used", "confirmed"] as const;
const WEEKS = 12;
const WEEK_MS = 604_800_000;
const HEIGHT = 10;
/** Bars are drawn from at most this many recent uses; older ones only count in the totals. */
const USES_MAX = 500;

interface MemoryUse {
  /** 0 for the last seven days. */
  readonly weeksAgo: number;
  readonly is: ReadonlySet<string>;
}

/** Uses by memory, of one client if named; undefined until loaded. */
function useMemoryUses(client: string): ReadonlyMap<string, readonly MemoryUse[]> | undefined {
  const { value } = useRequest(
    async (signal) => ({
      client,
      ...(await listEntries({ kind: "memory_reinforced", client, limit: USES_MAX, since: `${WEEKS * 7}d` }, signal)),
    }),
    [client],
  );
  return useMemo(() => {
    // The result is still that of the previous client.
    if (value?.client !== client) return undefined;
    const byMemory = new Map<string, MemoryUse[]>();
    const now = Date.now();
    for (const entry of value.entries) {
      if (entry.kind !== "memory_reinforced") continue;
      const weeksAgo = Math.max(0, Math.floor((now - Date.parse(entry.created_at)) / WEEK_MS));
      for (const { memory_id, ...flags } of entry.memories) {
        if (typeof memory_id !== "string") continue;
        const is = new Set(useKinds.filter((use) => flags[use] === true));
        byMemory.set(memory_id, [...(byMemory.get(memory_id) ?? []), { weeksAgo, is }]);
      }
    }
    return byMemory;
  }, [value, client]);
}

/** How often a memory was given, used and confirmed. */
type UseCounts = { readonly [use in (typeof useKinds)[number]]: number };

function countUses(uses: readonly MemoryUse[]): UseCounts {
  const count = (use: string): number => uses.filter(({ is }) => is.has(use)).length;
  return { given: count("given"), used: count("used"), confirmed: count("confirmed") };
}

/** The counts, each with a bar per week. */
function UseSparklines(options: { readonly counts: UseCounts; readonly uses: readonly MemoryUse[] }) {
  const { counts, uses } = options;
  const weeks = Array.from({ length: WEEKS }, (_, at) => uses.filter(({ weeksAgo }) => weeksAgo === WEEKS - 1 - at));
  const countIn = (week: readonly MemoryUse[], use: string): number => week.filter(({ is }) => is.has(use)).length;
  const most = Math.max(1, ...weeks.flatMap((week) => useKinds.map((use) => countIn(week, use))));
  return (
    <span className="uses">
      {useKinds.map((use) => (
        <span key={use} title={`${use} ${plural(counts[use], "time")}; a bar is a week, the last is this one`}>
          <svg viewBox={`0 0 ${WEEKS} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
            {weeks.map((week, at) => {
              const height = (countIn(week, use) / most) * HEIGHT;
              // biome-ignore lint/suspicious/noArrayIndexKey: a week is identified by its index.
              return <rect key={at} className="bar" x={at} y={HEIGHT - height} width={0.8} height={height} />;
            })}
          </svg>
          <span className="only-read">{use} </span>
          {formatCount(counts[use])}
        </span>
      ))}
    </span>
  );
}
