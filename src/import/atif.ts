// ATIF, the interchange format of agent trajectories: one document of steps.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { isInjection } from "../model/roles.js";
import { toUsage, type UsageNames } from "../model/usage.js";
import type { DocumentImporter, ImportStep, Opening, SourceOf } from "./importer.js";
import { onlyText, textAt } from "./transcript/fields.js";
import { type Origin, Transcript, type TranscriptSession } from "./transcript/transcript.js";

const tool = { format: "atif", lacks: ["working folder"] };

const usageNames: UsageNames = {
  input_tokens: [["prompt_tokens"]],
  output_tokens: [["completion_tokens"]],
  cache_read_tokens: [["cached_tokens"]],
  reasoning_tokens: [["reasoning_tokens"], ["extra", "reasoning_tokens"]],
  cache_write_tokens: [["extra", "cache_write_tokens"]],
};
const HEADER = ["session_id", "trajectory_id", "agent", "notes", "final_metrics", "extra", "continued_trajectory_ref"];

export const atifImporter: DocumentImporter = {
  format: tool.format,
  reads: "document",
  recognises: ({ document }: Opening) =>
    isJsonObject(document) && (textAt(document, "schema_version")?.startsWith("ATIF-v") === true || isSteps(document)),
  read,
};

/** The version may come after the steps, outside of the opening. */
function isSteps({ steps }: JsonObject): boolean {
  return (
    Array.isArray(steps) &&
    steps.slice(0, 3).some((step) => isJsonObject(step) && "step_id" in step && "source" in step)
  );
}

async function* read(source: SourceOf<"document">): AsyncGenerator<ImportStep> {
  const transcript = new Transcript(tool, source);
  const header = await source.header(HEADER);
  const key = textAt(header, "session_id") ?? textAt(header, "trajectory_id") ?? source.stem;
  const session = transcript.session(key);
  // Several trajectories of one session number their steps from 1 each.
  const trajectory = textAt(header, "trajectory_id") ?? "";
  yield* begin(session, header);
  for await (const item of source.values("steps.*")) {
    if ("reason" in item) yield item;
    else if (isJsonObject(item.value)) yield* take(session, item.line, item.value, trajectory);
    else yield { line: item.line, reason: "the step is not an object" };
  }
  for await (const item of source.values("subagent_trajectories.*")) {
    if ("reason" in item) yield item;
    else if (isJsonObject(item.value)) yield* subagent(session, item.line, item.value);
  }
}

function* begin(session: TranscriptSession, header: JsonObject): Generator<ImportStep> {
  const agent = isJsonObject(header.agent) ? header.agent : {};
  const names = ["notes", "final_metrics", "extra", "trajectory_id", "continued_trajectory_ref"];
  const rest = names.filter((name) => header[name] !== undefined).map((name) => [name, header[name] as JsonValue]);
  yield* session.about(
    { line: 1, at: undefined },
    { version: textAt(agent, "version"), metadata: { ...Object.fromEntries(rest), agent } },
  );
}

function* subagent(parent: TranscriptSession, line: number, trajectory: JsonObject): Generator<ImportStep> {
  const id = textAt(trajectory, "trajectory_id") ?? textAt(trajectory, "session_id") ?? String(line);
  const session = parent.child(`agent-${id}`);
  yield* begin(session, trajectory);
  const steps = Array.isArray(trajectory.steps) ? trajectory.steps.filter(isJsonObject) : [];
  for (const step of steps) yield* take(session, line, step);
  const inner = Array.isArray(trajectory.subagent_trajectories)
    ? trajectory.subagent_trajectories.filter(isJsonObject)
    : [];
  for (const trajectory of inner) yield* subagent(session, line, trajectory);
}

function* take(session: TranscriptSession, line: number, step: JsonObject, trajectory = ""): Generator<ImportStep> {
  const of = trajectory === "" || trajectory === session.id ? session.id : `${session.id}:${trajectory}`;
  const native = `${of}:${step.step_id ?? line}`;
  const extra = isJsonObject(step.extra) ? { step: step.extra } : undefined;
  const origin = { line, at: step.timestamp, native, extra };
  const content = onlyText(step.message) ?? step.message ?? "";
  if (step.source === "agent") yield* answer(session, origin, step);
  // The form in which errors are exported, since the format has none.
  else if (step.source === "system" && extra?.step.kind === "error" && typeof content === "string")
    yield session.error({ line, at: step.timestamp, native }, content);
  else if (step.source === "user" || step.source === "system") {
    // The form in which injected messages are exported, for the same reason.
    const { injected } = extra?.step ?? {};
    yield session.message(origin, { role: step.source, content, ...(isInjection(injected) ? { injected } : {}) });
    yield* results(session, origin, step);
  } else yield session.raw(origin, step);
}

function* answer(
  session: TranscriptSession,
  origin: Origin & { native: string },
  step: JsonObject,
): Generator<ImportStep> {
  const id = origin.native;
  const reasoning = textAt(step, "reasoning_content");
  const text = onlyText(step.message);
  const blocks = text === undefined && Array.isArray(step.message) ? step.message.filter(isJsonObject) : [];
  const calls = Array.isArray(step.tool_calls) ? step.tool_calls.filter(isJsonObject) : [];
  yield* session.say(id, origin, {
    line: origin.line,
    at: origin.at,
    model: textAt(step, "model_name"),
    usage: toUsage(step.metrics, usageNames),
    extra: origin.extra,
    parts: [
      ...(reasoning === undefined ? [] : [{ id, thinking: reasoning }]),
      ...(text === undefined ? blocks.map((block) => ({ id, block })) : [{ id, text }]),
      ...calls.map((call, index) => ({
        id,
        call: {
          id: textAt(call, "tool_call_id") ?? `${id}:call:${index}`,
          name: textAt(call, "function_name") ?? "unknown",
          args: call.arguments ?? {},
        },
      })),
    ],
  });
  yield* session.close();
  yield* results(session, origin, step);
}

function* results(
  session: TranscriptSession,
  origin: Origin & { native: string },
  step: JsonObject,
): Generator<ImportStep> {
  const observation = isJsonObject(step.observation) ? step.observation : {};
  const found = Array.isArray(observation.results) ? observation.results.filter(isJsonObject) : [];
  for (const [index, result] of found.entries()) {
    const extra = isJsonObject(result.extra) ? result.extra : {};
    yield session.result({
      line: origin.line,
      at: origin.at,
      native: `${origin.native}:result:${index}`,
      call_id: textAt(result, "source_call_id") ?? "",
      tool: textAt(extra, "tool") ?? textAt(extra, "event_name"),
      result: onlyText(result.content) ?? result.content ?? "",
      is_error: typeof extra.is_error === "boolean" ? extra.is_error : undefined,
      ...(Object.keys(extra).length === 0 ? {} : { extra: { result: extra } }),
    });
  }
}
