// Model calls and tools of the OpenAI Agents SDK, as its tracing tells of them: `addTraceProcessor(recordingTraces(recorder))`.
import { CallWatch } from "../call-watch.js";
import type { InteractionRecorder } from "../default-labels.js";
import { openAiChat } from "../providers/openai-chat.js";
import { openAiResponses } from "../providers/openai-responses.js";
import { isJson, type Json, jsonAt, listAt, type ProviderAnswer, textAt, usageOf } from "../providers/provider.js";
import { seenInteraction } from "./model-calls.js";

/** What is looked at of its spans and traces. */
interface Span {
  readonly spanId: string;
  readonly traceId: string;
  readonly spanData: unknown;
  readonly error: { readonly message?: unknown } | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

interface Trace {
  readonly traceId: string;
  readonly groupId: string | null;
}

/** A trace's group is the session, where no other one holds. */
export function recordingTraces(recorder: InteractionRecorder) {
  const watches = new Map<string, CallWatch>();
  const groups = new Map<string, string>();
  const unfinished = new Set<Promise<unknown>>();
  const pending = (work: Promise<unknown>): Promise<void> => {
    unfinished.add(work);
    const done = work.then(
      () => void unfinished.delete(work),
      () => void unfinished.delete(work),
    );
    return done;
  };
  const sessionOf = ({ traceId }: Span): { readonly session_id?: string } => {
    const session_id = groups.get(traceId);
    return session_id === undefined || recorder.currentLabels?.session_id !== undefined ? {} : { session_id };
  };
  const flush = async (): Promise<void> => void (await Promise.all(unfinished));
  return {
    async onTraceStart({ traceId, groupId }: Trace): Promise<void> {
      if (groupId) groups.set(traceId, groupId);
    },
    async onTraceEnd({ traceId }: Trace): Promise<void> {
      groups.delete(traceId);
    },
    async onSpanStart(span: Span): Promise<void> {
      if (isCall(span.spanData)) watches.set(span.spanId, new CallWatch(recorder));
    },
    onSpanEnd(span: Span): Promise<void> {
      const watch = watches.get(span.spanId);
      watches.delete(span.spanId);
      if (textAt(span.spanData, "type") === "function") return pending(recordTool(recorder, span, sessionOf(span)));
      if (watch === undefined) return Promise.resolve();
      const session = sessionOf(span);
      void pending(watch.recorded);
      return watch.end(() => ({ ...session, ...toInteraction(span) }));
    },
    forceFlush: flush,
    shutdown: flush,
  };
}

function isCall(data: unknown): boolean {
  const type = textAt(data, "type");
  return type === "response" || type === "generation";
}

function toInteraction({ spanData, error }: Span) {
  const { given, answer } = textAt(spanData, "type") === "response" ? ofResponse(spanData) : ofGeneration(spanData);
  const { text, model = given.model, usage, tool_calls, message_id, finish_reason, content } = answer;
  const reason = error === null ? answer.error : String(error.message ?? "the call failed");
  return seenInteraction({
    messages: given.messages,
    system: given.system,
    tools: given.tools,
    response: text,
    model,
    usage,
    error: reason,
    extra: { message_id, finish_reason, content, tool_calls: tool_calls.length === 0 ? undefined : tool_calls },
  });
}

function ofResponse(data: unknown) {
  const { _input: input } = isJson(data) ? data : ({} as Json);
  const response = jsonAt(data, "_response");
  const { instructions, tools, model } = response;
  const given = openAiResponses.given({ input, instructions, tools, model }, "");
  return { given, answer: openAiResponses.answer([{ object: "response", ...response }]) };
}

function ofGeneration(data: unknown) {
  const { input: messages, model, model_config, usage } = isJson(data) ? data : ({} as Json);
  const given = openAiChat.given({ messages, model, ...(isJson(model_config) ? model_config : {}) }, "");
  const answer: ProviderAnswer = openAiChat.answer(listAt(data, "output"));
  return { given, answer: { ...answer, usage: answer.usage ?? usageOf(usage, usagePlaces) } };
}

async function recordTool(
  recorder: InteractionRecorder,
  { spanData, error, startedAt, endedAt }: Span,
  session: { readonly session_id?: string },
): Promise<void> {
  const { session_id, project, client, user_id, tags, parent_id } = recorder.currentLabels ?? {};
  const labels = { session_id, project, client, user_id, tags, parent_id, ...session };
  const duration_ms = Math.max(0, Date.parse(endedAt ?? "") - Date.parse(startedAt ?? "") || 0);
  const result = error === null ? (textAt(spanData, "output") ?? "") : String(error.message ?? "the tool failed");
  const args = { input: textAt(spanData, "input") ?? "" };
  const tool = textAt(spanData, "name") ?? "tool";
  await recorder.append?.({ kind: "tool_call", ...labels, tool, args, result, is_error: error !== null, duration_ms });
}

const usagePlaces = {
  input_tokens: [["input_tokens"], ["prompt_tokens"]],
  output_tokens: [["output_tokens"], ["completion_tokens"]],
} as const;
