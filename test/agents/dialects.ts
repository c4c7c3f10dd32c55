// The providers' interfaces that coding agents speak: what a request says, and an answer as each provider streams it.

import { blocksOf, blockTexts, objectAt, textAt } from "../../src/import/transcript/fields.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";

export interface OfferedTool {
  readonly name: string;
  /** The parameters it takes; undefined where it takes a text. */
  readonly parameters: readonly string[] | undefined;
  /** The group that a tool of an MCP server is in. */
  readonly namespace?: string | undefined;
}

export interface Turn {
  readonly role: "user" | "assistant" | "other";
  readonly text: string;
}

/** A request of any provider. */
export interface ModelRequest {
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly OfferedTool[];
  readonly isStreamed: boolean;
}

export interface AnsweredCall {
  readonly id: string;
  readonly tool: OfferedTool;
  readonly args: JsonObject;
}

export interface ModelTokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export interface ScriptedAnswer {
  readonly id: string;
  readonly text: string;
  readonly thought: string | undefined;
  readonly calls: readonly AnsweredCall[];
  readonly tokens: ModelTokens;
}

export interface Dialect {
  /** Whether requests to this path are in this dialect. */
  readonly path: RegExp;
  read(body: JsonObject, path: string): ModelRequest;
  /** One document, or the events of a stream; an event's `type` names it where the provider names events. */
  write(
    answer: ScriptedAnswer,
    request: { readonly isStreamed: boolean; readonly body: JsonObject },
  ): readonly JsonValue[];
  readonly namesEvents: boolean;
  refusal(status: number): JsonObject;
}

