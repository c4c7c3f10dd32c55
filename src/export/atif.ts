// One session as a trajectory in ATIF, the interchange form: steps of user, system and agent, each with what its tools gave
// back. Secrets are masked, since people pass such files on.

import type { Head } from "../log/port.js";
import { valueText } from "../model/content.js";
import { contentText } from "../model/content-parts.js";
import type { Entry, EntryOf } from "../model/entry.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { readRole } from "../model/roles.js";
import { readUsage, tokenNames } from "../model/usage.js";
import { givenTokens } from "../usage/price-table.js";
import type { ExportQuery } from "./exports.js";
import { type ExportParts, readable, selectEntries, Withdrawn } from "./selection.js";

type Step = { [name: string]: JsonValue };

export async function* exportAtif(
  parts: ExportParts,
  { query, head }: { readonly query: ExportQuery; readonly head: Head },
): AsyncGenerator<string> {
  const session_id = query.filter.session_id as string;
  const summary = await parts.sessionSummary(session_id);
  if (summary === undefined) return;
  const { agent, source, version } = summary.metadata;
  const name = isJsonObject(source) && typeof source.tool === "string" ? source.tool : (summary.clients[0] ?? "agent");
  const known = {
    name,
    version: typeof version === "string" ? version : "unknown",
    ...(isJsonObject(agent) ? agent : {}),
  };
  const steps = new Steps();
  yield `{"schema_version":"ATIF-v1.7","session_id":${JSON.stringify(session_id)},"agent":${JSON.stringify(parts.mask.value(known))},"steps":[`;
  // In a session without messages the interactions are the conversation.
  const [first] = await parts.sessionPositions({ session_id, order: "asc", limit: 1, kinds: ["message"] });
  const withdrawn = await Withdrawn.in(parts, session_id);
  for await (const stored of selectEntries(parts, { filter: query.filter, head })) {
    const entry = readable(stored);
    if (entry !== undefined && !withdrawn.leavesOut(entry))
      yield* steps.take(parts.mask.entry(entry), first !== undefined);
  }
  yield* steps.end();
  yield `\n],"final_metrics":${JSON.stringify(steps.metrics())}}\n`;
}

/** Steps on their way out; that of an agent stays open for the results of its calls. */
class Steps {
  #count = 0;
  #open: Step | undefined;
  #results: Step[] = [];
  #prompt = 0;
  #completion = 0;
  #cached = 0;

  metrics(): JsonObject {
    return {
      total_prompt_tokens: this.#prompt,
      total_completion_tokens: this.#completion,
      ...(this.#cached === 0 ? {} : { total_cached_tokens: this.#cached }),
      total_steps: this.#count,
    };
  }

  *take(entry: Entry, hasMessages: boolean): Generator<string> {
    if (entry.kind === "message") yield* this.#message(entry);
    else if (entry.kind === "tool_call") yield* this.#toolCall(entry);
    else if (entry.kind === "error") yield* this.#error(entry, entry.error);
    else if (entry.kind === "interaction" && !hasMessages) {
      yield* this.#add(entry, { source: "user", message: entry.prompt });
      yield* this.#answer(entry);
    } else if (entry.kind === "response" && !hasMessages) yield* this.#answer(entry);
  }

  *end(): Generator<string> {
    if (this.#open === undefined) return;
    const observation = this.#results.length === 0 ? {} : { observation: { results: this.#results } };
    yield `${this.#count === 1 ? "" : ","}\n${JSON.stringify({ ...this.#open, ...observation })}`;
    this.#open = undefined;
    this.#results = [];
  }

  /** What an interaction was answered with, at once or later, or why its call failed. */
  *#answer(entry: EntryOf<"interaction"> | EntryOf<"response">): Generator<string> {
    const { response: message, error, model, usage } = entry;
    if (message !== "") yield* this.#add(entry, { source: "agent", message, ...this.#spent(entry, { model, usage }) });
    if (error !== "") yield* this.#error(entry, error);
  }

  *#error(entry: Entry, message: string): Generator<string> {
    yield* this.#add(entry, { source: "system", message, extra: { kind: "error" } });
  }

