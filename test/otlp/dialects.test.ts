// Every dialect in the shapes that its emitters send, written by hand.
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { derive, derivedOf } from "./derive.js";
import { log, span, TRACE } from "./otlp-bodies.js";

const PARIS = { id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } };

test("AI SDK 6: calls and tools count, the spans around them repeat them", () => {
  const metadata = { "ai.telemetry.metadata.sessionId": "s", "ai.telemetry.metadata.userId": "u" };
  const model = { "ai.model.id": "gpt-4o", "gen_ai.usage.input_tokens": 42, ...metadata };
  const prompt = [
    { role: "system", content: "terse" },
    { role: "user", content: [{ type: "text", text: "Weather?" }] },
    {
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: "call_1", toolName: "get_weather", input: { city: "Paris" } }],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "call_1",
          toolName: "get_weather",
          output: { type: "json", value: { c: 18 } },
        },
      ],
    },
  ];
  const entries = derive({
    scope: { name: "ai" },
    spans: [
      span({
        ...{ id: "a1", parent: "a0", at: 1 },
        attributes: {
          ...model,
          "ai.operationId": "ai.streamText.doStream",
          "ai.prompt.messages": JSON.stringify(prompt),
          "ai.prompt.tools": ['{"type":"function","name":"get_weather"}'],
          "ai.response.text": "It is 18C",
          "ai.response.msToFirstChunk": 12.5,
          "ai.response.id": "r1",
          "ai.usage.inputTokens": 42,
          "ai.usage.outputTokens": 7,
          "ai.usage.cachedInputTokens": 10,
        },
      }),
      span({
        ...{ id: "a2", parent: "a0", at: 10 },
        attributes: {
          ...metadata,
          "ai.operationId": "ai.toolCall",
          "ai.toolCall.name": "get_weather",
          "ai.toolCall.id": "call_1",
          "ai.toolCall.args": '{"city":"Paris"}',
          "ai.toolCall.result": '{"c":18}',
        },
      }),
      span({
        id: "a0",
        attributes: { ...model, "ai.operationId": "ai.streamText", "ai.prompt": '{"prompt":"Weather?"}' },
      }),
    ],
  });
  expect(entries.map(({ kind }) => kind)).toEqual(["interaction", "tool_call"]);
  expect(entries[0]).toMatchObject({
    ...{ session_id: "s", user_id: "u", prompt: "Weather?", response: "It is 18C", first_token_ms: 12.5 },
    usage: { input_tokens: 42, output_tokens: 7, cache_read_tokens: 10 },
    context_pack: {
      messages: [
        { role: "system", content: "terse" },
        { role: "user", content: "Weather?" },
        { role: "assistant", content: "", tool_calls: [PARIS] },
        { role: "tool", tool_call_id: "call_1", name: "get_weather", content: '{"c":18}' },
      ],
      tools: [{ type: "function", name: "get_weather" }],
    },
  });
});

test("OpenInference: flattened messages, tools and documents", () => {
  const entries = derive({
    spans: [
      span({
        ...{ id: "b1", parent: "b0" },
        attributes: {
          "openinference.span.kind": "RETRIEVER",
          "output.value": '{"documents":[{"id":"doc_1"},{}]}',
          "retrieval.documents.0.document.content": "Paris is 18C",
          "retrieval.documents.1.document.content": "B",
        },
      }),
      span({
        ...{ id: "b2", parent: "b0", at: 10 },
        attributes: {
          "openinference.span.kind": "LLM",
          "session.id": "s",
          "llm.model_name": "gpt-4o",
          "llm.input_messages.1.message.role": "user",
          "llm.input_messages.1.message.contents.0.message_content.type": "text",
          "llm.input_messages.1.message.contents.0.message_content.text": "Weather?",
          "llm.input_messages.0.message.role": "system",
          "llm.input_messages.0.message.content": "terse",
          "llm.output_messages.0.message.role": "assistant",
          "llm.output_messages.0.message.tool_calls.0.tool_call.id": "call_1",
          "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "get_weather",
          "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"city":"Paris"}',
          "llm.tools.0.tool.json_schema": '{"type":"function"}',
          "llm.token_count.prompt": 42,
          "llm.token_count.completion": 7,
          "llm.token_count.completion_details.reasoning": 3,
        },
      }),
      span({ id: "b0", attributes: { "openinference.span.kind": "AGENT", "input.value": "Weather?" } }),
    ],
  });
  expect(entries).toMatchObject([
    {
      ...{ kind: "interaction", prompt: "Weather?", response: "", session_id: "s" },
      chunks_used: ["doc_1", expect.stringMatching(/^sha256:/)],
      usage: { input_tokens: 42, output_tokens: 7, reasoning_tokens: 3 },
      context_pack: {
        messages: [{ role: "system" }, { role: "user", content: "Weather?" }],
        tools: [{ type: "function" }],
      },
      extra: { tool_calls: [PARIS] },
    },
  ]);
});

