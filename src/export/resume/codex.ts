// A session as Codex writes it: a rollout of items, each with its time, in the form without a history mode; a compaction holds
// the items that stay.
import { join } from "node:path";
import type { Content } from "../../model/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { groupToOpenAi } from "../../sessions/history/openai.js";
import type { CompactionStep, ConversationStep, SaidStep } from "./conversation.js";
import { type ResumePlace, type ResumeTarget, RisingTimes, type WrittenSession } from "./target.js";

/** The newest version whose `resume` was seen to take such a file. */
const VERSION = "0.169.0";
/** What it puts before the model again by itself. */
const ADDED_AGAIN = new Set(["environment", "file", "other"]);
/** What is kept of the first line of the tool's own file. */
const META = ["originator", "model_provider", "base_instructions", "instructions", "git"];

export const codexTarget: ResumeTarget = {
  tool: "codex",
  home: { variable: "CODEX_HOME", folder: ".codex" },
  path: ({ id, began_ms }) => {
    const time = localTime(began_ms);
    const [year = "", month = "", day = ""] = time.slice(0, 10).split("-");
    return join("sessions", year, month, day, `rollout-${time}-${id}.jsonl`);
  },
  others: {
    folders: ["sessions", "archived_sessions"],
    matches: (name, id) => /\/rollout-[^/]*\.jsonl(?:\.zst)?$/.test(`/${name}`) && name.includes(id),
  },
  lines: (session, place) => new CodexLines(session, place).all(),
  command: (id) => `codex resume ${id}`,
};

/** In the machine's zone, as its file names have it. */
function localTime(ms: number): string {
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replaceAll(":", "-");
}

class CodexLines {
  readonly #session: WrittenSession;
  readonly #place: ResumePlace;
  readonly #times = new RisingTimes();
  /** The items that the model was given of each entry, by its position. */
  readonly #items = new Map<number, readonly JsonObject[]>();

  constructor(session: WrittenSession, place: ResumePlace) {
    this.#session = session;
    this.#place = place;
  }

  *all(): Generator<JsonObject> {
    const { conversation, began_ms } = this.#session;
    yield this.#line("session_meta", new Date(began_ms).toISOString(), this.#meta());
    for (const step of conversation.steps) yield* this.#step(step);
  }

  /** The first line, with what is known of the tool's own. */
  #meta(): JsonObject {
    const { conversation, id, is_own, began_ms } = this.#session;
    const record = is_own
      ? conversation.raws.find(({ record }) => record.id === id && "cli_version" in record)?.record
      : undefined;
    const known = Object.fromEntries(
      META.flatMap((name): readonly [string, JsonValue][] => {
        const value = record?.[name];
        return value === undefined ? [] : [[name, value]];
      }),
    );
    return {
      ...{ id, timestamp: new Date(began_ms).toISOString(), cwd: this.#place.cwd, originator: "codex_cli_rs" },
      ...{ cli_version: is_own && conversation.version !== "" ? conversation.version : VERSION, source: "cli" },
      ...known,
    };
  }

