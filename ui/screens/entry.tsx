// One entry at its own address: content, place in its session, and the whole entry as stored.

import { getEntry, type Row } from "../api.js";
import { formatFullTime, speakerOf } from "../format.js";
import { CodeBlock } from "../parts/code-block.js";
import { EntryBody } from "../parts/entry-body.js";
import { ModelContext } from "../parts/model-context.js";
import { Failed, Loading } from "../parts/notice.js";
import { useRequest } from "../requests.js";
import { Link, to } from "../router.js";

export function EntryScreen({ id }: { readonly id: string }) {
  const { value, error, reload } = useRequest((signal) => getEntry(id, signal), [id]);
  if (error !== undefined) return <Failed error={error} reload={reload} />;
  if (value === undefined) return <Loading what="Reading the entry" />;
  const { position, kind, created_at, session_id, project, client, hash } = value;
  return (
    <article className="column entry-page">
      <h1>
        Entry {position} <span className="quiet">{kind.replaceAll("_", " ")}</span>
      </h1>
      <dl className="facts-list">
        <Fact name="When">{formatFullTime(created_at)}</Fact>
        {session_id !== "" && (
          <Fact name="Session">
            <Link to={to(["sessions", session_id], {}, String(position))} dir="auto">
              {session_id}
            </Link>
          </Fact>
        )}
        {project !== "" && <Fact name="Project">{project}</Fact>}
        {client !== "" && <Fact name="Client">{client}</Fact>}
        <Fact name="ID">
          <code>{value.id}</code>
        </Fact>
        <Fact name="Hash">
          <code>{hash}</code>
        </Fact>
      </dl>
      {"erased" in value ? (
        <p>This entry was forgotten. Its hash still proves that it existed; its text is gone.</p>
      ) : (
        <>
          <div className="entry-text">
            <span className="speaker">{speakerOf(value as unknown as Row)}</span>
            <EntryBody entry={toRow(value)} withdrawn={false} />
          </div>
          {isAnswered(value as unknown as Row) && (
            <>
              <h2>What the model saw</h2>
              <ModelContext entry={value as unknown as Row} />
            </>
          )}
          <h2>Recorded fields (secrets masked)</h2>
          <CodeBlock text={JSON.stringify(value, null, 2)} language="json" />
        </>
      )}
    </article>
  );
}

/** Whether a model produced the entry, so there is a context to show. */
function isAnswered(entry: Row): boolean {
  if (entry.kind === "message") return speakerOf(entry) === "assistant";
  return ["interaction", "response", "tool_call", "error", "decision"].includes(entry.kind);
}

/** A whole entry as the row that a list would show. */
function toRow(entry: object): Row {
  const { response } = entry as { readonly response?: string };
  return {
    ...entry,
    ...(response === undefined ? {} : { response_chars: response.length, response_excerpt: response }),
  } as Row;
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd dir="auto">{children}</dd>
    </div>
  );
}
