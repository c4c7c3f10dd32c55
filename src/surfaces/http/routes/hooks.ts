// Claude Code's HTTP hooks: its prompts and tool calls, recorded as they happen. The answer to every event is empty: a
// refusal never delays the program, and what an answer says would become part of the conversation.
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { EntryInput } from "../../../model/entry.js";
import { parseLabel } from "../../../model/ids.js";
import { isJsonObject, type JsonObject } from "../../../model/json.js";
import { Rejection } from "../../../model/rejection.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { acceptEmptyBodies, bodyOf } from "../checks/bodies.js";
import { recordingOf } from "../checks/callers.js";
import { jsonContent, type OpenApiOperation } from "../describe/openapi-operation.js";
import { logFailure } from "../log-lines.js";
import { type HookedEntry, isFromTranscript, WaitingEvents } from "./hooked-session.js";

const SOURCE = "claude-code";

/** @param watches Whether this server reads the program's transcripts as they grow. */
export function hookRoutes(app: FastifyInstance, recorder: Recorder, watches: boolean): void {
  acceptEmptyBodies(app);
  const waiting = new WaitingEvents(watches);
  app.addHook("preClose", () => waiting.flush());
  app.post("/hooks/claude-code", { config: { operation: hookOperation, need: "capture" } }, async (request, reply) => {
    const recorded = recordEvent(request, recorder, waiting);
    await Promise.race([recorded, new Promise((resolve) => setTimeout(resolve, WAIT_MS).unref())]);
    return reply.send();
  });
}

/** If the disk or database takes longer, the program does not wait; the event is recorded later. */
const WAIT_MS = 100;

async function recordEvent(request: FastifyRequest, recorder: Recorder, waiting: WaitingEvents): Promise<void> {
  try {
    const event = bodyOf(request);
    if (!isJsonObject(event)) return;
    const entry = toEntry(event);
    if (waiting.isOwn(entry)) return;
    const own = recordingOf(request, recorder);
    if (mayBeInTranscript(entry)) await waiting.add(own, entry, (error) => logFailure(request, error));
    else await own.append((await besideTranscript(own, entry, event)) as unknown as EntryInput);
  } catch (error) {
    logFailure(request, error);
  }
}

/** How events are recorded, by name; all others become raw entries. */
const fieldsByEvent: { readonly [event: string]: (event: JsonObject) => object } = {
  SessionStart: ({ source, model, cwd, transcript_path }) => ({
    kind: "session_info",
    metadata: { source: { tool: SOURCE, started: source ?? null, model: model ?? null, cwd, path: transcript_path } },
  }),
  UserPromptSubmit: ({ prompt }) => ({ kind: "message", role: "user", content: prompt }),
  PostToolUse: (event) => ({ ...toolCall(event), result: event.tool_response ?? "" }),
  PostToolUseFailure: (event) => ({ ...toolCall(event), result: event.error ?? "", is_error: true }),
  Stop: saidLast,
  SubagentStop: saidLast,
};

/** A transcript says better where a session comes from; what a hook says of it then stays as it came. */
async function besideTranscript(recorder: Recorder, entry: HookedEntry, event: JsonObject): Promise<HookedEntry> {
  if (entry.kind !== "session_info" || !(await isFromTranscript(recorder, entry.session_id))) return entry;
  const { session_id, client, project } = entry;
  return { kind: "raw", source: `${SOURCE}-hook`, record: event, session_id, client, project };
}

/** Prompts, answers and calls. */
function mayBeInTranscript(entry: HookedEntry): boolean {
  if (entry.session_id === "") return false;
  return (entry.kind === "message" && typeof entry.content === "string") || entry.kind === "tool_call";
}

function toEntry(event: JsonObject): HookedEntry {
  const { hook_event_name, session_id, agent_id, cwd } = event;
  const session = typeof session_id === "string" ? session_id : "";
  const isAgent = typeof agent_id === "string" && agent_id !== "" && !isCompaction(event);
  const envelope = {
    session_id: isAgent && session !== "" ? `${session}/agent-${agent_id}` : session,
    client: SOURCE,
    project: projectOf(cwd),
  };
  const name = typeof hook_event_name === "string" ? hook_event_name : "";
  const isKnown = session !== "" && Object.hasOwn(fieldsByEvent, name) && !isCompaction(event);
  const fields = isKnown ? fieldsByEvent[name]?.(event) : undefined;
  return { kind: "raw", ...(fields ?? { source: `${SOURCE}-hook`, record: event }), ...envelope };
}

/** A compaction runs as an agent without a type; its summary is the session's. */
function isCompaction({ hook_event_name, agent_type }: JsonObject): boolean {
  return hook_event_name === "SubagentStop" && agent_type === "";
}

/** The name of its folder; a name that no project can have is none. Only the end is looked at: a path may be of any length. */
function projectOf(cwd: unknown): string {
  if (typeof cwd !== "string") return "";
  const name = /([^\\/]*)[\\/]*$/.exec(cwd.slice(-PATH_CHARS))?.[1] ?? "";
  return parseLabel("project", name) instanceof Rejection ? "" : name;
}

/** As long as a path may be on any system. */
const PATH_CHARS = 4_096;

/** An imported transcript contains the same call, and gives it the same id. */
function toolCall({ tool_name, tool_input, tool_use_id, duration_ms }: JsonObject): object {
  const tool_call_id = typeof tool_use_id === "string" ? tool_use_id : "";
  return {
    kind: "tool_call",
    ...(/^[\w.-]{1,100}$/.test(tool_call_id) ? { id: `${SOURCE}:result:${tool_call_id}` } : {}),
    tool: typeof tool_name === "string" ? tool_name : "",
    ...(isJsonObject(tool_input) ? { args: tool_input } : {}),
    ...(typeof duration_ms === "number" ? { duration_ms } : {}),
    tool_call_id,
  };
}

/** Older versions do not include the last message; then the event is kept as it came. */
function saidLast(event: JsonObject): object {
  const { last_assistant_message: content } = event;
  if (typeof content !== "string" || content === "") return { kind: "raw", source: `${SOURCE}-hook`, record: event };
  return { kind: "message", role: "assistant", content };
}

const hookOperation: OpenApiOperation = {
  operationId: "recordHook",
  tags: ["Entries"],
  summary: "Record an event of Claude Code's hooks",
  description:
    "Prompts and final answers become messages and tool runs tool calls; all other events are kept as `raw`. They are recorded " +
    "before the answer. If the session is known from a transcript, or the server watches transcripts, they wait 3 s and are " +
    "recorded only if the transcript has not brought them. The answer is always empty, and comes within 0.1 s even if the log " +
    "takes longer.",
  requestBody: { required: true, content: jsonContent({ type: "object" }) },
  responses: { 200: { description: "Empty." } },
};