test("OpenLLMetry: entities, the indexed attributes of older versions, and queries of vector databases", () => {
  const entries = derive({
    spans: [
      span({
        ...{ id: "c1", parent: "c0", at: 1 },
        attributes: {
          "traceloop.span.kind": "tool",
          "traceloop.entity.name": "look",
          "traceloop.entity.input": '{"args":[{"q":"x"}],"kwargs":{}}',
          "traceloop.entity.output": '{"ok":1}',
        },
      }),
      span({
        ...{ id: "c2", parent: "c1", at: 2 },
        events: [{ name: "db.query.result", attributes: { "db.query.result.id": "v1" } }],
      }),
      span({
        ...{ id: "c3", parent: "c1", at: 20 },
        attributes: {
          "gen_ai.system": "OpenAI",
          "gen_ai.request.model": "gpt-4o",
          "gen_ai.prompt.0.role": "user",
          "gen_ai.prompt.0.content": "Weather?",
          "gen_ai.completion.0.role": "assistant",
          "gen_ai.completion.0.content": "fine",
          "gen_ai.completion.0.tool_calls.0.id": "call_1",
          "gen_ai.completion.0.tool_calls.0.name": "get_weather",
          "gen_ai.completion.0.tool_calls.0.arguments": '{"city":"Paris"}',
          "gen_ai.usage.prompt_tokens": 42,
        },
      }),
      span({
        id: "c0",
        attributes: { "traceloop.span.kind": "workflow", "traceloop.association.properties.session_id": "s" },
      }),
    ],
  });
  expect(entries).toMatchObject([
    { kind: "tool_call", session_id: "s", tool: "look", args: { q: "x" }, result: { ok: 1 } },
    {
      ...{ kind: "interaction", session_id: "s", prompt: "Weather?", response: "fine", chunks_used: ["v1"] },
      usage: { input_tokens: 42 },
      extra: { tool_calls: [PARIS] },
    },
  ]);
});

test("Langfuse: observations by their type", () => {
  const common = { "session.id": "s", "user.id": "u", "langfuse.trace.tags": ["a", "b"] };
  const entries = derive({
    scope: { name: "langfuse-sdk" },
    spans: [
      span({
        ...{ id: "d1", parent: "d0", at: 1 },
        attributes: {
          ...common,
          "langfuse.observation.type": "retriever",
          "langfuse.observation.output": '[{"id":"d1"}]',
        },
      }),
      span({
        ...{ id: "d2", parent: "d0", at: 10 },
        attributes: {
          ...common,
          "langfuse.observation.type": "generation",
          "langfuse.observation.input": '[{"role":"user","content":"hi"}]',
          "langfuse.observation.output": '{"role":"assistant","content":"yo"}',
          "langfuse.observation.model.name": "gpt-4o",
          "langfuse.observation.usage_details": '{"input":42,"output":7,"cache_read_input_tokens":10}',
          "langfuse.observation.completion_start_time": '"2026-11-15T06:49:12.013Z"',
        },
      }),
      span({
        ...{ id: "d3", parent: "d0", name: "search", at: 30 },
        attributes: { ...common, "langfuse.observation.type": "tool", "langfuse.observation.input": '{"q":1}' },
      }),
      span({ id: "d0", attributes: { ...common, "langfuse.observation.type": "agent" } }),
    ],
  });
  expect(derivedOf(entries, "interaction")).toMatchObject([
    {
      ...{ session_id: "s", user_id: "u", tags: ["a", "b"], prompt: "hi", response: "yo", chunks_used: ["d1"] },
      ...{ first_token_ms: 3, usage: { input_tokens: 42, output_tokens: 7, cache_read_tokens: 10 } },
    },
  ]);
  expect(derivedOf(entries, "tool_call")).toMatchObject([
    { tool: "search", args: { q: 1 }, extra: { lacks: ["result"] } },
  ]);
});