  *#step(step: ConversationStep): Generator<JsonObject> {
    if (step.is === "compaction") yield* this.#compaction(step);
    else if (step.is === "system") this.#session.conversation.left_out.system += 1;
    else if (step.group.type === "assistant") yield* this.#answer(step);
    else yield* this.#user(step);
  }

  *#user({ group, entry }: SaidStep): Generator<JsonObject> {
    const injected = entry.kind === "message" ? entry.injected : "";
    const isAdded =
      injected !== "" && (ADDED_AGAIN.has(injected) || (!this.#session.is_own && injected === "reminder"));
    if (isAdded) {
      this.#session.conversation.left_out.injected += 1;
      return;
    }
    const [message] = groupToOpenAi(group, { include_reasoning: false });
    const content = inputParts((message?.content ?? "") as Content);
    const item: JsonObject = { type: "message", role: "user", content };
    this.#keep(entry.position, item);
    yield this.#line("response_item", entry.created_at, item);
    if (injected !== "") return;
    const texts = content.flatMap((part) => (part.type === "input_text" ? [String(part.text)] : []));
    const images = content.flatMap((part) => (part.type === "input_image" ? [part.image_url ?? ""] : []));
    const event = { type: "user_message", message: texts.join("\n"), ...(images.length === 0 ? {} : { images }) };
    yield this.#line("event_msg", entry.created_at, event);
  }

  *#answer({ group, entry, results }: SaidStep): Generator<JsonObject> {
    for (const thought of this.#thoughts(entry.extra)) {
      yield this.#line("response_item", entry.created_at, this.#keep(entry.position, thought));
    }
    const [message, ...answers] = groupToOpenAi(group, { include_reasoning: false });
    const text = textIn((message?.content ?? "") as Content);
    if (text !== "") {
      const content = [{ type: "output_text", text }];
      const item = this.#keep(entry.position, { type: "message", role: "assistant", content });
      yield this.#line("response_item", entry.created_at, item);
      yield this.#line("event_msg", entry.created_at, { type: "agent_message", message: text });
    }
    for (const { call } of group.calls) {
      // The tool's own calls with plain text, such as patches, are of another type.
      const { id: call_id, name, arguments: given } = call;
      const item = isObjectText(given)
        ? { type: "function_call", name, arguments: given, call_id }
        : { type: "custom_tool_call", name, input: given, call_id, status: "completed" };
      yield this.#line("response_item", entry.created_at, this.#keep(entry.position, item));
    }
    for (const [nth, { call }] of group.calls.entries()) {
      const result = results[nth];
      const output = textIn((answers[nth]?.content ?? "") as Content);
      const type = isObjectText(call.arguments) ? "function_call_output" : "custom_tool_call_output";
      const item = this.#keep(result?.position ?? entry.position, { type, call_id: call.id, output });
      yield this.#line("response_item", result?.created_at ?? entry.created_at, item);
    }
  }

  /** Reasoning as the provider wrote it, for the tool that it was written for. */
  #thoughts({ reasoning_details: details }: JsonObject): readonly JsonObject[] {
    if (!this.#session.is_own || !Array.isArray(details)) return [];
    return details.filter(isJsonObject).filter(({ type }) => type === "reasoning");
  }

  *#compaction({ entry }: CompactionStep): Generator<JsonObject> {
    if (entry.summary.trim() === "") return;
    const summary = { type: "message", role: "user", content: [{ type: "input_text", text: entry.summary }] };
    const kept = entry.kept.flatMap((position) => this.#items.get(position) ?? []);
    // Its own summaries follow what they leave; the history of any other begins with the summary.
    const replacement_history = this.#session.is_own ? [...kept, summary] : [summary, ...kept];
    yield this.#line("compacted", entry.created_at, { message: entry.summary, replacement_history });
  }

  #keep(position: number, item: JsonObject): JsonObject {
    this.#items.set(position, [...(this.#items.get(position) ?? []), item]);
    return item;
  }

  #line(type: string, created_at: string, payload: JsonObject): JsonObject {
    return { timestamp: this.#times.of(created_at).iso, type, payload };
  }
}

function inputParts(content: JsonValue | readonly JsonValue[]): readonly JsonObject[] {
  if (typeof content === "string") return [{ type: "input_text", text: content }];
  return (content as readonly JsonValue[]).filter(isJsonObject).map((part): JsonObject => {
    const image = isJsonObject(part.image_url) ? part.image_url.url : undefined;
    if (typeof image === "string") return { type: "input_image", image_url: image };
    return { type: "input_text", text: typeof part.text === "string" ? part.text : JSON.stringify(part) };
  });
}

function textIn(content: JsonValue | readonly JsonValue[]): string {
  if (typeof content === "string") return content;
  return (content as readonly JsonValue[])
    .map((part) => (isJsonObject(part) && typeof part.text === "string" ? part.text : JSON.stringify(part)))
    .join("\n");
}

function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
