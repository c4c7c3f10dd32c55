// What the agents remember, by project and type, with how often each was given, used and confirmed, week by week.
import { useMemo } from "react";
import { memoryStatuses, memoryTypes } from "../../src/model/memory.js";
import { useAnswer } from "../answer.js";
import { listMemories, type Memory } from "../api.js";
import { step, useKeys } from "../keys.js";
import { useLabels } from "../labels.js";
import { Acceptance } from "../parts/acceptance.js";
import { Choice } from "../parts/filters.js";
import { countsOf, type Meeting, Meetings, useMeetings } from "../parts/meetings.js";
import { Empty, Failed, Loading } from "../parts/notice.js";
import { Link, to } from "../router.js";

const PAGE = 500;

export function MemoriesScreen({ query }: { readonly query: URLSearchParams }) {
  const filters = {
    status: query.get("status") ?? "",
    project: query.get("project") ?? "",
    type: query.get("type") ?? "",
    unused: query.get("unused") ?? "",
  };
  const client = query.get("client") ?? "";
  const labels = useLabels();
  const { value, error, again } = useAnswer(
    (signal) => listMemories({ ...filters, limit: PAGE }, signal),
    [JSON.stringify(filters)],
  );
  useKeys({ j: () => step("[data-result]", 1), k: () => step("[data-result]", -1) });
  const meetings = useMeetings(client);
  const isRead = value !== undefined && meetings !== undefined;
  // What a client uses is what its answers met: a memory itself belongs to nobody.
  const memories = useMemo(
    () => (value?.memories ?? []).filter(({ id }) => client === "" || meetings?.has(id)),
    [value, meetings, client],
  );
  const groups = useMemo(() => byProject(memories), [memories]);
  const isUnfiltered = Object.values({ ...filters, client }).every((filter) => filter === "");
  if (error !== undefined) return <Failed error={error} again={again} />;
  if (value?.memories.length === 0 && isUnfiltered) return <NothingLearned />;
  return (
    <div className="column wide">
      <div className="tools">
        <h1>Memories</h1>
        <span className="grow" />
        <Choice name="status" label="status" all="every status" values={memoryStatuses} query={query} />
        <Choice name="project" label="project" all="all projects" values={labels.projects} query={query} />
        <Choice name="type" label="type" all="all types" values={memoryTypes} query={query} />
        <Choice name="client" label="used by" all="used by any agent" values={labels.clients} query={query} />
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
              <MemoryRow
                key={memory.id}
                memory={memory}
                meetings={meetings?.get(memory.id) ?? []}
                isOfAll={client === ""}
              />
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
  readonly meetings: readonly Meeting[];
  /** Whether all that ever met it count, and not only those of one client. */
  readonly isOfAll: boolean;
}) {
  const { memory, meetings, isOfAll } = options;
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
        <Link to={to(["memories", id])} data-result dir="auto">
          {content}
        </Link>
        {notes.length > 0 && <span className="note"> {notes.join(", ")}</span>}
      </span>
      <span className="quiet">
        <span className="only-read">confidence </span>
        <span title="confidence">{confidence.toFixed(2)}</span>
      </span>
      <Meetings counts={isOfAll ? memory : countsOf(meetings)} meetings={meetings} />
    </li>
  );
}

function NothingLearned() {
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
    const known = groups.get(memory.project);
    if (known === undefined) groups.set(memory.project, [memory]);
    else known.push(memory);
  }
  return [...groups].sort().map(([project, ofProject]) => ({
    project,
    memories: ofProject.toSorted((one, other) => memoryTypes.indexOf(one.type) - memoryTypes.indexOf(other.type)),
  }));
}
