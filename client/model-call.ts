// A model call as an interaction: what was asked from the request's bytes, what was answered from those that came back.
import type { Broken } from "./broken-call.js";
import type { InteractionInput } from "./entries.js";
import {
  contentText,
  errorText,
  isJson,
  type Json,
  listAt,
  type Provider,
  type ProviderAnswer,
  type RecordedRequest,
} from "./providers/provider.js";
import { snapshot } from "./snapshot.js";

export interface ModelCall {
  readonly provider: Provider;
  readonly path: string;
  readonly request: string;
  readonly status: number | undefined;
  /** The provider's name for the request, from the answer's headers. */
  readonly request_id: string | undefined;
  readonly isStream: boolean;
  /** What came back, as far as it came. */
  readonly answer: string;
  /** Why it did not come whole, where the connection or the caller ended it. */
  readonly broken: Broken | undefined;
  /** Whether it has not been answered yet. */
  readonly isPending?: boolean | undefined;
}

/** Undefined where the request is no JSON, and so no model call. */
export function toInteraction(call: ModelCall): Omit<InteractionInput, "latency_ms"> | undefined {
  const body = parsed(call.request);
  if (!isJson(body)) return undefined;
  const given = call.provider.given(body, call.path);
  const documents = call.isStream ? eventsOf(call.answer) : [parsed(call.answer)].flat();
  const { broken } = call;
  const answer = call.provider.answer(documents.filter(isJson));
  const { model = given.model, text, usage, tool_calls, content, message_id, finish_reason } = answer;
  const error = call.isPending === true ? undefined : errorOf(call, answer);
  const extra = defined({
    message_id,
    request_id: call.request_id,
    finish_reason,
    content,
    tool_calls: tool_calls.length === 0 ? undefined : tool_calls,
    request: given.settings,
    error_kind: error?.kind,
  });
  return {
    prompt: toPrompt(given.messages),
    // Of a document that did not come whole, what came of it.
    response: text === "" && broken !== undefined && !call.isStream && !documents.some(isJson) ? call.answer : text,
    ...(error === undefined ? {} : { error: error.reason }),
    ...(model === undefined ? {} : { model }),
    ...(usage === undefined ? {} : { usage }),
    context_pack: defined({ messages: given.messages, system: given.system, tools: given.tools }),
    extra,
  };
}

/** What the user said last, without what a program put there; where only results of tools came back, their words. */
export function toPrompt(messages: RecordedRequest["messages"]): string {
  const users = messages.filter((message) => isJson(message) && message.role === "user");
  const said = users.map((message) => typedText((message as Json).content)).findLast((text) => text.trim() !== "");
  const results = listAt({ last: [messages.at(-1)] }, "last").flatMap((message) =>
    listAt(message, "content").map(({ content }) => contentText(content)),
  );
  const words = said ?? results.join("\n");
  if (words.trim() !== "") return words;
  return JSON.stringify(snapshot(messages.at(-1))) ?? "(nothing was said)";
}

const REMINDER = /^\s*<system-reminder>/;

/** Coding agents put reminders into the user's message, as parts of their own. */
function typedText(content: unknown): string {
  if (!Array.isArray(content)) return REMINDER.test(contentText(content)) ? "" : contentText(content);
  return contentText(content.filter((part) => !REMINDER.test(contentText([part]))));
}

type CallError = { readonly kind: Broken["kind"] | "status" | "provider" | "incomplete"; readonly reason: string };

/** What the provider says comes before what that led to: a program that reads of an error stops reading. */
function errorOf({ status, answer: text, broken, isStream }: ModelCall, answer: ProviderAnswer): CallError | undefined {
  if (status !== undefined && (status < 200 || status > 299)) {
    const said = [errorText([parsed(text)].flat()[0]) ?? text.trim(), broken?.reason].filter(Boolean).join("; ");
    return { kind: "status", reason: `status ${status}${said === "" ? "" : `: ${said.slice(0, ERROR_CHARS_MAX)}`}` };
  }
  if (answer.error !== undefined) return { kind: "provider", reason: answer.error };
  if (answer.is_whole && broken?.kind !== "unreadable") return undefined;
  if (broken !== undefined) return broken;
  const reason = isStream ? "the stream ended before the answer was complete" : "the answer has an unknown format";
  return { kind: "incomplete", reason };
}

/** An error page may have any length, and says what it says in its first lines. */
const ERROR_CHARS_MAX = 2_000;

/** The documents of a stream of server-sent events; what is no JSON, such as `[DONE]`, is none. */
function eventsOf(text: string): readonly unknown[] {
  return text.split(/\r\n\r\n|\n\n|\r\r/).map((event) => {
    const lines = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"));
    return parsed(lines.map((line) => line.slice(5).replace(/^ /, "")).join("\n"));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function defined(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
