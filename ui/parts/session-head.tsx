// The title, facts and actions of a session.
import { type ReactNode, useState } from "react";
import { usePermission } from "../access.js";
import { getHistory, getUsage, type Session, send, toApiError } from "../api.js";
import {
  firstLine,
  formatCost,
  formatCount,
  formatDay,
  formatDuration,
  formatTime,
  formatTokens,
  plural,
} from "../format.js";
import { useRequest } from "../requests.js";
import { Link, to } from "../router.js";
import { useTransientText } from "../transient-text.js";
import { agentsOf } from "./session-facts.js";

export function SessionHead(options: {
  readonly id: string;
  readonly title: string;
  readonly session: Session | undefined;
  /** What else can be done, first. */
  readonly children: ReactNode;
}) {
  const { id, title, session, children } = options;
  return (
    <header className="session-head">
      <h1 dir="auto">{title}</h1>
      <p className="facts">{session === undefined ? "…" : <Facts session={session} />}</p>
      <p className="actions">
        {children}
        <CopyHistory id={id} />
        <Export id={id} />
      </p>
    </header>
  );
}

function Facts({ session }: { readonly session: Session }) {
  const { first_at, active_ms, turns, failures, files, decisions, parent } = session;
  const model = useModel(session);
  const names = [session.project, agentsOf(session), model].filter((name) => name !== "").join(" · ");
  const facts = [
    `${formatDay(first_at)}, ${formatTime(first_at)}`,
    active_ms > 0 ? `${formatDuration(active_ms)} active` : "",
    turns > 0 ? plural(turns, "turn") : "",
    failures > 0 ? `${formatCount(failures)} failed` : "",
    files > 0 ? plural(files, "file") : "",
    decisions > 0 ? plural(decisions, "decision") : "",
    tokenWords(session.usage),
    costWords(session),
  ].filter((fact) => fact !== "");
  return (
    <>
      {names !== "" && (
        <span dir="auto">
          {names}
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

/** The model that the session says it ran on, else the one that cost most, and how many more there are. */
function useModel({ session_id, metadata, usage }: Session): string {
  const given = typeof metadata.model === "string" ? firstLine(metadata.model, MODEL_CHARS) : "";
  const isAsked = given === "" && usage.calls > 0;
  const { value } = useRequest(
    async (signal) => (isAsked ? getUsage({ session_id, by: "model" }, signal) : undefined),
    [session_id, isAsked],
  );
  if (given !== "") return given;
  const models = (value?.rows ?? []).flatMap(({ model = "" }) => (model === "" ? [] : [model]));
  const [first] = models;
  if (first === undefined) return "";
  const name = firstLine(first, MODEL_CHARS);
  return models.length === 1 ? name : `${name} and ${plural(models.length - 1, "other")}`;
}

const MODEL_CHARS = 60;

/** `47.6 M tokens, 91 % cached`. */
function tokenWords({ input_tokens, output_tokens, cache_read_tokens }: Session["usage"]): string {
  const all = input_tokens + output_tokens;
  if (all === 0) return "";
  const share = input_tokens === 0 ? 0 : Math.round((cache_read_tokens / input_tokens) * 100);
  return `${formatTokens(all)} tokens${share > 0 ? `, ${Math.min(share, 100)} % cached` : ""}`;
}

function costWords({ cost = 0, cost_total = cost }: Session): string {
  if (cost_total === 0) return "";
  return `${formatCost(cost_total)}${cost_total > cost ? " with subagents" : ""}`;
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