test("Strands and others with the older events: messages in the order of their events", () => {
  const entries = derive({
    spans: [
      span({
        ...{ id: "e1", parent: "e0" },
        attributes: { "gen_ai.operation.name": "chat", "gen_ai.system": "strands-agents", "gen_ai.request.model": "m" },
        events: [
          { name: "gen_ai.system.message", attributes: { content: "terse" } },
          { name: "gen_ai.user.message", attributes: { content: '[{"text":"Weather?"}]' } },
          {
            name: "gen_ai.choice",
            attributes: {
              finish_reason: "tool_use",
              message: '[{"toolUse":{"toolUseId":"call_1","name":"get_weather","input":{"city":"Paris"}}}]',
            },
          },
        ],
      }),
      span({
        ...{ id: "e2", parent: "e0", at: 10 },
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "get_weather",
          "gen_ai.tool.call.id": "call_1",
        },
        events: [
          { name: "gen_ai.tool.message", attributes: { role: "tool", content: '{"city":"Paris"}', id: "call_1" } },
          { name: "gen_ai.choice", attributes: { message: '[{"text":"18C"}]', id: "call_1" } },
        ],
      }),
      span({ id: "e0", attributes: { "gen_ai.operation.name": "invoke_agent" } }),
    ],
  });
  expect(entries).toMatchObject([
    {
      ...{ kind: "interaction", prompt: "Weather?", response: "" },
      context_pack: {
        messages: [
          { role: "system", content: "terse" },
          { role: "user", content: "Weather?" },
        ],
      },
      extra: { tool_calls: [PARIS] },
    },
    {
      kind: "tool_call",
      tool: "get_weather",
      args: { city: "Paris" },
      result: [{ text: "18C" }],
      tool_call_id: "call_1",
    },
  ]);
});

test("a call inside of a call is one call, of the inner one where it has its texts", () => {
  const chat = { "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 42, "gen_ai.usage.output_tokens": 7 };
  const said = {
    "gen_ai.input.messages": '[{"role":"user","content":"x"}]',
    "gen_ai.output.messages": '[{"role":"assistant","content":"y"}]',
  };
  const inner = (outerSays: boolean, innerSays: boolean): readonly JsonObject[] => [
    span({ id: "a1", attributes: { ...(outerSays ? said : {}), "gen_ai.operation.name": "chat" } }),
    span({ id: "a2", parent: "a1", at: 1, attributes: { ...chat, ...(innerSays ? said : {}) } }),
  ];
  for (const [outer, one, id] of [
    [true, true, "a2"],
    [false, true, "a2"],
    [true, false, "a1"],
  ] as const) {
    const entries = derive({ spans: inner(outer, one) });
    expect(entries, String([outer, one])).toMatchObject([{ kind: "interaction", usage: { input_tokens: 42 } }]);
    expect(String(entries[0]?.id)).toContain(`${id}:call`);
  }
  const bare = derive({ spans: inner(false, false) });
  expect(bare.filter(({ kind }) => kind === "raw")).toMatchObject([{ extra: { usage: { input_tokens: 42 } } }]);
});

test("an agent elsewhere, of which nothing else is known, is a call", () => {
  const agent = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.input.messages": '[{"role":"user","content":"x"}]',
    "gen_ai.output.messages": '[{"role":"assistant","content":"y"}]',
  };
  expect(derive({ spans: [span({ id: "a1", kind: 3, attributes: agent })] })).toMatchObject([{ kind: "interaction" }]);
  expect(derive({ spans: [span({ id: "a1", kind: 1, attributes: agent })] })).toEqual([]);
});

const claude = { name: "com.anthropic.claude_code.events", version: "2.1.327" };
const claudeSession = { "session.id": "s", "prompt.id": "p1" };