  *#message(entry: EntryOf<"message">): Generator<string> {
    const role = readRole(entry.role);
    const message = contentText(entry.content ?? "");
    if (role === "tool") {
      yield* this.#result(entry, { call_id: entry.tool_call_id, tool: entry.name, content: message });
      return;
    }
    const { extra, injected } = entry;
    const about: Step = injected === "" ? {} : { extra: { injected } };
    if (role !== "assistant") return yield* this.#add(entry, { source: role, message, ...about });
    const calls = entry.tool_calls.map(toCall);
    yield* this.#add(entry, {
      source: "agent",
      message,
      ...(typeof extra.reasoning_content === "string" ? { reasoning_content: extra.reasoning_content } : {}),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...this.#spent(entry, extra),
    });
  }

  *#toolCall(entry: EntryOf<"tool_call">): Generator<string> {
    const { tool, args, tool_call_id: call_id, is_error } = entry;
    yield* this.#result(entry, { call_id, tool, args, content: valueText(entry.result), is_error: is_error === true });
  }

  /** A result that answers no call of the open step gets a step with a call of its own. */
  *#result(
    entry: Entry,
    result: { call_id: string; tool: string; content: string; args?: JsonObject; is_error?: boolean },
  ): Generator<string> {
    const { call_id, tool, content, args = {}, is_error = false } = result;
    const calls = this.#open?.tool_calls;
    const isKnown = Array.isArray(calls) && calls.some((call) => isJsonObject(call) && call.tool_call_id === call_id);
    const id = call_id === "" ? `call-${entry.position}` : call_id;
    if (!isKnown) {
      const call = { tool_call_id: id, function_name: tool || "unknown", arguments: args };
      yield* this.#add(entry, { source: "agent", message: "", tool_calls: [call] });
    }
    this.#results.push({ source_call_id: id, content, extra: { tool: tool || "unknown", is_error } });
  }

  *#add(entry: Entry, step: Step): Generator<string> {
    yield* this.end();
    this.#count += 1;
    this.#open = { step_id: this.#count, timestamp: entry.created_at, ...step };
  }

  /** Its prompt has what came from the cache in it, which not every provider counts as input. */
  #spent({ client }: Entry, { model, usage }: { readonly [name: string]: JsonValue | undefined }): Step {
    const name = typeof model === "string" ? model : "";
    return { ...(name === "" ? {} : { model_name: name }), ...this.#metricsOf({ client, model: name, usage }) };
  }

  #metricsOf(call: { readonly client: string; readonly model: string; readonly usage: JsonValue | undefined }): Step {
    const read = readUsage(call.usage);
    if (read === undefined) return {};
    const { usage, ...counting } = read;
    const { given } = givenTokens({ ...call, ...counting, tokens: tokenNames.map((name) => usage[name] ?? 0) });
    const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens } = usage;
    this.#prompt += given;
    this.#completion += output_tokens ?? 0;
    this.#cached += cache_read_tokens ?? 0;
    const extra = {
      ...(cache_write_tokens === undefined ? {} : { cache_write_tokens }),
      ...(reasoning_tokens === undefined ? {} : { reasoning_tokens }),
    };
    const metrics = {
      ...(input_tokens === undefined ? {} : { prompt_tokens: given }),
      ...(output_tokens === undefined ? {} : { completion_tokens: output_tokens }),
      ...(cache_read_tokens === undefined ? {} : { cached_tokens: cache_read_tokens }),
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
    };
    return { metrics };
  }
}

function toCall(call: JsonObject): JsonObject {
  const inner = isJsonObject(call.function) ? call.function : call;
  const text = inner.arguments ?? {};
  let args: JsonValue = text;
  try {
    args = typeof text === "string" ? (JSON.parse(text) as JsonValue) : text;
  } catch {
    args = { _raw: text };
  }
  return {
    tool_call_id: call.id ?? "",
    function_name: inner.name ?? "unknown",
    arguments: isJsonObject(args) ? args : { _raw: args },
  };
}
