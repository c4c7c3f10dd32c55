// A stand-in for a model server, so the examples run offline: it speaks the four shapes of OpenAI (chat completions and
// responses), Anthropic and Gemini, streamed and whole, and answers with what it was told. It streams in pieces of a few bytes,
// as networks may: an event, or a character, can lie across two of them.
//
//   node examples/stand-in-model.mjs 8080
//
// Words in the last message bring trouble about: "fail 429", "error page", "break off", "slowly", "never end".
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

const PIECE_BYTES = 7;

/**
 * An answer has an id of its own, as those of a provider have: tokens of one id are counted once.
 *
 * @param {{ port?: number, newId?: () => string }} [options]
 */
export async function startModel({ port = 0, newId = randomUUID } = {}) {
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => void answer({ url: request.url ?? "", text, id: newId() }, response));
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(undefined)));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    address: `http://127.0.0.1:${address.port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * @param {{ url: string, text: string, id: string }} request
 * @param {import("node:http").ServerResponse} response
 */
async function answer({ url, text, id }, response) {
  response.setHeader("request-id", "req_1");
  const path = url.replace(/\?.*$/, "");
  const shape = shapes.find(({ serves }) => serves.test(path));
  const body = parse(text);
  if (shape === undefined || body === undefined) {
    response.writeHead(shape === undefined ? 404 : 400, { "content-type": "text/html" }).end("<h1>Not here</h1>");
    return;
  }
  const said = shape.said(body);
  const { words, isResult } = said;
  if (words.includes("fail 429")) {
    response.writeHead(429, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { type: "rate_limit_error", message: "too many requests" } }));
    return;
  }
  if (words.includes("error page")) {
    response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway: é</html>");
    return;
  }
  const isCall = /weather/.test(words) && !isResult && body.tools !== undefined;
  const heard = isCall ? "" : `You said: ${words} 👋🏽 é`;
  const reply = { id, text: heard, call: isCall ? { city: "Köln" } : undefined };
  if (!shape.isStream(body, path)) {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(shape.whole(reply)));
    return;
  }
  await stream(response, shape.events(reply), words);
}

/**
 * @param {import("node:http").ServerResponse} response
 * @param {readonly ({ event?: string } & { [name: string]: unknown } | string)[]} events
 * @param {string} words
 */
async function stream(response, events, words) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const lines = events.map((event) => {
    const name = typeof event === "object" && typeof event.type === "string" ? `event: ${event.type}\n` : "";
    return `${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;
  });
  const bytes = Buffer.from(lines.join(""));
  const end = /break off|never end/.test(words) ? Math.floor(bytes.length * 0.6) : bytes.length;
  for (let at = 0; at < end; at += PIECE_BYTES) {
    response.write(bytes.subarray(at, Math.min(at + PIECE_BYTES, end)));
    await new Promise((resolve) => setTimeout(resolve, words.includes("slowly") ? 20 : 0));
  }
  if (words.includes("break off")) response.destroy();
  else if (!words.includes("never end")) response.end();
}

/** @typedef {{ id: string, text: string, call: { city: string } | undefined }} Reply */

const usage = { input: 11, output: 7, cached: 3, thought: 2 };

/** @param {any[]} messages @param {(message: any) => unknown} contentOf */
function lastOf(messages, contentOf) {
  const words = (/** @type {any} */ content) =>
    typeof content === "string" ? content : (content ?? []).map((/** @type {any} */ part) => part.text ?? "").join("");
  const texts = messages.map((message) => words(contentOf(message)));
  return texts.findLast((text) => text !== "") ?? "";
}

const chatUsage = {
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  prompt_tokens_details: { cached_tokens: usage.cached },
  completion_tokens_details: { reasoning_tokens: usage.thought },
};