test("Claude Code's events are a conversation; with raw bodies, calls as they were sent", () => {
  const prompt = log({ event: "user_prompt", attributes: { ...claudeSession, prompt: "list files" } });
  const usage = { input_tokens: 10, output_tokens: 2, cache_read_tokens: 5, cache_creation_tokens: 1 };
  const request = log({
    ...{ at: 5, event: "api_request" },
    attributes: { ...claudeSession, ...usage, model: "claude", request_id: "req_1", duration_ms: 30, ttft_ms: 9 },
  });
  const answer = log({
    ...{ at: 5, event: "assistant_response" },
    attributes: { ...claudeSession, response: "I list.", request_id: "req_1", model: "claude" },
  });
  const tool = [
    log({ at: 6, event: "tool_decision", attributes: { ...claudeSession, tool_use_id: "t1", decision: "accept" } }),
    log({
      ...{ at: 7, event: "tool_result" },
      attributes: {
        ...claudeSession,
        tool_use_id: "t1",
        tool_name: "Bash",
        tool_input: '{"command":"ls"}',
        success: "false",
        error: "no",
        duration_ms: "8",
      },
    }),
  ];
  const failed = log({
    at: 9,
    event: "api_error",
    attributes: { ...claudeSession, error: "overloaded", status_code: 529, model: "claude" },
  });
  const logs = [prompt, request, answer, ...tool, failed];
  const counts = { input_tokens: 10, output_tokens: 2, cache_read_input_tokens: 5, cache_creation_input_tokens: 1 };
  expect(derive({ scope: claude, logs })).toMatchObject([
    { kind: "message", session_id: "s", role: "user", content: "list files" },
    { kind: "message", role: "assistant", content: "I list.", extra: { request_id: "req_1", usage: counts } },
    {
      kind: "tool_call",
      tool: "Bash",
      args: { command: "ls" },
      is_error: true,
      result: "no",
      duration_ms: 8,
      extra: { decision: "accept" },
    },
    { kind: "error", error: "overloaded", context: "claude, status 529" },
  ]);
  // Where the transcript is read, it tells of words and runs itself.
  expect(derive({ scope: claude, logs, transcribed: ["s"] }).map(({ kind }) => kind)).toEqual(["error"]);
  const sent = {
    model: "claude",
    system: "terse",
    messages: [{ role: "user", content: "list files" }],
    tools: [{ name: "Bash" }],
  };
  const said = {
    id: "msg_1",
    content: [
      { type: "text", text: "I list." },
      { type: "tool_use", id: "t1", name: "Bash", input: {} },
    ],
  };
  const bodies = [
    log({
      at: 4,
      event: "api_request_body",
      attributes: { ...claudeSession, body: JSON.stringify(sent), request_body_id: "b1" },
    }),
    log({
      ...{ at: 5, event: "api_response_body" },
      attributes: { ...claudeSession, body: JSON.stringify(said), request_body_id: "b1", request_id: "req_1" },
    }),
  ];
  const whole = derive({ scope: claude, logs: [...logs, ...bodies] });
  expect(whole.map(({ kind }) => kind)).toEqual(["interaction", "tool_call", "error"]);
  expect(whole[0]).toMatchObject({
    ...{ prompt: "list files", response: "I list.", usage: counts, latency_ms: 30, first_token_ms: 9 },
    context_pack: { messages: sent.messages, system: "terse", tools: sent.tools },
    extra: { message_id: "msg_1", request_id: "req_1" },
  });
});

test("Claude Code's spans and events of one run are one call, and its requests count once", () => {
  const scope = { name: "com.anthropic.claude_code.tracing" };
  const session = { "session.id": "s" };
  const tool = { ...session, "span.type": "tool", tool_name: "Bash", tool_use_id: "t1", full_command: "ls" };
  const spans = [
    span({
      id: "a1",
      parent: "a0",
      attributes: { ...session, "span.type": "llm_request", request_id: "req_1", input_tokens: 10, output_tokens: 2 },
    }),
    span({
      id: "a3",
      parent: "a2",
      at: 6,
      attributes: { ...session, "span.type": "tool.execution", tool_use_id: "t1", success: false },
      failed: "Shell command failed",
    }),
    span({ id: "a2", parent: "a0", at: 5, attributes: tool }),
    span({ id: "a0", attributes: { ...session, "span.type": "interaction", user_prompt: "list files" } }),
  ];
  const entries = derive({ scope, spans });
  expect(entries.map(({ kind }) => kind)).toEqual(["raw", "session_info", "tool_call"]);
  expect(entries[2]).toMatchObject({
    tool: "Bash",
    args: { command: "ls" },
    is_error: true,
    result: "Shell command failed",
  });
});