function list(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function parametersOf(schema: JsonValue | undefined): readonly string[] {
  return isJsonObject(schema) ? Object.keys(objectAt(schema, "properties")) : [];
}

function refusalOf(status: number): JsonObject {
  return { type: "error", error: { type: "api_error", message: `refused with ${status}`, code: status } };
}

const anthropic: Dialect = {
  path: /\/messages$/,
  namesEvents: true,
  refusal: refusalOf,
  read: (body) => ({
    system: blockTexts(body.system),
    isStreamed: body.stream === true,
    turns: list(body.messages).map((message) => ({
      role: message.role === "assistant" ? "assistant" : "user",
      text: blockTexts(message.content),
    })),
    tools: list(body.tools).map((tool) => ({
      name: textAt(tool, "name") ?? "",
      parameters: parametersOf(tool.input_schema),
    })),
  }),
  write({ id, text, thought, calls, tokens }, { isStreamed, body }) {
    const usage = {
      input_tokens: tokens.input - tokens.cached,
      cache_read_input_tokens: tokens.cached,
      cache_creation_input_tokens: 0,
      output_tokens: tokens.output,
    };
    const content: JsonObject[] = [];
    if (thought !== undefined && isJsonObject(body.thinking)) {
      content.push({ type: "thinking", thinking: thought, signature: Buffer.from(id).toString("base64") });
    }
    if (text !== "") content.push({ type: "text", text });
    for (const call of calls) content.push({ type: "tool_use", id: call.id, name: call.tool.name, input: call.args });
    const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
    const message = { id, type: "message", role: "assistant", model: body.model ?? "", content, stop_reason, usage };
    if (!isStreamed) return [message];
    const blocks = content.flatMap((block, index): JsonObject[] => {
      const { start, deltas } = streamedBlock(block);
      return [
        { type: "content_block_start", index, content_block: start },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ];
    });
    const begun = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
    return [
      { type: "message_start", message: begun },
      ...blocks,
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
  },
};

function streamedBlock(block: JsonObject): { readonly start: JsonObject; readonly deltas: readonly JsonObject[] } {
  const { type, text, thinking, signature, input } = block;
  if (type === "text") return { start: { type, text: "" }, deltas: [{ type: "text_delta", text: text ?? "" }] };
  if (type === "thinking") {
    const deltas = [
      { type: "thinking_delta", thinking: thinking ?? "" },
      { type: "signature_delta", signature: signature ?? "" },
    ];
    return { start: { type, thinking: "", signature: "" }, deltas };
  }
  return {
    start: { ...block, input: {} },
    deltas: [{ type: "input_json_delta", partial_json: JSON.stringify(input) }],
  };
}

const responses: Dialect = {
  path: /\/responses$/,
  namesEvents: true,
  refusal: refusalOf,
  read: (body) => ({
    system: textAt(body, "instructions") ?? "",
    isStreamed: body.stream === true,
    turns: list(body.input).map((item) => {
      const type = String(item.type ?? "message");
      const isCall = type === "reasoning" || type.endsWith("_call");
      if (isCall || item.role === "assistant") return { role: "assistant", text: "" };
      return { role: item.role === "user" ? "user" : "other", text: blockTexts(item.content) };
    }),
    tools: list(body.tools).flatMap((tool): OfferedTool[] => {
      const name = textAt(tool, "name");
      if (tool.type === "namespace") {
        return list(tool.tools).map((one) => ({
          name: textAt(one, "name") ?? "",
          parameters: parametersOf(one.parameters),
          namespace: name,
        }));
      }
      const parameters = tool.type === "custom" ? undefined : parametersOf(tool.parameters);
      return name === undefined ? [] : [{ name, parameters }];
    }),
  }),
  write({ id, text, thought, calls, tokens }, { isStreamed, body }) {
    const output: JsonObject[] = [];
    if (thought !== undefined) {
      const summary = [{ type: "summary_text", text: thought }];
      output.push({ type: "reasoning", id: `rs_${id}`, summary, encrypted_content: "c2VhbGVk" });
    }
    if (text !== "") {
      const content = [{ type: "output_text", text, annotations: [] }];
      output.push({ type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content });
    }
    for (const { id: call_id, tool, args } of calls) {
      const named = { call_id, name: tool.name, status: "completed" };
      const space = tool.namespace === undefined ? {} : { namespace: tool.namespace };
      output.push(
        tool.parameters === undefined
          ? { type: "custom_tool_call", id: `ctc_${call_id}`, ...named, input: args.input ?? "" }
          : { type: "function_call", id: `fc_${call_id}`, ...named, ...space, arguments: JSON.stringify(args) },
      );
    }
    const usage = {
      input_tokens: tokens.input,
      input_tokens_details: { cached_tokens: tokens.cached },
      output_tokens: tokens.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens.input + tokens.output,
    };
    const response = { id, object: "response", model: body.model ?? "", status: "completed", output, usage };
    if (!isStreamed) return [response];
    const begun = { ...response, status: "in_progress", output: [], usage: null };
    const items = output.flatMap((item, output_index): JsonObject[] => [
      { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress" } },
      { type: "response.output_item.done", output_index, item },
    ]);
    const events = [{ type: "response.created", response: begun }, ...items, { type: "response.completed", response }];
    return events.map((event, sequence_number) => ({ ...event, sequence_number }));
  },
};

const chat: Dialect = {
  path: /\/chat\/completions$/,
  namesEvents: false,
  refusal: refusalOf,
  read: (body) => {
    const messages = list(body.messages);
    const system = messages.filter(({ role }) => role === "system" || role === "developer");
    return {
      system: system.map(({ content }) => blockTexts(content)).join("\n"),
      isStreamed: body.stream === true,
      turns: messages.map(({ role, content }) => ({
        role: role === "user" || role === "assistant" ? role : "other",
        text: blockTexts(content),
      })),
      tools: list(body.tools).map((tool) => {
        const described = objectAt(tool, "function");
        return { name: textAt(described, "name") ?? "", parameters: parametersOf(described.parameters) };
      }),
    };
  },
  write({ id, text, thought, calls, tokens }, { isStreamed, body }) {
    const tool_calls = calls.map((call, index) => ({
      index,
      id: call.id,
      type: "function",
      function: { name: call.tool.name, arguments: JSON.stringify(call.args) },
    }));
    const usage = {
      prompt_tokens: tokens.input,
      completion_tokens: tokens.output,
      total_tokens: tokens.input + tokens.output,
      prompt_tokens_details: { cached_tokens: tokens.cached },
    };
    const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
    const said = {
      role: "assistant",
      content: text,
      ...(thought === undefined ? {} : { reasoning_content: thought }),
      ...(tool_calls.length === 0 ? {} : { tool_calls }),
    };
    const whole = { id, created: 1, model: body.model ?? "" };
    if (!isStreamed) {
      const choices = [{ index: 0, message: said, finish_reason }];
      return [{ ...whole, object: "chat.completion", choices, usage }];
    }
    const chunk = { ...whole, object: "chat.completion.chunk" };
    return [
      { ...chunk, choices: [{ index: 0, delta: said, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] },
      { ...chunk, choices: [], usage },
      "[DONE]",
    ];
  },
};

const gemini: Dialect = {
  path: /:(?:stream)?generateContent$/i,
  namesEvents: false,
  refusal: (status) => ({ error: { code: status, message: `refused with ${status}`, status: "UNAVAILABLE" } }),
  read: (body, path) => ({
    system: blockTexts(objectAt(body, "systemInstruction").parts),
    isStreamed: path.includes("stream"),
    turns: list(body.contents).map(({ role, parts }) => ({
      role: role === "model" ? "assistant" : "user",
      text: blockTexts(blocksOf(parts).filter((part) => part.thought !== true)),
    })),
    tools: list(body.tools).flatMap((tool) =>
      list(tool.functionDeclarations).map((one) => ({
        name: textAt(one, "name") ?? "",
        parameters: parametersOf(one.parametersJsonSchema ?? one.parameters),
      })),
    ),
  }),
  write({ id, text, thought, calls, tokens }) {
    const parts = [
      ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
      ...(text === "" ? [] : [{ text }]),
      ...calls.map((call) => ({ functionCall: { id: call.id, name: call.tool.name, args: call.args } })),
    ];
    const usageMetadata = {
      promptTokenCount: tokens.input,
      cachedContentTokenCount: tokens.cached,
      candidatesTokenCount: tokens.output,
      totalTokenCount: tokens.input + tokens.output,
    };
    const candidates = [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }];
    return [{ candidates, responseId: id, usageMetadata }];
  },
};

const dialects = { anthropic, responses, chat, gemini };
export type DialectName = keyof typeof dialects;

export function dialectOf(path: string): { readonly name: DialectName; readonly dialect: Dialect } | undefined {
  for (const [name, dialect] of Object.entries(dialects)) {
    if (dialect.path.test(path)) return { name: name as DialectName, dialect };
  }
  return undefined;
}
