// A callback handler for LangChain.js: `callbacks: [recordingCallbacks(recorder)]`.
import { CallWatch } from "../call-watch.js";
import type { InteractionRecorder } from "../default-labels.js";
import type { EntryEnvelope } from "../entries.js";
import { contentText, isJson, type Json, jsonAt, textAt, toolCall, usageOf } from "../providers/provider.js";
import { reasonOf } from "../server-errors.js";
import { snapshot } from "../snapshot.js";
import { seenInteraction } from "./model-calls.js";

/** Whatever also records tools; where it cannot, only model calls are recorded. */
export interface CallbackRecorder extends InteractionRecorder {
  append?(entry: ToolEntry): Promise<unknown>;
}

type ToolEntry = EntryEnvelope & {
  readonly kind: "tool_call";
  readonly tool: string;
  readonly args: { readonly input: string };
  /** Text or JSON. */
  readonly result: string;
  readonly is_error: boolean;
  readonly duration_ms: number;
};

interface Run {
  readonly watch: CallWatch;
  readonly asked: { readonly messages: readonly unknown[]; readonly model: string | undefined };
}

export function recordingCallbacks(recorder: CallbackRecorder) {
  const runs = new Map<string, Run>();
  const tools = new Map<string, { readonly tool: string; readonly input: string; readonly startMs: number }>();
  const begin = (id: string, messages: readonly unknown[], params: unknown, metadata: unknown): void => {
    const model = textAt(metadata, "ls_model_name") ?? textAt(jsonAt(params, "invocation_params"), "model");
    runs.set(id, { watch: new CallWatch(recorder), asked: { messages, model } });
  };
  const endTool = (id: string, result: unknown, is_error: boolean): void => {
    const run = tools.get(id);
    tools.delete(id);
    if (run === undefined) return;
    const { tool, input, startMs } = run;
    const duration_ms = Math.round(performance.now() - startMs);
    const { session_id, project, client } = recorder.currentLabels ?? {};
    const entry = { tool, args: { input }, result: snapshot(result) as string, is_error, duration_ms };
    recorder.append?.({ kind: "tool_call", session_id, project, client, ...entry }).catch(() => undefined);
  };
  return {
    name: "hansard",
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
      run?.watch.end(() => seenInteraction({ ...run.asked, ...answerOf(output, run.asked.model) }));
    },
    handleLLMError(error: unknown, id: string) {
      const run = runs.get(id);
      runs.delete(id);
      run?.watch.end(() => seenInteraction({ ...run.asked, error: reasonOf(error) }));
    },
    handleToolStart(tool: unknown, input: string, id: string, _1?: string, _2?: unknown, _3?: unknown, name?: string) {
      const ids = isJson(tool) && Array.isArray(tool.id) ? tool.id : [];
      tools.set(id, { tool: name ?? String(ids.at(-1) ?? "tool"), input, startMs: performance.now() });
    },
    handleToolEnd(output: unknown, id: string) {
      endTool(id, isJson(output) ? (output.content ?? output) : output, false);
    },
    handleToolError(error: unknown, id: string) {
      endTool(id, reasonOf(error), true);
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
