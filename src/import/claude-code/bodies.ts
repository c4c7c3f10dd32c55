// What Claude Code stores next to its transcripts: the request and response bodies, which hold verbatim what the model was
// given, their index, and its notes about subagents.
import { contentTexts } from "../../model/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { anthropicUsage, toUsage } from "../../model/usage.js";
import { idOf, sessionOf } from "../identity.js";
import type { DocumentImporter, ImportSource, ImportStep, LineImporter, Opening, SourceOf } from "../importer.js";
import { LineTimes } from "../line-times.js";
import { oneByOne } from "../lines.js";
import { objectIn, textAt } from "../transcript/fields.js";
import { Transcript } from "../transcript/transcript.js";

const FORMAT = "claude-code";

/** A request's body: each becomes an interaction with everything that was sent. */
export const claudeRequestImporter: DocumentImporter = {
  format: FORMAT,
  reads: "document",
  recognises: ({ document, name }: Opening) =>
    isJsonObject(document) &&
    Array.isArray(document.messages) &&
    (name.endsWith(".request.json") || sessionIn(document.metadata) !== undefined),
  read: readRequest,
};

/** A response's body. If the index names its request, it is read with that. */
export const claudeResponseImporter: DocumentImporter = {
  format: FORMAT,
  reads: "document",
  recognises: ({ document, name }: Opening) =>
    name.endsWith(".response.json") && isJsonObject(document) && document.type === "message",
  read: readResponse,
};

/** The index of a folder of bodies: which response belongs to which request. */
export const claudeIndexImporter: LineImporter = {
  format: FORMAT,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some((record) => nameIn(record, ".request.json") !== undefined),
  read: readIndex,
};

/** The note next to a subagent's transcript. */
export const claudeAgentNoteImporter: DocumentImporter = {
  format: FORMAT,
  reads: "document",
  recognises: ({ document, name }: Opening) =>
    name.endsWith(".meta.json") && isJsonObject(document) && typeof document.agentType === "string",
  read: readAgentNote,
};

async function* readRequest(source: SourceOf<"document">): AsyncGenerator<ImportStep> {
  for await (const item of source.values("")) {
    if ("reason" in item) yield item;
    else if (isJsonObject(item.value)) yield { line: item.line, entry: toInteraction(source, item.value) };
  }
}

function toInteraction(source: SourceOf<"document">, body: JsonObject) {
  const { messages = [], system, tools, model, ...settings } = body;
  const session = sessionIn(body.metadata);
  const native_id = requestName(source.path);
  const { id, isNative } = idOf(FORMAT, native_id);
  return {
    kind: "interaction",
    id,
    ...(session === undefined ? {} : { session_id: sessionOf(FORMAT, session).session_id }),
    client: FORMAT,
    ...new LineTimes(source).take(undefined),
    prompt: promptOf(messages),
    ...(typeof model === "string" ? { model } : {}),
    context_pack: { messages, ...(system === undefined ? {} : { system }), ...(tools === undefined ? {} : { tools }) },
    extra: { request: settings, ...(isNative ? {} : { native_id }) },
  };
}

/** The file is named after the request's id. */
function requestName(path: string): string {
  return /([^\\/]+?)(?:\.request)?(?:\.json)?$/.exec(path)?.[1] ?? "";
}

/** The user's last text; if there are only tool results, their texts. */
function promptOf(messages: JsonValue): string {
  const users = Array.isArray(messages)
    ? messages.filter((message) => isJsonObject(message) && message.role === "user")
    : [];
  const last = users.at(-1);
  const content = isJsonObject(last) ? last.content : undefined;
  const results = Array.isArray(content)
    ? content.filter(isJsonObject).flatMap((block) => contentTexts(block.content))
    : [];
  const words = [contentTexts(content).join("\n"), results.join("\n"), JSON.stringify(content ?? "nothing was said")];
  return words.find((text) => text.trim() !== "") as string;
}

