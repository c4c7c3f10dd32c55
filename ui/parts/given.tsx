// What a model was given for an answer, and what had changed since the turn before.

import { messageText } from "../../src/model/content-pieces.js";
import { useAnswer } from "../answer.js";
import { type ContextAnswer, getContext, type Row } from "../api.js";
import { Link, to } from "../router.js";
import { countOf, firstLine, plural } from "../words.js";
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

export function Given({ id }: { readonly id: string }) {
  const { value, error, again } = useAnswer((signal) => getContext(id, signal), [id]);
  return (
    <section className="given" aria-label="What the model was given">
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading what="Looking up what the model was given" />}
      {value !== undefined && <Context context={value} />}
    </section>
  );
}

function Context({ context }: { readonly context: ContextAnswer }) {
  const { exact, messages, memories, chunks, tokens, previous, system, tools } = context;
  const added = new Set(previous?.added ?? []);
  const facts = [
    plural(messages.length, "message"),
    memories.length > 0 ? plural(memories.length, "memory", "memories") : "",
    chunks.length > 0 ? plural(chunks.length, "chunk") : "",
    tools === undefined ? "" : plural(tools.length, "tool"),
    `${countOf(tokens)} tokens`,
  ].filter((fact) => fact !== "");
  return (
    <>
      <p className="aside">
        Given {facts.join(" · ")}
        {exact ? "" : " · from the session’s history, since nobody recorded what was sent"}
      </p>
      {previous !== undefined && (
        <p className="aside">
          Since <Link to={to(["entries", previous.entry_id])}>the turn before</Link>: {countOf(previous.kept)} kept,{" "}
          {countOf(previous.added.length)} added, {countOf(previous.removed.length)} removed.
        </p>
      )}
      {typeof system === "string" && system !== "" && <Code text={system} language="system" />}
      <ol className="given-messages">
        {messages.map((message, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: what was given is a list, and its places are its names.
          <li key={at} data-added={added.has(at) || undefined}>
            <span className="speaker">{message.role}</span>
            <span dir="auto">{firstLine(messageText(message), 240) || "(empty)"}</span>
            {message.entry_id !== undefined && <Link to={to(["entries", message.entry_id])}>entry</Link>}
          </li>
        ))}
        {(previous?.removed ?? []).map((message, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above.
          <li key={`removed ${at}`} data-removed>
            <span className="speaker">{message.role}</span>
            <span dir="auto">{firstLine(messageText(message), 240) || "(empty)"}</span>
          </li>
        ))}
      </ol>
      {memories.length > 0 && (
        <p className="aside">
          Memories:{" "}
          {memories.map((memory) => (
            <Link key={memory} to={to(["memories", memory])}>
              {memory}{" "}
            </Link>
          ))}
        </p>
      )}
      {chunks.length > 0 && <p className="aside">Chunks: {chunks.join(", ")}</p>}
    </>
  );
}