const chat = {
  serves: /\/chat\/completions$/,
  /** @param {any} body */
  isStream: (body) => body.stream === true,
  /** @param {any} body */
  said: ({ messages }) => ({
    words: lastOf(
      messages.filter((/** @type {any} */ one) => one.role === "user"),
      ({ content }) => content,
    ),
    isResult: messages.at(-1)?.role === "tool",
  }),
  /** @param {Reply} reply */
  whole: ({ id, text, call }) => ({
    ...{ id: `chatcmpl-${id}`, object: "chat.completion", created: 1, model: "stand-in-1", usage: chatUsage },
    choices: [
      {
        index: 0,
        finish_reason: call === undefined ? "stop" : "tool_calls",
        message: {
          role: "assistant",
          content: call === undefined ? text : null,
          ...(call && { tool_calls: [chatCall(call)] }),
        },
      },
    ],
  }),
  /** @param {Reply} reply */
  events: ({ id, text, call }) => {
    const chunk = (/** @type {object} */ choice, more = {}) => ({
      ...{ id: `chatcmpl-${id}`, object: "chat.completion.chunk", created: 1, model: "stand-in-1" },
      choices: [{ index: 0, finish_reason: null, ...choice }],
      ...more,
    });
    const { function: made, ...head } = chatCall(call ?? { city: "" });
    const calls = [
      chunk({ delta: { tool_calls: [{ index: 0, ...head, function: { name: made.name, arguments: "" } }] } }),
      ...halves(made.arguments).map((args) =>
        chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: args } }] } }),
      ),
    ];
    return [
      chunk({ delta: { role: "assistant", content: "" } }),
      ...(call === undefined ? halves(text).map((content) => chunk({ delta: { content } })) : calls),
      chunk({ delta: {}, finish_reason: call === undefined ? "stop" : "tool_calls" }),
      { ...chunk({}), choices: [], usage: chatUsage },
      "[DONE]",
    ];
  },
};

/** @param {{ city: string }} call */
function chatCall(call) {
  return { id: "call_1", type: "function", function: { name: "get_weather", arguments: JSON.stringify(call) } };
}

const responses = {
  serves: /\/responses$/,
  /** @param {any} body */
  isStream: (body) => body.stream === true,
  /** @param {any} body */
  said: ({ input }) => ({
    words: typeof input === "string" ? input : lastOf(input, ({ role, content }) => (role === "user" ? content : "")),
    isResult: Array.isArray(input) && input.at(-1)?.type === "function_call_output",
  }),
  /** @param {Reply} reply */
  whole: ({ id, text, call }, status = "completed") => ({
    ...{ id: `resp_${id}`, object: "response", created_at: 1, model: "stand-in-1", status, error: null, tools: [] },
    incomplete_details: null,
    output: call === undefined ? [responseMessage(text)] : [responseCall(call)],
    usage: {
      ...{ input_tokens: usage.input, output_tokens: usage.output, total_tokens: usage.input + usage.output },
      input_tokens_details: { cached_tokens: usage.cached },
      output_tokens_details: { reasoning_tokens: usage.thought },
    },
  }),
  /** @param {Reply} reply */
  events: (reply) => {
    const item = reply.call === undefined ? responseMessage(reply.text) : responseCall(reply.call);
    const begun = { ...responses.whole(reply, "in_progress"), output: [], usage: null };
    const open = reply.call === undefined ? { ...item, content: [] } : item;
    const part = { item_id: "msg_1", output_index: 0, content_index: 0 };
    const texts = [
      { type: "response.content_part.added", ...part, part: { type: "output_text", text: "", annotations: [] } },
      ...halves(reply.text).map((delta) => ({ type: "response.output_text.delta", ...part, delta })),
      { type: "response.output_text.done", ...part, text: reply.text },
    ];
    return [
      { type: "response.created", response: begun },
      { type: "response.output_item.added", output_index: 0, item: open },
      ...(reply.call === undefined ? texts : []),
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: responses.whole(reply) },
    ].map((event, sequence_number) => ({ ...event, sequence_number }));
  },
};

/** @param {string} text */
function responseMessage(text) {
  const content = [{ type: "output_text", text, annotations: [] }];
  return { id: "msg_1", type: "message", role: "assistant", status: "completed", content };
}

/** @param {{ city: string }} call */
function responseCall(call) {
  const args = JSON.stringify(call);
  return {
    id: "fc_1",
    type: "function_call",
    call_id: "call_1",
    name: "get_weather",
    arguments: args,
    status: "completed",
  };
}