test("Codex's events: prompts, tool runs with their output, tokens and refused calls", () => {
  const common = { "conversation.id": "s", model: "gpt-5.3-codex" };
  const event = (name: string, attributes: JsonObject, at = 0) =>
    log({
      at,
      event: "event otel/src/events.rs:1",
      attributes: { ...common, "event.name": name, ...(attributes as never as object) },
    });
  const entries = derive({
    scope: { name: "codex_otel.log_only" },
    logs: [
      event("codex.user_prompt", { prompt: "list files" }),
      event("codex.user_prompt", { prompt: "[REDACTED]" }, 1),
      event(
        "codex.sse_event",
        {
          "event.kind": "response.completed",
          input_token_count: "20",
          output_token_count: "3",
          cached_token_count: "4",
        },
        2,
      ),
      event("codex.sse_event", { "event.kind": "response.created" }, 2),
      event(
        "codex.tool_result",
        {
          tool_name: "exec_command",
          call_id: "c1",
          arguments: '{"cmd":"ls"}',
          output: "a.txt",
          success: "true",
          duration_ms: "9",
        },
        3,
      ),
      event("codex.api_request", { "http.response.status_code": "500", endpoint: "/responses" }, 4),
    ],
  });
  expect(entries.filter(({ kind }) => kind !== "session_info")).toMatchObject([
    { kind: "message", session_id: "s", role: "user", content: "list files" },
    {
      kind: "raw",
      source: "otlp.call",
      extra: { model: "gpt-5.3-codex", usage: { input_tokens: 20, cached_input_tokens: 4 } },
    },
    {
      kind: "tool_call",
      tool: "exec_command",
      args: { cmd: "ls" },
      result: "a.txt",
      duration_ms: 9,
      tool_call_id: "c1",
    },
    { kind: "error", error: "status 500", context: "/responses" },
  ]);
});

test("Gemini CLI: a call in a span and in an event is one call", () => {
  const usage = { "gen_ai.usage.input_tokens": 11, "gen_ai.usage.output_tokens": 3 };
  const session = { "session.id": "s", "gen_ai.conversation.id": "s" };
  const pieces = [
    { role: "model", parts: [{ text: "I will" }] },
    { role: "model", parts: [{ text: " run it." }] },
  ];
  const asked = [
    { role: "user", parts: [{ text: "<session_context>\nToday" }] },
    { role: "user", parts: [{ text: "list files" }] },
  ];
  const llm = span({
    id: "a1",
    attributes: {
      ...session,
      ...usage,
      "gen_ai.operation.name": "llm_call",
      "gen_ai.input.messages": JSON.stringify(asked),
      "gen_ai.output.messages": JSON.stringify(pieces),
    },
  });
  const details = log({
    event: "gen_ai.client.inference.operation.details",
    attributes: {
      ...session,
      ...usage,
      "gen_ai.input.messages": JSON.stringify(asked),
      "gen_ai.output.messages": JSON.stringify([
        { role: "system", parts: [{ type: "text", content: "I will run it." }] },
      ]),
    },
  });
  const scope = { name: "gemini-cli" };
  const [fromSpan, ...none] = derivedOf(derive({ scope, spans: [llm], logs: [details] }), "interaction");
  expect(none).toEqual([]);
  expect(fromSpan).toMatchObject({ prompt: "list files", response: "I will run it.", session_id: "s" });
  const [fromLog] = derivedOf(derive({ scope, logs: [details] }), "interaction");
  expect(fromLog?.id).toBe(fromSpan?.id);
});

test("spans that no dialect knows mean nothing", () => {
  const http = span({ id: "a1", name: "GET /", attributes: { "http.method": "GET" }, failed: "status 500" });
  expect(derive({ spans: [http], logs: [log({ trace: TRACE, event: "started" })] })).toEqual([]);
});
