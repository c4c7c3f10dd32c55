// A session as pi writes it: a header, and entries that name their parent; a compaction names the first entry that stays.
import { hash } from "node:crypto";
import { join } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { groupWriter } from "../../sessions/history/anthropic.js";
import type { CompactionStep, ConversationStep, SaidStep } from "./conversation.js";
import { nativeId, type ResumePlace, type ResumeTarget, RisingTimes, type WrittenSession } from "./target.js";

const FORMAT_VERSION = 3;
/** What another tool adds to prompts by itself. */
const ADDED_BY_OTHERS = new Set(["environment", "file", "other", "reminder", "hook"]);
/** Settings that it goes on with. */
const SETTINGS = new Set(["model_change", "thinking_level_change"]);
/** Nothing has this id. */
const NO_ENTRY = "00000000";

/** By whose interface a model of another tool is asked. */
const providers: { readonly [tool: string]: { readonly provider: string; readonly api: string } } = {
  "claude-code": { provider: "anthropic", api: "anthropic-messages" },
  "gemini-cli": { provider: "google", api: "google-generative-ai" },
  codex: { provider: "openai", api: "openai-responses" },
};
const OTHER_PROVIDER = { provider: "openai", api: "openai-completions" };

export const piTarget: ResumeTarget = {
  tool: "pi",
  home: { variable: "PI_CODING_AGENT_DIR", folder: ".pi/agent" },
  path: ({ id, began_ms }, { cwd }) => {
    const folder = `--${cwd.replace(/^[/\\]/, "").replaceAll(/[/\\:]/g, "-")}--`;
    return join("sessions", folder, `${new Date(began_ms).toISOString().replaceAll(/[:.]/g, "-")}_${id}.jsonl`);
  },
  others: { folders: ["sessions"], matches: (name, id) => name.endsWith(`_${id}.jsonl`) },
  lines: (session, place) => new PiLines(session, place).all(),
  command: (id) => `pi --session ${id}`,
};

class PiLines {
  readonly #session: WrittenSession;
  readonly #place: ResumePlace;
  readonly #times = new RisingTimes();
  readonly #blocksOf = groupWriter();
  readonly #ids = new Set<string>();
  /** The first entry of each position. */
  readonly #written = new Map<number, string>();
  #parent: string | null = null;
  #provider: JsonObject;

  constructor(session: WrittenSession, place: ResumePlace) {
    this.#session = session;
    this.#place = place;
    this.#provider = providers[session.conversation.tool] ?? OTHER_PROVIDER;
  }

  *all(): Generator<JsonObject> {
    const { conversation, id, began_ms } = this.#session;
    const timestamp = new Date(began_ms).toISOString();
    yield { type: "session", version: FORMAT_VERSION, id, timestamp, cwd: this.#place.cwd };
    const settings = this.#session.is_own
      ? conversation.raws.filter(({ record }) => SETTINGS.has(String(record.type)))
      : [];
    let next = 0;
    for (const step of conversation.steps) {
      for (; next < settings.length; next += 1) {
        const setting = settings[next];
        if (setting === undefined || setting.position > step.entry.position) break;
        const { type: _, id: native, parentId: __, timestamp: ___, ...fields } = setting.record;
        const { provider } = fields;
        if (typeof provider === "string") this.#provider = { provider, api: String(fields.api ?? OTHER_PROVIDER.api) };
        yield this.#entry(String(setting.record.type), { ...setting, native: String(native) }, fields);
      }
      yield* this.#step(step);
    }
    if (conversation.title === "") return;
    const at = conversation.steps.at(-1)?.entry ?? { id: "title", position: 0, created_at: timestamp };
    yield this.#entry("session_info", { ...at, id: `${at.id} title`, position: 0 }, { name: conversation.title });
  }

  *#step(step: ConversationStep): Generator<JsonObject> {
    if (step.is === "compaction") yield* this.#compaction(step);
    else if (step.is === "system") this.#session.conversation.left_out.system += 1;
    else if (step.group.type === "assistant") yield* this.#answer(step);
    else yield* this.#user(step);
  }

