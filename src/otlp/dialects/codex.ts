// Codex's events. They have prompts, tool runs and tokens, and no answers; its spans are about its own work.
import type { JsonObject } from "../../model/json.js";
import { type Attributes, numberAt, textAt, valueAt } from "../attributes.js";
import type { Dialect, LogMeaning } from "../meaning.js";
import type { LogItem } from "../telemetry-items.js";
import { isHidden } from "./claude-code.js";

export const codex: Dialect = {
  name: "codex",
  logs: (logs) =>
    logs.flatMap((log) => {
      const read = Object.hasOwn(readers, log.event) ? readers[log.event] : undefined;
      const meaning = read?.(log.attributes, log);
      return meaning === undefined ? [] : [{ log, meaning }];
    }),
};

const readers: { readonly [event: string]: (attributes: Attributes, log: LogItem) => LogMeaning | undefined } = {
  "codex.user_prompt"(attributes) {
    const content = textAt(attributes, "prompt");
    return content === undefined || isHidden(content) ? undefined : { is: "message", role: "user", content };
  },
  "codex.tool_result"(attributes) {
    const call_id = textAt(attributes, "call_id");
    return {
      is: "tool",
      tool: textAt(attributes, "tool_name") ?? "unknown",
      args: valueAt(attributes, "arguments"),
      result: textAt(attributes, "output"),
      call_id,
      duration_ms: numberAt(attributes, "duration_ms"),
      ...(String(attributes.success) === "false" ? { is_error: true } : {}),
      unique: call_id === undefined ? undefined : `codex ${call_id}`,
    };
  },
  "codex.sse_event"(attributes) {
    const kind = textAt(attributes, "event.kind");
    const error = textAt(attributes, "error.message");
    if (error !== undefined) return { is: "error", error, context: kind ?? "" };
    const usage = usageIn(attributes);
    if (kind !== "response.completed" || usage === undefined) return undefined;
    const first_token_ms = numberAt(attributes, "ttft_ms");
    return { is: "call", messages: [], model: textAt(attributes, "model"), usage, first_token_ms };
  },
  "codex.api_request"(attributes) {
    const status = numberAt(attributes, "http.response.status_code");
    const error =
      textAt(attributes, "error.message") ?? (status !== undefined && status >= 400 ? `status ${status}` : "");
    return error === "" ? undefined : { is: "error", error, context: textAt(attributes, "endpoint", "model") ?? "" };
  },
};

function usageIn(attributes: Attributes): JsonObject | undefined {
  const input_tokens = numberAt(attributes, "input_token_count");
  if (input_tokens === undefined) return undefined;
  return {
    input_tokens,
    output_tokens: numberAt(attributes, "output_token_count") ?? 0,
    cached_input_tokens: numberAt(attributes, "cached_token_count") ?? 0,
    reasoning_output_tokens: numberAt(attributes, "reasoning_token_count") ?? 0,
  };
}
