// What a model saw for an answer, what changed since the previous answer, and what followed.

import { type FormEvent, useState } from "react";
import { contentText, messageText } from "../../src/model/content-parts.js";
import { type ContextAnswer, getContext, getTold, type Row, type ToldAnswer } from "../api.js";
import { firstLine, formatCount, plural, toText } from "../format.js";
import { useRequest } from "../requests.js";
import { Link, to } from "../router.js";
import { CodeBlock } from "./code-block.js";
import { Failed, Loading } from "./notice.js";

/** The button's label: what is known before the context is fetched. */
export function contextSummary(entry: Row): string {
  if (entry.kind !== "interaction") return "given";
  const { memories_used, chunks_used } = entry;
  const facts = usedWords(memories_used, chunks_used);
  return facts.length === 0 ? "given" : `given ${facts.join(", ")}`;
}

export function ModelContext({ entry }: { readonly entry: Row }) {
  const { value, error, reload } = useRequest((signal) => getContext(entry.id, signal), [entry.id]);
  return (
    <section className="model-context" aria-label="What the model saw">
      {error !== undefined && <Failed error={error} reload={reload} />}
      {value === undefined && error === undefined && <Loading what="Loading what the model saw" />}
      {value !== undefined && (
        <>
          <ToldForm id={entry.id} />
          <ContextDetails context={value} />
          <Consequences ledTo={value.led_to} />
        </>
      )}
    </section>
  );
}

function ContextDetails({ context }: { readonly context: ContextAnswer }) {
  const { exact, messages, memories, chunks, tokens, tokens_reported, lacks, previous, system, tools, pack } = context;
  const facts = [plural(messages.length, "message"), ...usedWords(memories, chunks), plural(tokens, "token")];
  const added = new Set(previous?.added);
  return (
    <>
      <p className="aside">
        Given {facts.join(" · ")}
        {exact ? ", exactly as recorded." : ", reconstructed from the session; the request itself was not recorded."}
        {tokens_reported !== undefined && ` The provider counted ${plural(tokens_reported, "token")}.`}
        {lacks !== undefined && ` Not recorded: ${lacks.join(", ")}.`}
      </p>
      {previous !== undefined && (
        <p className="aside">
          Compared with <Link to={to(["entries", previous.entry_id])}>the previous answer</Link>:{" "}
          {formatCount(previous.kept)} kept, {formatCount(previous.added.length)} added,{" "}
          {formatCount(previous.removed.length)} removed.
        </p>
      )}
      {tools !== undefined && <CodeBlock text={toText(tools)} language="tools" />}
      {system !== undefined && <CodeBlock text={contentText(system)} language="system" />}
      {pack !== undefined && <CodeBlock text={toText(pack)} language="rest of the context pack" />}
      <Messages messages={messages} added={added} removed={previous?.removed ?? []} />
      {memories.length > 0 && (
        <p className="aside">
          Memories:{" "}
          {memories.map((memory) => (
            <span key={memory}>
              <Link to={to(["memory", memory])}>{memory}</Link>{" "}
            </span>
          ))}
        </p>
      )}
      {chunks.length > 0 && (
        <p className="aside">
          Chunks:{" "}
          {chunks.map((chunk) => (
            <span key={chunk}>
              <Link to={to(["search"], { q: `"${chunk}"` })}>{chunk}</Link>{" "}
            </span>
          ))}
        </p>
      )}
    </>
  );
}

type Message = ContextAnswer["messages"][number];

/** Only the newest messages of a long context are rendered; the API has them all. */
const MESSAGES_SHOWN_MAX = 200;

function Messages(options: {
  readonly messages: readonly Message[];
  readonly added: ReadonlySet<number>;
  readonly removed: readonly Message[];
}) {
  const { messages, added, removed } = options;
  const from = Math.max(0, messages.length - MESSAGES_SHOWN_MAX);
  return (
    <ol className="context-messages">
      {from > 0 && <li className="quiet">{plural(from, "earlier message")}</li>}
      {messages.slice(from).map((message, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages of a context are identified by their index.
        <MessageLine key={from + at} message={message} change={added.has(from + at) ? "added" : undefined} />
      ))}
      {removed.slice(-MESSAGES_SHOWN_MAX).map((message, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: as above.
        <MessageLine key={`removed ${at}`} message={message} change="removed" />
      ))}
    </ol>
  );
}

function MessageLine(options: { readonly message: Message; readonly change: "added" | "removed" | undefined }) {
  const { message, change } = options;
  const { content = null, tool_calls } = message;
  const text = messageText({ content, tool_calls: Array.isArray(tool_calls) ? tool_calls : [] });
  return (
    <li data-change={change}>
      <span className="speaker">{message.role}</span>
      <span dir="auto">{firstLine(text, 240) || "(empty)"}</span>
      <span className="quiet">
        {change}
        {message.entry_id !== undefined && (
          <>
            {" "}
            <Link to={to(["entries", message.entry_id])}>Open</Link>
          </>
        )}
      </span>
    </li>
  );
}