/** The user's id contains the session, as JSON or at its end. */
function sessionIn(metadata: JsonValue | undefined): string | undefined {
  const user = isJsonObject(metadata) ? textAt(metadata, "user_id") : undefined;
  return user === undefined ? undefined : /(?:_session_|"session_id"\s*:\s*")([0-9A-Za-z-]+)/.exec(user)?.[1];
}

async function* readIndex(source: ImportSource): AsyncGenerator<ImportStep> {
  // Each line is independent.
  source.resume.onSave(() => ({}));
  for await (const item of oneByOne(source.records())) {
    if ("reason" in item) {
      yield item;
      continue;
    }
    const request = nameIn(item.record, ".request.json");
    const response = nameIn(item.record, ".response.json");
    // A request that was never answered has nothing to join.
    if (request === undefined || response === undefined) continue;
    const body = objectIn(await source.siblings.read(response));
    if (body === undefined) yield { line: item.line, reason: `${response}, which it names, cannot be read` };
    else yield { line: item.line, entry: toResponse(requestName(request), response, body, item.record) };
  }
}

function toResponse(request: string, file: string, body: JsonObject, joined: JsonObject) {
  const usage = toUsage(body.usage, anthropicUsage);
  const request_id = file.replace(/\.response\.json$/, "");
  return {
    kind: "response",
    id: idOf(FORMAT, `${request}:response`).id,
    interaction_id: idOf(FORMAT, request).id,
    ...(typeof joined.timestamp === "string" ? { created_at: joined.timestamp } : {}),
    response: contentTexts(body.content).join("\n"),
    ...(typeof body.model === "string" ? { model: body.model } : {}),
    ...(usage === undefined ? {} : { usage }),
    extra: { request_id, message_id: body.id ?? null, content: body.content ?? null },
  };
}

/** The last path segment with this ending, in any field of the record. */
function nameIn(record: JsonObject, ending: string): string | undefined {
  const found = Object.values(record).find((value) => typeof value === "string" && value.endsWith(ending));
  return typeof found === "string" ? found.replace(/^.*[\\/]/, "") : undefined;
}

async function* readResponse(source: SourceOf<"document">): AsyncGenerator<ImportStep> {
  const name = source.path.replace(/^.*[\\/]/, "");
  if ((await source.siblings.read("index.jsonl"))?.includes(name)) return;
  const transcript = new Transcript({ format: FORMAT, lacks: [] }, source);
  for await (const item of source.values("")) {
    if ("reason" in item) yield item;
    else if (isJsonObject(item.value)) {
      // Its request is not recorded.
      const origin = { line: item.line, at: undefined, native: textAt(item.value, "id"), identity: [item.value] };
      const { entry } = transcript.session(name).raw(origin, item.value);
      yield { line: item.line, entry: { ...entry, session_id: "" } };
    }
  }
}

async function* readAgentNote(source: SourceOf<"document">): AsyncGenerator<ImportStep> {
  const [, key, agent] = /([^\\/]+)[\\/]subagents[\\/](?:.*[\\/])?agent-([^\\/]+)\.meta\.json$/.exec(source.path) ?? [];
  if (key === undefined || agent === undefined) {
    yield { line: 0, reason: "it describes a subagent, but its folder does not name the session" };
    return;
  }
  const { agentType, description, ...rest } = await source.header([
    "agentType",
    "description",
    "worktreePath",
    "toolUseId",
  ]);
  const session = new Transcript({ format: FORMAT, lacks: [] }, source).session(key).child(`agent-${agent}`);
  const metadata = { agent_type: agentType ?? "", ...(description === undefined ? {} : { description }), ...rest };
  for (const step of session.about({ line: 1, at: undefined }, { metadata })) {
    // The transcript itself says where it was read.
    if ("entry" in step) yield { ...step, entry: { ...step.entry, metadata } };
  }
}
