// What is known of the session as a whole, and what can be done with it.
import { useState } from "react";
import { useMay } from "../access.js";
import { useAnswer } from "../answer.js";
import { getHistory, getUsage, type Session, send, toRefused } from "../api.js";
import { useBriefly } from "../briefly.js";
import { Link, to } from "../router.js";
import { costOf, countOf, dayOf, durationOf, plural, timeOf } from "../words.js";

export function SessionHead(options: {
  readonly id: string;
  readonly title: string;
  readonly session: Session | undefined;
}) {
  const { id, title, session } = options;
  const spent = useAnswer((signal) => getUsage({ session_id: id }, signal), [id]).value?.total;
  return (
    <header className="session-head">
      <h1 dir="auto">{title}</h1>
      <p className="facts">{session === undefined ? "…" : <Facts session={session} spent={spent} />}</p>
      <p className="deeds">
        <CopyHistory id={id} />
        <Export id={id} />
      </p>
    </header>
  );
}

function Facts({ session, spent }: { readonly session: Session; readonly spent: Spent | undefined }) {
  const { first_at, last_at, messages, interactions, tool_calls, errors, decisions, parent } = session;
  const lengthMs = Date.parse(last_at) - Date.parse(first_at);
  const where = [...session.projects, ...session.clients].filter((label) => label !== "").join(" · ");
  const facts = [
    `${dayOf(first_at)}, ${timeOf(first_at)}`,
    lengthMs > 0 ? durationOf(lengthMs) : "",
    messages > 0 ? plural(messages, "message") : "",
    interactions > 0 ? plural(interactions, "interaction") : "",
    tool_calls > 0 ? plural(tool_calls, "tool call") : "",
    errors > 0 ? plural(errors, "error") : "",
    decisions > 0 ? plural(decisions, "decision") : "",
    spent === undefined || spent.calls === 0 ? "" : spentWords(spent),
  ].filter((fact) => fact !== "");
  return (
    <>
      {where !== "" && (
        <span dir="auto">
          {where}
          {" · "}
        </span>
      )}
      {facts.join(" · ")}
      {parent !== "" && (
        <>
          {" · part of "}
          <Link to={to(["sessions", parent])} dir="auto">
            {parent}
          </Link>
        </>
      )}
    </>
  );
}

const formats = { openai: "OpenAI", anthropic: "Anthropic" } as const;

/** The session as a model would be given it. */
function CopyHistory({ id }: { readonly id: string }) {
  const [state, say] = useBriefly(2_500);
  const copy = async (format: string): Promise<void> => {
    try {
      const history = await getHistory(id, { format });
      await navigator.clipboard.writeText(JSON.stringify(history, null, 2));
      say(`${plural(history.messages.length, "message")} copied`);
    } catch (error) {
      say((error as Error).message);
    }
  };
  return (
    <>
      <span>
        Copy as API messages:{" "}
        {Object.entries(formats).map(([format, name]) => (
          <button
            key={format}
            type="button"
            className="plain form"
            aria-label={`Copy as API messages for ${name}`}
            onClick={() => void copy(format)}
          >
            {name}
          </button>
        ))}
      </span>
      {state !== "" && (
        <span role="status" className="quiet">
          {state}
        </span>
      )}
    </>
  );
}

type Spent = Awaited<ReturnType<typeof getUsage>>["total"];

function spentWords({ input_tokens, output_tokens, cache_read_tokens, cost }: Spent): string {
  const facts = [
    plural(input_tokens + output_tokens, "token"),
    cache_read_tokens > 0 ? `${countOf(cache_read_tokens)} from the cache` : "",
    cost === undefined || cost === 0 ? "" : costOf(cost),
  ];
  return facts.filter((fact) => fact !== "").join(", ");
}

/** Written by the server, kept by the browser: a link could not carry a key. */
function Export({ id }: { readonly id: string }) {
  const may = useMay("admin");
  const [refusal, setRefusal] = useState("");
  const save = async (): Promise<void> => {
    const response = await send(`/export?session_id=${encodeURIComponent(id)}&masked=1`);
    if (!response.ok) throw await toRefused(response);
    setRefusal("");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await response.blob());
    link.download = `${id.replace(/[^\w.-]+/g, "_").slice(0, 80)}.ndjson`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  if (!may) return null;
  return (
    <>
      <button
        type="button"
        className="plain"
        onClick={() => void save().catch((error: Error) => setRefusal(error.message))}
      >
        Export
      </button>
      {refusal !== "" && <span role="status">{refusal}</span>}
    </>
  );
}
