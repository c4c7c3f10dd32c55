// What a model was given for an answer, and what had changed since the turn before.
import { messageText } from "../../src/model/content-pieces.js";
import { useAnswer } from "../answer.js";
import type { Row } from "../api.js";
import { Link, to } from "../router.js";
import { type Context, contextOf, type GivenMessage } from "../transcript/context.js";
import { countOf, firstLine, plural, textOf } from "../words.js";
import { Code } from "./code.js";
import { Failed, Loading } from "./notice.js";

/** What is known of it before it is asked for. */
export function givenWords(entry: Row): string {
  if (entry.kind !== "interaction") return "given";
  const { memories_used, chunks_used } = entry;
  const facts = [
    memories_used.length > 0 ? plural(memories_used.length, "memory", "memories") : "",
    chunks_used.length > 0 ? plural(chunks_used.length, "chunk") : "",
  ].filter((fact) => fact !== "");
  return facts.length === 0 ? "given" : `given ${facts.join(", ")}`;
}

export function Given({ entry }: { readonly entry: Row }) {
  const { value, error, again } = useAnswer((signal) => contextOf(entry, signal), [entry.id]);
  return (
    <section className="given" aria-label="What the model was given">
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading what="Looking up what the model was given" />}
      {value !== undefined && <Pack context={value} />}
    </section>
  );
}

function Pack({ context }: { readonly context: Context }) {
  const { exact, messages, memories, chunks, previous, system, rest } = context;
  const facts = [
    plural(messages.length, "message"),
    memories.length > 0 ? plural(memories.length, "memory", "memories") : "",
    chunks.length > 0 ? plural(chunks.length, "chunk") : "",
  ].filter((fact) => fact !== "");
  return (
    <>
      <p className="aside">
        Given {facts.join(" · ")}
        {exact ? ", as it was recorded." : ", by what the session held: nobody recorded what was sent."}
      </p>
      {previous !== undefined && (
        <p className="aside">
          Since <Link to={to(["entries", previous.entry_id])}>the turn before</Link>: {countOf(previous.kept)} kept,{" "}
          {countOf(previous.added.size)} added, {countOf(previous.removed.length)} removed.
        </p>
      )}
      {system !== "" && <Code text={system} language="system" />}
      <ol className="given-messages">
        {messages.map((message, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: what was given is a list, and its places are its names.
          <MessageLine key={at} message={message} change={previous?.added.has(at) === true ? "added" : undefined} />
        ))}
        {(previous?.removed ?? []).map((message, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above.
          <MessageLine key={`removed ${at}`} message={message} change="removed" />
        ))}
      </ol>
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
      {Object.keys(rest).length > 0 && <Code text={textOf(rest)} language="the rest of the pack" />}
    </>
  );
}

function MessageLine(options: { readonly message: GivenMessage; readonly change: "added" | "removed" | undefined }) {
  const { message, change } = options;
  return (
    <li data-change={change}>
      <span className="speaker">{message.role}</span>
      <span dir="auto">{firstLine(messageText(message), 240) || "(empty)"}</span>
      {change !== undefined && <span className="quiet">{change}</span>}
      {message.entry_id !== undefined && change === undefined && (
        <Link to={to(["entries", message.entry_id])}>entry</Link>
      )}
    </li>
  );
}
