// Cline's sessions: one document of messages, rewritten as a whole; next to it what the session is called and where it ran,
// and, after a compaction, the list that the model was given from then on.
import { isJsonObject, type JsonObject } from "../model/json.js";
import { toUsage, type UsageNames } from "../model/usage.js";
import { piecesOf } from "./cline-words.js";
import type { DocumentImporter, ImportStep, Opening, SourceOf } from "./importer.js";
import { answerParts, hasFailed, resultIn } from "./transcript/anthropic-blocks.js";
import { blocksOf, blockTexts, objectAt, objectIn, textAt } from "./transcript/fields.js";
import { type Origin, Transcript, type TranscriptSession } from "./transcript/transcript.js";

const tool = { format: "cline", lacks: ["rules files", "tool definitions"] };

const usageNames: UsageNames = {
  input_tokens: [["inputTokens"]],
  output_tokens: [["outputTokens"]],
  cache_read_tokens: [["cacheReadTokens"]],
  cache_write_tokens: [["cacheWriteTokens"]],
};
const HEADER = ["sessionId", "agent", "origin", "system_prompt", "updated_at"];
const COMPACTED = ".compaction";
const NOTICE = /<SYSTEM_NOTICE>([\s\S]*?)(?:<\/SYSTEM_NOTICE>|$)/i;

export const clineImporter: DocumentImporter = {
  format: tool.format,
  reads: "document",
  recognises: ({ document }: Opening) =>
    isJsonObject(document) &&
    ("system_prompt" in document || "agent" in document) &&
    firstOf(document.messages).some((message) => "ts" in message && "content" in message),
  read,
};

function firstOf(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.slice(0, 10).filter(isJsonObject) : [];
}

async function* read(source: SourceOf<"document">): AsyncGenerator<ImportStep> {
  const base = source.stem.replace(/\.messages$/, "");
  if (base.endsWith(COMPACTED)) {
    const name = `${base.slice(0, -COMPACTED.length)}.messages.json`;
    // It is read with the messages that it replaced.
    if ((await source.siblings.read(name)) === undefined)
      yield { line: 0, reason: `it is what a model was given of ${name}, which is not here` };
    return;
  }
  const header = await source.header(HEADER);
  const key = textAt(header, "sessionId") ?? base;
  const chat = new ClineChat(source, key);
  yield* chat.about(header, objectIn(await source.siblings.read(`${base}.json`)) ?? {});
  const compacted = objectIn(await source.siblings.read(`${base}${COMPACTED}.json`));
  for await (const item of source.values("messages.*")) {
    if ("reason" in item) yield item;
    else if (isJsonObject(item.value)) yield* chat.message(item.line, item.value, compacted);
    else yield { line: item.line, reason: "the message is not an object" };
  }
}

class ClineChat {
  readonly #session: TranscriptSession;

  constructor(source: SourceOf<"document">, key: string) {
    const transcript = new Transcript(tool, source);
    // What another agent of the same session said.
    const [, root, agent] = /^(.+?)__(.+)$/.exec(key) ?? [];
    this.#session =
      root === undefined || agent === undefined
        ? transcript.session(key)
        : transcript.session(root).child(`agent-${agent}`);
  }

  *about(header: JsonObject, manifest: JsonObject): Generator<ImportStep> {
    const at = manifest.started_at ?? header.updated_at;
    const metadata = objectAt(manifest, "metadata");
    const source = textAt(objectAt(metadata, "fork"), "forkedFromSessionId");
    yield* this.#session.about(
      { line: 1, at },
      {
        title: textAt(metadata, "title"),
        cwd: textAt(manifest, "cwd"),
        version: textAt(objectAt(header, "origin"), "version"),
        ...(source === undefined ? {} : { metadata: { forked_from: source } }),
      },
    );
    const content = textAt(header, "system_prompt");
    if (content === undefined) return;
    const origin = { line: 1, at, identity: ["system", content], is_once: true, is_restamped: true };
    yield this.#session.message(origin, { role: "system", content, injected: "other" });
  }

  *message(line: number, message: JsonObject, compacted: JsonObject | undefined): Generator<ImportStep> {
    const native = textAt(message, "id");
    const origin: Origin = { line, at: message.ts, native, identity: [message] };
    const blocks = blocksOf(message.content);
    if (message.role === "assistant") yield* this.#answer(origin, message, blocks);
    else if (message.role === "user") yield* this.#user(origin, blocks);
    else yield this.#session.raw(origin, message);
    const last = firstLast(compacted);
    if (compacted !== undefined && native !== undefined && textAt(last, "id") === native) {
      yield* this.#compaction(origin, compacted);
    }
  }

  *#answer(origin: Origin, message: JsonObject, blocks: readonly JsonObject[]): Generator<ImportStep> {
    const metrics = objectAt(message, "metrics");
    yield* this.#session.say("answer", origin, {
      line: origin.line,
      at: origin.at,
      parts: answerParts(origin.native ?? "part", blocks),
      model: textAt(objectAt(message, "modelInfo"), "id"),
      usage: toUsage(metrics, usageNames),
      extra: typeof metrics.cost === "number" ? { cost: metrics.cost } : {},
    });
    yield* this.#session.close();
  }

  *#user(origin: Origin, blocks: readonly JsonObject[]): Generator<ImportStep> {
    const of = (name: string): Origin =>
      origin.native === undefined
        ? { ...origin, identity: [name, ...(origin.identity ?? [])] }
        : { ...origin, native: `${origin.native}:${name}` };
    for (const block of blocks.filter(({ type }) => type === "tool_result")) {
      const call_id = textAt(block, "tool_use_id") ?? "";
      yield this.#session.result({
        ...of(`result-${call_id}`),
        call_id,
        tool: textAt(block, "name"),
        result: resultIn(block),
        is_error: hasFailed(block),
      });
    }
    for (const [nth, { content, injected }] of piecesOf(blocks).entries()) {
      if (injected === undefined) yield this.#session.message(origin, { role: "user", content });
      else yield this.#session.message(of(`injected-${nth}`), { role: "user", content, injected });
    }
  }

  /** From here on the model was given the shorter list: messages that it kept, and notices on what it left out. */
  *#compaction(origin: Origin, compacted: JsonObject): Generator<ImportStep> {
    const list = (Array.isArray(compacted.messages) ? compacted.messages : []).filter(isJsonObject);
    const notices = list.flatMap(({ content }) => NOTICE.exec(blockTexts(content))?.[1]?.trim() ?? []);
    const [first] = list;
    // A summary is a message of its own, a notice a part of one that stays.
    const isNew = (message: JsonObject): boolean => objectAt(message, "metadata").kind === "compaction";
    const whole = notices.length === 0 && first !== undefined && isNew(first) ? blockTexts(first.content) : "";
    const kept = list.flatMap((message) => (typeof message.id === "string" ? this.#session.idsOf(message.id) : []));
    const reason = textAt(objectAt(first ?? {}, "metadata"), "reason");
    yield* this.#session.compact(
      {
        ...origin,
        at: compacted.updated_at ?? origin.at,
        native: undefined,
        identity: ["compaction", ...list.map(({ id }) => id ?? null)],
        is_once: true,
        is_restamped: true,
      },
      {
        summary: whole === "" ? notices.join("\n\n") : whole,
        kept,
        trigger: reason === undefined ? undefined : /manual/.test(reason) ? "manual" : "auto",
      },
    );
  }
}

function firstLast(compacted: JsonObject | undefined): JsonObject {
  const list = Array.isArray(compacted?.messages) ? compacted.messages.filter(isJsonObject) : [];
  return list.at(-1) ?? {};
}
