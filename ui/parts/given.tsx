// What a model was given for an answer, what had changed since the turn before, what came of it, and whether a text was there.
import { contentText, messageText } from "../../src/model/content-parts.js";
import { useAnswer } from "../answer.js";
import { type ContextAnswer, getContext, type Row } from "../api.js";
import { Link, to } from "../router.js";
import { countOf, firstLine, plural, textOf } from "../words.js";
import { Code } from "./code.js";
import { LedTo } from "./led-to.js";
import { Failed, Loading } from "./notice.js";
import { WasTold } from "./was-told.js";

/** What is known of it before it is asked for. */
export function givenWords(entry: Row): string {
  if (entry.kind !== "interaction") return "given";
  const { memories_used, chunks_used } = entry;
  const facts = usedWords(memories_used, chunks_used);
  return facts.length === 0 ? "given" : `given ${facts.join(", ")}`;
}

export function Given({ entry }: { readonly entry: Row }) {
  const { value, error, again } = useAnswer((signal) => getContext(entry.id, signal), [entry.id]);
  return (
    <section className="given" aria-label="What the model was given">
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading what="Looking up what the model was given" />}
      {value !== undefined && (
        <>
          <WasTold id={entry.id} />
          <Pack context={value} />
          <LedTo ledTo={value.led_to} />
        </>
      )}
    </section>
  );
}

function Pack({ context }: { readonly context: ContextAnswer }) {
  const { exact, messages, memories, chunks, tokens, previous, system, tools, pack } = context;
  const facts = [plural(messages.length, "message"), ...usedWords(memories, chunks), plural(tokens, "token")];
  const added = new Set(previous?.added);
  return (
    <>
      <p className="aside">
        Given {facts.join(" · ")}
        {exact ? ", exactly as recorded." : ", reconstructed from the session; the request itself was not recorded."}
      </p>
      {previous !== undefined && (
        <p className="aside">
          Since <Link to={to(["entries", previous.entry_id])}>the turn before</Link>: {countOf(previous.kept)} kept,{" "}
          {countOf(previous.added.length)} added, {countOf(previous.removed.length)} removed.
        </p>
      )}
      {tools !== undefined && <Code text={textOf(tools)} language="tools" />}
      {system !== undefined && <Code text={contentText(system)} language="system" />}
      {pack !== undefined && <Code text={textOf(pack)} language="the rest of the pack" />}
      <Messages messages={messages} added={added} removed={previous?.removed ?? []} />
      {memories.length > 0 && (
        <p className="aside">
          Memories:{" "}
          {memories.map((memory) => (
            <span key={memory}>
              <Link to={to(["memories", memory])}>{memory}</Link>{" "}
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

/** Of a long context the newest are drawn: thousands of lines would hold up the page, and the document has them all. */
const DRAWN_MAX = 200;

function Messages(options: {
  readonly messages: readonly Message[];
  readonly added: ReadonlySet<number>;
  readonly removed: readonly Message[];
}) {
  const { messages, added, removed } = options;
  const from = Math.max(0, messages.length - DRAWN_MAX);
  return (
    <ol className="given-messages">
      {from > 0 && <li className="quiet">{plural(from, "earlier message")}</li>}
      {messages.slice(from).map((message, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: what was given is a list, and its places are its names.
        <MessageLine key={from + at} message={message} change={added.has(from + at) ? "added" : undefined} />
      ))}
      {removed.slice(-DRAWN_MAX).map((message, at) => (
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
            <Link to={to(["entries", message.entry_id])}>entry</Link>
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