  *#user({ group, entry, shell }: SaidStep): Generator<JsonObject> {
    const injected = entry.kind === "message" ? entry.injected : "";
    if (injected !== "" && !this.#session.is_own && ADDED_BY_OTHERS.has(injected)) {
      this.#session.conversation.left_out.injected += 1;
      return;
    }
    const { said } = this.#blocksOf(group);
    if (shell !== undefined && this.#session.is_own) {
      const { command } = shell.args;
      const exitCode = shell.is_error === true ? 1 : 0;
      const run = { role: "bashExecution", command: String(command ?? ""), output: textOf(shell.result), exitCode };
      yield this.#message(shell, { ...run, cancelled: false, truncated: false });
      return;
    }
    yield this.#message(entry, { role: "user", content: said.map(partOf) });
  }

  *#answer({ group, entry, results }: SaidStep): Generator<JsonObject> {
    const { said, results: answers } = this.#blocksOf(group);
    const { model, usage, message_id } = entry.extra;
    const name = entry.kind === "interaction" ? entry.model : model;
    const content = [...this.#thoughts(entry.extra), ...said.map(partOf)];
    yield this.#message(entry, {
      ...{
        role: "assistant",
        content,
        ...this.#provider,
        model: typeof name === "string" && name !== "" ? name : "unknown",
      },
      ...{ usage: this.#usage(usage), stopReason: group.calls.length > 0 ? "toolUse" : "stop" },
      ...(typeof message_id === "string" ? { responseId: message_id } : {}),
    });
    for (const [nth, { call }] of group.calls.entries()) {
      const result = results[nth] ?? entry;
      const { content: said = "", is_error = false, tool_use_id } = answers[nth] ?? {};
      const parts = Array.isArray(said)
        ? said.filter(isJsonObject).map(partOf)
        : [{ type: "text", text: String(said) }];
      const about = { toolCallId: tool_use_id ?? call.id, toolName: call.name };
      yield this.#message(result, { role: "toolResult", ...about, content: parts, isError: is_error });
    }
  }

  #thoughts({ reasoning_content: words, thinking_blocks: blocks }: JsonObject): readonly JsonObject[] {
    if (!this.#session.is_own) return [];
    const signed = Array.isArray(blocks) ? blocks.filter(isJsonObject) : [];
    const thoughts = signed.map(({ thinking, signature }) => ({
      ...{ type: "thinking", thinking: thinking ?? "", thinkingSignature: signature ?? "" },
    }));
    return typeof words === "string" && words !== "" ? [{ type: "thinking", thinking: words }, ...thoughts] : thoughts;
  }

  /** What another tool spent is not spent again. */
  #usage(usage: JsonValue | undefined): JsonObject {
    const known = this.#session.is_own && isJsonObject(usage) ? usage : {};
    const count = (name: string): number => Number(known[name] ?? 0);
    const [input, output] = [count("input_tokens"), count("output_tokens")];
    const [cacheRead, cacheWrite] = [count("cache_read_tokens"), count("cache_write_tokens")];
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
    return { input, output, cacheRead, cacheWrite, totalTokens: input + output + cacheRead + cacheWrite, cost };
  }

  *#compaction({ entry }: CompactionStep): Generator<JsonObject> {
    if (entry.summary.trim() === "") return;
    const kept = [...entry.kept].sort((a, b) => a - b).flatMap((position) => this.#written.get(position) ?? []);
    yield this.#entry("compaction", entry, {
      ...{ summary: entry.summary, firstKeptEntryId: kept[0] ?? NO_ENTRY, tokensBefore: entry.tokens_before ?? 0 },
      ...(isJsonObject(entry.extra.details) ? { details: entry.extra.details } : {}),
    });
  }

  #message(entry: Written, message: JsonObject): JsonObject {
    return this.#entry("message", entry, { message: { ...message, timestamp: Date.parse(entry.created_at) } });
  }

  #entry(type: string, entry: Written, fields: JsonObject): JsonObject {
    const id = this.#idOf(entry);
    const parentId = this.#parent;
    this.#parent = id;
    if (!this.#written.has(entry.position)) this.#written.set(entry.position, id);
    return { type, id, parentId, timestamp: this.#times.of(entry.created_at).iso, ...fields };
  }

  /** Its own id where it is free, else eight digits that follow from the entry. */
  #idOf(entry: Written): string {
    const native = this.#session.is_own ? (entry.native ?? nativeId("pi", entry)) : undefined;
    let id = native ?? "";
    for (let times = 0; id === "" || this.#ids.has(id); times += 1) {
      id = hash("sha256", JSON.stringify([this.#session.id, entry.id, times]), "hex").slice(0, 8);
    }
    this.#ids.add(id);
    return id;
  }
}

/** What a line is made of. */
interface Written {
  readonly id: string;
  readonly position: number;
  readonly created_at: string;
  readonly native?: string;
}

/** A block of Anthropic's form in pi's. */
function partOf(block: JsonObject): JsonObject {
  if (block.type === "tool_use")
    return { type: "toolCall", id: block.id ?? "", name: block.name ?? "", arguments: block.input ?? {} };
  const { source } = block;
  if (block.type === "image" && isJsonObject(source) && typeof source.data === "string") {
    return { type: "image", data: source.data, mimeType: source.media_type ?? "image/png" };
  }
  return { type: "text", text: typeof block.text === "string" ? block.text : JSON.stringify(block) };
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