function usedWords(memories: readonly string[], chunks: readonly string[]): readonly string[] {
  return [
    memories.length > 0 ? plural(memories.length, "memory", "memories") : "",
    chunks.length > 0 ? plural(chunks.length, "chunk") : "",
  ].filter((fact) => fact !== "");
}

/** What followed an answer: tool calls, errors, feedback and the user's next message. */
function Consequences({ ledTo }: { readonly ledTo: ContextAnswer["led_to"] }) {
  const { tool_calls, errors, feedback, next } = ledTo;
  const lines = [
    ...tool_calls.map(({ entry_id, tool, is_error }) => ({
      entry_id,
      what: is_error ? "failed call" : "call",
      text: tool,
    })),
    ...errors.map(({ entry_id, error }) => ({ entry_id, what: "error", text: error })),
    ...feedback.map(({ entry_id, score, label, comment }) => ({
      entry_id,
      what: "feedback",
      text: [score ?? "", label, comment].filter((word) => word !== "").join(" · "),
    })),
    ...(next === undefined ? [] : [{ entry_id: next.entry_id, what: "next message", text: next.text }]),
  ];
  if (lines.length === 0) return null;
  return (
    <>
      <p className="aside">What followed</p>
      <ul className="context-messages" aria-label="What followed">
        {lines.map(({ entry_id, what, text }) => (
          <li key={entry_id}>
            <span className="speaker">{what}</span>
            <span dir="auto">{firstLine(text, 240)}</span>
            <Link to={to(["entries", entry_id])}>Open</Link>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Checks whether a text was in the model's context. */
function ToldForm({ id }: { readonly id: string }) {
  const [asked, setAsked] = useState("");
  const ask = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setAsked(String(new FormData(event.currentTarget).get("told") ?? "").trim());
  };
  return (
    <form className="told-form" aria-label="Was this text in the context?" onSubmit={ask}>
      <label>
        Was this in the context? <input name="told" type="search" placeholder="exact text" />
      </label>{" "}
      <button type="submit">Check</button>
      {asked !== "" && <ToldVerdict id={id} asked={asked} />}
    </form>
  );
}

function ToldVerdict({ id, asked }: { readonly id: string; readonly asked: string }) {
  const { value, error, reload } = useRequest((signal) => getTold(id, asked, signal), [id, asked]);
  if (error !== undefined) return <Failed error={error} reload={reload} />;
  if (value === undefined) return null;
  const { verdict, given, last_given, first_given, why, nearest, only_own_words, lacks, parent } = value;
  return (
    <div className="told" data-verdict={verdict} aria-live="polite">
      <p>
        <strong>{only_own_words === true ? "Only in the model’s own earlier answers" : verdicts[verdict]}</strong>
        {why !== undefined && ` (${reasons[why]})`}
        {last_given !== undefined && (
          <>
            {" · "}
            <Link to={to(["entries", last_given.entry_id])}>last given for #{last_given.position}</Link>
          </>
        )}
        {first_given !== undefined && (
          <>
            {" · "}
            <Link to={to(["entries", first_given.entry_id])}>first given for #{first_given.position}</Link>
          </>
        )}
        {parent !== undefined && (
          <>
            {" · "}
            <Link to={to(["sessions", parent.session_id])}>in the session that it came from</Link>:{" "}
            {verdicts[parent.verdict].toLowerCase()}
          </>
        )}
      </p>
      {verdict === "unknown" && lacks !== undefined && <p className="aside">Not recorded: {lacks.join(", ")}.</p>}
      {nearest !== undefined && (
        <p className="aside" dir="auto">
          Nearest, {Math.round(nearest.ratio * 100)} % of its words: {nearest.snippet}
        </p>
      )}
      <ul className="context-messages">
        {given.map((place, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: places have no id.
          <li key={at}>
            <span className="speaker">{place.role}</span>
            <span dir="auto">{place.snippet}</span>
            <span className="quiet">
              {plural(place.tokens_from_end, "token")} from the end
              {place.entry_id !== undefined && (
                <>
                  {" "}
                  <Link to={to(["entries", place.entry_id])}>Open</Link>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

const verdicts = { given: "Given", fell_out: "Fell out", never: "Never given", unknown: "Unknown" } satisfies {
  readonly [verdict in ToldAnswer["verdict"]]: string;
};

const reasons = {
  clear: "cleared",
  consolidation: "compacted",
  window: "beyond the window",
  removed: "removed",
} satisfies { readonly [why in NonNullable<ToldAnswer["why"]>]: string };
