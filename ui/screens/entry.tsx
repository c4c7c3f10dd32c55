// One entry at an address of its own: what it says, where it stands, and the whole of it as it is kept.
import { useAnswer } from "../answer.js";
import { getEntry, type Row } from "../api.js";
import { Code } from "../parts/code.js";
import { Given } from "../parts/given.js";
import { Failed, Loading } from "../parts/notice.js";
import { Said } from "../parts/said.js";
import { Link, to } from "../router.js";
import { speakerOf, wholeTimeOf } from "../words.js";

export function EntryScreen({ id }: { readonly id: string }) {
  const { value, error, again } = useAnswer((signal) => getEntry(id, signal), [id]);
  if (error !== undefined) return <Failed error={error} again={again} />;
  if (value === undefined) return <Loading what="Reading the entry" />;
  const { position, kind, created_at, session_id, project, client, hash } = value;
  return (
    <article className="column entry-page">
      <h1>
        Entry {position} <span className="quiet">{kind.replaceAll("_", " ")}</span>
      </h1>
      <dl className="facts-list">
        <Fact name="When">{wholeTimeOf(created_at)}</Fact>
        {session_id !== "" && (
          <Fact name="Session">
            <Link to={to(["sessions", session_id], {}, String(position))} dir="auto">
              {session_id}
            </Link>
          </Fact>
        )}
        {project !== "" && <Fact name="Project">{project}</Fact>}
        {client !== "" && <Fact name="Client">{client}</Fact>}
        <Fact name="Id">
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
            <Said entry={toRow(value)} withdrawn={false} />
          </div>
          {isAnswered(value as unknown as Row) && (
            <>
              <h2>What the model was given</h2>
              <Given entry={value as unknown as Row} />
            </>
          )}
          <h2>As recorded, secrets masked</h2>
          <Code text={JSON.stringify(value, null, 2)} language="json" />
        </>
      )}
    </article>
  );
}

/** What a model said, called or decided, and what went wrong then: something lay before it. */
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
