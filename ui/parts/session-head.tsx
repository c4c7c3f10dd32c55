// The title, facts and actions of a session.
import { useState } from "react";
import { usePermission } from "../access.js";
import { getHistory, getUsage, type Session, send, toApiError } from "../api.js";
import { formatCost, formatCount, formatDay, formatDuration, formatTime, plural } from "../format.js";
import { useRequest } from "../requests.js";
import { Link, to } from "../router.js";
import { useTransientText } from "../transient-text.js";

export function SessionHead(options: {
  readonly id: string;
  readonly title: string;
  readonly session: Session | undefined;
}) {
  const { id, title, session } = options;
  const spent = useRequest((signal) => getUsage({ session_id: id }, signal), [id]).value?.total;
  return (
    <header className="session-head">
      <h1 dir="auto">{title}</h1>
      <p className="facts">{session === undefined ? "…" : <Facts session={session} spent={spent} />}</p>
      <p className="actions">
        <CopyHistory id={id} />
        <Export id={id} />
      </p>
    </header>
  );
}

function Facts({ session, spent }: { readonly session: Session; readonly spent: UsageTotal | undefined }) {
  const { first_at, last_at, messages, interactions, tool_calls, errors, decisions, parent } = session;
  const lengthMs = Date.parse(last_at) - Date.parse(first_at);
  const where = [...session.projects, ...session.clients].filter((label) => label !== "").join(" · ");
  const facts = [
    `${formatDay(first_at)}, ${formatTime(first_at)}`,
    lengthMs > 0 ? formatDuration(lengthMs) : "",
    messages > 0 ? plural(messages, "message") : "",
    interactions > 0 ? plural(interactions, "interaction") : "",
    tool_calls > 0 ? plural(tool_calls, "tool call") : "",
    errors > 0 ? plural(errors, "error") : "",
    decisions > 0 ? plural(decisions, "decision") : "",
    spent === undefined || spent.calls === 0 ? "" : formatUsage(spent),
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

/** Copies the session as API messages for a model. */
function CopyHistory({ id }: { readonly id: string }) {
  const [state, say] = useTransientText(2_500);
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

type UsageTotal = Awaited<ReturnType<typeof getUsage>>["total"];

function formatUsage({ input_tokens, output_tokens, cache_read_tokens, cost }: UsageTotal): string {
  const facts = [
    plural(input_tokens + output_tokens, "token"),
    cache_read_tokens > 0 ? `${formatCount(cache_read_tokens)} from the cache` : "",
    cost === undefined || cost === 0 ? "" : formatCost(cost),
  ];
  return facts.filter((fact) => fact !== "").join(", ");
}

/** Downloads through fetch, because a link cannot carry a key. */
function Export({ id }: { readonly id: string }) {
  const isAllowed = usePermission("admin");
  const [refusal, setRefusal] = useState("");
  const save = async (): Promise<void> => {
    const response = await send(`/export?session_id=${encodeURIComponent(id)}&masked=1`);
    if (!response.ok) throw await toApiError(response);
    setRefusal("");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await response.blob());
    link.download = `${id.replace(/[^\w.-]+/g, "_").slice(0, 80)}.ndjson`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  if (!isAllowed) return null;
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
