// Claude Code's HTTP hooks: what it is about to do and has done, recorded as it happens. It is never kept waiting by a
// refusal: the answer to every event is an empty object.
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { EntryInput } from "../../../model/entry.js";
import { parseLabel } from "../../../model/ids.js";
import { isJsonObject, type JsonObject } from "../../../model/json.js";
import { Rejection } from "../../../model/rejection.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { acceptEmptyBodies, bodyOf } from "../checks/bodies.js";
import { recordingOf } from "../checks/callers.js";
import { jsonContent, type OpenApiOperation } from "../describe/openapi-operation.js";
import { logFailure } from "../logger.js";

const SOURCE = "claude-code";

export function hookRoutes(app: FastifyInstance, recorder: Recorder): void {
  acceptEmptyBodies(app);
  app.post("/hooks/claude-code", { config: { operation: hookOperation, need: "capture" } }, async (request) => {
    const recorded = recordEvent(request, recorder);
    await Promise.race([recorded, new Promise((resolve) => setTimeout(resolve, WAIT_MS).unref())]);
    return {};
  });
}

/** A disk or database that takes longer is not the program's to wait for; what it holds up is recorded when it goes on. */
const WAIT_MS = 100;

async function recordEvent(request: FastifyRequest, recorder: Recorder): Promise<void> {
  try {
    const event = bodyOf(request);
    if (isJsonObject(event)) await recordingOf(request, recorder).append(toEntry(event) as unknown as EntryInput);
  } catch (error) {
    logFailure(request, error);
  }
}

/** What an event means, by its name; all others are kept as they came. */
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

function toEntry(event: JsonObject): object {
  const { hook_event_name, session_id, agent_id, cwd } = event;
  const session = typeof session_id === "string" ? session_id : "";
  const isAgent = typeof agent_id === "string" && agent_id !== "";
  const envelope = {
    session_id: isAgent && session !== "" ? `${session}/agent-${agent_id}` : session,
    client: SOURCE,
    project: projectOf(cwd),
  };
  const name = typeof hook_event_name === "string" ? hook_event_name : "";
  const fields = session !== "" && Object.hasOwn(fieldsByEvent, name) ? fieldsByEvent[name]?.(event) : undefined;
  return { ...(fields ?? { kind: "raw", source: `${SOURCE}-hook`, record: event }), ...envelope };
}

/** The name of its folder, parsed in one pass, of any length; a name that no project can have costs nothing else. */
function projectOf(cwd: unknown): string {
  const name = typeof cwd === "string" ? (cwd.split(/[\\/]/).findLast((part) => part !== "") ?? "") : "";
  return parseLabel("project", name) instanceof Rejection ? "" : name;
}

/** A transcript that is imported later tells of the same call, and has the same id for it. */
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

/** Older versions do not say what was said last; then the event is kept as it came. */
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
    "Prompts and last answers become messages, tools that were run tool calls, the start of a session what is known of it; all " +
    "other events are kept as `raw`. The answer is always `{}`, and comes within 0.1 s even if the log takes longer.",
  requestBody: { required: true, content: jsonContent({ type: "object" }) },
  responses: { 200: { description: "An empty object.", content: jsonContent({ type: "object" }) } },
};
