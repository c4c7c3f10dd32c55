// A callback handler for LangChain.js: `callbacks: [recordingCallbacks(recorder)]`.
import { brokenBy } from "../broken-call.js";
import { CallWatch } from "../call-watch.js";
import type { InteractionRecorder } from "../default-labels.js";
import { contentText, isJson, type Json, jsonAt, textAt, toolCall, usageOf } from "../providers/provider.js";
import { reasonOf } from "../server-errors.js";
import { snapshot } from "../snapshot.js";
import { seenInteraction } from "./model-calls.js";

/** Whatever also records tools; where it cannot, only model calls are recorded. */
export type CallbackRecorder = InteractionRecorder;

interface Run {
  readonly watch: CallWatch;
  readonly asked: {
    readonly messages: readonly unknown[];
    readonly model: string | undefined;
    readonly tools?: unknown;
  };
}

export function recordingCallbacks(recorder: CallbackRecorder) {
  const runs = new Map<string, Run>();
  const tools = new Map<string, { readonly tool: string; readonly input: string; readonly startMs: number }>();
  const begin = (id: string, messages: readonly unknown[], params: unknown, metadata: unknown): void => {
    const model = textAt(metadata, "ls_model_name") ?? textAt(jsonAt(params, "invocation_params"), "model");
    const { invocation_params, options } = isJson(params) ? params : ({} as Json);
    // What is bound to the model.
    const tools =
      (isJson(invocation_params) ? invocation_params.tools : undefined) ??
      (isJson(options) ? options.tools : undefined);
    const asked = { messages, model, ...(tools === undefined ? {} : { tools }) };
    runs.set(id, { watch: new CallWatch(recorder, { asked: () => seenInteraction(asked) }), asked });
  };
  const endTool = async (id: string, result: unknown, is_error: boolean, call_id?: unknown): Promise<void> => {
    const run = tools.get(id);
    tools.delete(id);
    if (run === undefined) return;
    const { tool, input, startMs } = run;
    const duration_ms = Math.round(performance.now() - startMs);
    const { session_id, project, client, user_id, tags, parent_id } = recorder.currentLabels ?? {};
    const labels = { session_id, project, client, user_id, tags, parent_id };
    const tool_call_id = typeof call_id === "string" ? call_id : undefined;
    const entry = { tool, args: { input }, result: snapshot(result) as string, is_error, duration_ms, tool_call_id };
    await recorder.append?.({ kind: "tool_call", ...labels, ...entry }).catch(() => undefined);
  };
  return {
    name: "hansard",
    // Then the record is there when the call returns.
    awaitHandlers: true,
    handleLLMNewToken(_: unknown, _1: unknown, id: string) {
      runs.get(id)?.watch.answering();
    },
    handleChatModelStart(
      _: unknown,
      batches: unknown[][],
      id: string,
      _1?: string,
      params?: unknown,
      _2?: unknown,
      meta?: unknown,
    ) {
      begin(id, (batches[0] ?? []).map(toMessage), params, meta);
    },
    handleLLMStart(
      _: unknown,
      prompts: string[],
      id: string,
      _1?: string,
      params?: unknown,
      _2?: unknown,
      meta?: unknown,
    ) {
      begin(id, [{ role: "user", content: prompts[0] ?? "" }], params, meta);
    },
    handleLLMEnd(output: unknown, id: string) {
      const run = runs.get(id);
      runs.delete(id);
      return run?.watch.end(() => seenInteraction({ ...run.asked, ...answerOf(output, run.asked.model) }));
    },
    handleLLMError(error: unknown, id: string) {
      const run = runs.get(id);
      runs.delete(id);
      return run?.watch.end(() => seenInteraction({ ...run.asked, error: brokenBy(error).reason }));
    },
    handleToolStart(tool: unknown, input: string, id: string, _1?: string, _2?: unknown, _3?: unknown, name?: string) {
      const ids = isJson(tool) && Array.isArray(tool.id) ? tool.id : [];
      tools.set(id, { tool: name ?? String(ids.at(-1) ?? "tool"), input, startMs: performance.now() });
    },
    handleToolEnd(output: unknown, id: string) {
      const { content = output, tool_call_id } = isJson(output) ? output : ({} as Json);
      return endTool(id, content, false, tool_call_id);
    },
    handleToolError(error: unknown, id: string) {
      return endTool(id, reasonOf(error), true);
    },
  };
}

const roleByType: { readonly [type: string]: string } = {
  human: "user",
  ai: "assistant",
  system: "system",
  tool: "tool",
};

/** Its messages are objects that know their type. */
function toMessage(message: unknown): unknown {
  if (!isJson(message)) return message;
  const { getType, content, tool_calls, tool_call_id, name } = message;
  const type = typeof getType === "function" ? String(getType.call(message)) : "";
  const calls = Array.isArray(tool_calls) ? tool_calls.filter(isJson) : [];
  return {
    role: roleByType[type] ?? "user",
    content,
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => toolCall(call.id, call.name, call.args)) }),
    ...(typeof tool_call_id === "string" ? { tool_call_id } : {}),
    ...(typeof name === "string" ? { name } : {}),
  };
}

function answerOf(output: unknown, asked: string | undefined) {
  const { generations, llmOutput } = (isJson(output) ? output : {}) as { generations?: Json[][]; llmOutput?: unknown };
  const generation = generations?.[0]?.[0];
  const message = jsonAt(generation, "message");
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isJson) : [];
  return {
    response: contentText(message.content) || (textAt(generation, "text") ?? ""),
    model: textAt(jsonAt(message, "response_metadata"), "model_name") ?? asked,
    usage: usageOf(message.usage_metadata ?? jsonAt(llmOutput, "tokenUsage"), usagePlaces),
    extra: {
      message_id: textAt(message, "id"),
      tool_calls: calls.length === 0 ? undefined : calls.map((call) => toolCall(call.id, call.name, call.args)),
    },
  };
}

const usagePlaces = {
  input_tokens: [["input_tokens"], ["promptTokens"]],
  output_tokens: [["output_tokens"], ["completionTokens"]],
  cache_read_tokens: [["input_token_details", "cache_read"]],
  cache_write_tokens: [["input_token_details", "cache_creation"]],
  reasoning_tokens: [["output_token_details", "reasoning"]],
} as const;
