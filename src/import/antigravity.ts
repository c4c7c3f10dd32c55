// Antigravity CLI's transcripts: steps of a user, a planning model, and the tools it ran.
import { isJsonObject, type JsonObject } from "../model/json.js";
import type { ImportSource, ImportStep, LineImporter, Opening } from "./importer.js";
import { oneByOne } from "./lines.js";
import { splitInjected, textAt } from "./transcript/fields.js";
import {
  type Origin,
  type SessionState,
  Transcript,
  type TranscriptSession,
  type TranscriptState,
} from "./transcript/transcript.js";

const tool = { format: "antigravity", lacks: ["system prompt", "tool definitions", "usage", "working folder"] };

const INJECTED = /<(ADDITIONAL_METADATA|USER_SETTINGS_CHANGE|EPHEMERAL_MESSAGE)\b/;

export const antigravityImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) =>
    records.some((record) => typeof record.step_index === "number" && typeof record.source === "string"),
  read,
};

interface AntigravityState {
  readonly transcript: TranscriptState;
  readonly session: SessionState;
  readonly calls: readonly { readonly id: string; readonly name: string }[];
}

async function* read(source: ImportSource): AsyncGenerator<ImportStep> {
  // The folder has the session's name; the file has the same name in all of them.
  const folder = /([^\\/]+)[\\/]\.system_generated[\\/]/.exec(source.path)?.[1];
  const known = source.resume.state as AntigravityState | undefined;
  const transcript = new Transcript(tool, source, known?.transcript);
  const session = known === undefined ? transcript.session(folder ?? source.stem) : transcript.revive(known.session);
  let calls = [...(known?.calls ?? [])];
  source.resume.onSave((): AntigravityState => ({ transcript: transcript.state(), session: session.state(), calls }));
  for await (const item of oneByOne(source.records())) {
    if ("reason" in item) {
      yield item;
      continue;
    }
    const { line, record } = item;
    const origin = { line, at: record.created_at, identity: ["step", record.step_index ?? null, record.type ?? null] };
    yield* session.about(origin, {});
    const own = callsOf(record, session.id);
    if (record.source === "MODEL" && record.type === "PLANNER_RESPONSE") {
      yield* say(session, origin, record, own);
      calls = [...own];
    } else if (record.source === "MODEL" && typeof record.content === "string") {
      // A tool that ran: its call is in the same step, in the plan before it, or missing.
      const [call] = own.length > 0 ? own : calls.splice(0, 1);
      yield* run(session, origin, record, call);
    } else if (record.type === "USER_INPUT") yield* user(session, origin, record);
    else yield session.raw(origin, record);
  }
  yield* session.close();
}

function callsOf(record: JsonObject, session: string) {
  const calls = Array.isArray(record.tool_calls) ? record.tool_calls.filter(isJsonObject) : [];
  return calls.map((call, index) => ({
    id: textAt(call, "id") ?? `${session.slice(0, 8)}-${record.step_index}-${index}`,
    name: textAt(call, "name") ?? "unknown",
    args: call.arguments ?? call.args ?? {},
  }));
}

function* say(
  session: TranscriptSession,
  origin: Origin,
  record: JsonObject,
  calls: ReturnType<typeof callsOf>,
): Generator<ImportStep> {
  const id = String(record.step_index);
  const thinking = textAt(record, "thinking");
  yield* session.say(id, origin, {
    line: origin.line,
    at: origin.at,
    model: textAt(record, "model"),
    parts: [
      ...(thinking === undefined ? [] : [{ id, thinking }]),
      { id, text: textAt(record, "content") ?? "" },
      ...calls.map((call) => ({ id: call.id, call })),
    ],
  });
  yield* session.close();
}

/** A tool step is both the call and its result. */
function* run(
  session: TranscriptSession,
  origin: Origin,
  record: JsonObject,
  known: { readonly id: string; readonly name: string } | undefined,
): Generator<ImportStep> {
  const own = callsOf(record, session.id)[0];
  const name = known?.name ?? String(record.type).toLowerCase();
  const id = known?.id ?? `${session.id.slice(0, 8)}-${record.step_index}`;
  if (known === undefined || own !== undefined) {
    const call = own ?? { id, name, args: {} };
    yield* session.say(
      id,
      { ...origin, identity: ["call", id] },
      { line: origin.line, at: origin.at, parts: [{ id, call }] },
    );
    yield* session.close();
  }
  const is_error = record.status === undefined ? undefined : record.status === "ERROR";
  yield session.result({ ...origin, call_id: id, tool: name, result: record.content ?? "", is_error });
}

function* user(session: TranscriptSession, origin: Origin, record: JsonObject): Generator<ImportStep> {
  const whole = textAt(record, "content") ?? "";
  const { content, injected } = splitInjected(whole, INJECTED);
  const text = typeof content === "string" ? content : "";
  const request = /^\s*<USER_REQUEST>\n?([\s\S]*?)\n?<\/USER_REQUEST>\s*$/.exec(text)?.[1] ?? text;
  if (injected.length > 0) {
    const of = { ...origin, identity: ["injected", whole] };
    yield session.message(of, { role: "user", content: injected.join("\n"), injected: "environment" });
  }
  if (request !== "" || whole === "") yield session.message(origin, { role: "user", content: request });
}