const anthropicUsage = {
  input_tokens: usage.input,
  cache_read_input_tokens: usage.cached,
  cache_creation_input_tokens: 1,
};

const messages = {
  serves: /\/v1\/messages$/,
  /** @param {any} body */
  isStream: (body) => body.stream === true,
  /** @param {any} body */
  said: ({ messages: list }) => ({
    words: lastOf(
      list.filter((/** @type {any} */ one) => one.role === "user"),
      ({ content }) => content,
    ),
    isResult: Array.isArray(list.at(-1)?.content) && list.at(-1).content[0]?.type === "tool_result",
  }),
  /** @param {Reply} reply */
  whole: ({ id, text, call }) => ({
    ...{ id: `msg_${id}`, type: "message", role: "assistant", model: "stand-in-1" },
    content: call === undefined ? [{ type: "text", text }] : [toolUse(call)],
    ...{ stop_reason: call === undefined ? "end_turn" : "tool_use", stop_sequence: null },
    usage: { ...anthropicUsage, output_tokens: usage.output },
  }),
  /** @param {Reply} reply */
  events: (reply) => {
    const { text, call } = reply;
    const { content: _, stop_reason, ...message } = messages.whole(reply);
    const deltas =
      call === undefined
        ? halves(text).map((one) => ({ type: "text_delta", text: one }))
        : halves(JSON.stringify(call)).map((one) => ({ type: "input_json_delta", partial_json: one }));
    const block = call === undefined ? { type: "text", text: "" } : { ...toolUse(call), input: {} };
    return [
      {
        type: "message_start",
        message: { ...message, content: [], stop_reason: null, usage: { ...anthropicUsage, output_tokens: 1 } },
      },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "ping" },
      ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: usage.output } },
      { type: "message_stop" },
    ];
  },
};

/** @param {{ city: string }} call */
function toolUse(call) {
  return { type: "tool_use", id: "toolu_1", name: "get_weather", input: call };
}

const generateContent = {
  serves: /:(?:generateContent|streamGenerateContent)$/,
  /** @param {any} _ @param {string} path */
  isStream: (_, path) => path.endsWith(":streamGenerateContent"),
  /** @param {any} body */
  said: ({ contents }) => ({
    words: lastOf(
      contents.filter((/** @type {any} */ one) => one.role !== "model"),
      ({ parts }) => parts,
    ),
    isResult: contents.at(-1)?.parts?.[0]?.functionResponse !== undefined,
  }),
  /** @param {Reply} reply */
  whole: ({ id, text, call }) => candidate(id, call === undefined ? [{ text }] : [functionCall(call)], "STOP"),
  /** @param {Reply} reply */
  events: ({ id, text, call }) =>
    call === undefined
      ? [...halves(text).map((one) => candidate(id, [{ text: one }])), candidate(id, [{ text: "" }], "STOP")]
      : [candidate(id, [functionCall(call)], "STOP")],
};

/** @param {{ city: string }} call */
function functionCall(call) {
  return { functionCall: { id: "call_1", name: "get_weather", args: call } };
}

/** @param {string} id @param {object[]} parts @param {string} [finishReason] */
function candidate(id, parts, finishReason) {
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, ...(finishReason && { finishReason }) }],
    usageMetadata: {
      ...{ promptTokenCount: usage.input, candidatesTokenCount: usage.output },
      ...{ cachedContentTokenCount: usage.cached, thoughtsTokenCount: usage.thought },
    },
    ...{ modelVersion: "stand-in-1", responseId: `resp_${id}` },
  };
}

/** @type {readonly any[]} */
const shapes = [chat, responses, messages, generateContent];

/** @param {string} text */
function halves(text) {
  const middle = Math.floor(text.length / 2);
  const cut = /[\ud800-\udbff]/.test(text.charAt(middle - 1)) ? middle - 1 : middle;
  return [text.slice(0, cut), text.slice(cut)];
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

if (process.argv[1] !== undefined && import.meta.url.endsWith(process.argv[1].replace(/^.*\//, "/"))) {
  const { address } = await startModel({ port: Number(process.argv[2] ?? 0) });
  console.log(address);
}
