// A session as Claude Code writes it: a chain of lines, each with its parent; a compaction begins the chain again and names what stays.
import { join } from "node:path";
import { itemAt } from "../../model/item-at.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { groupWriter } from "../../sessions/history/anthropic.js";
import type { CompactionStep, ConversationStep, SaidStep } from "./conversation.js";
import {
  isUuid,
  nativeId,
  type ResumePlace,
  type ResumeTarget,
  RisingTimes,
  uuidOf,
  type WrittenSession,
} from "./target.js";

/** The newest version whose `--resume` was seen to take such a file. */
const VERSION = "2.1.327";
/** What another tool added to prompts by itself. */
const ADDED_BY_OTHERS = new Set(["environment", "reminder", "file", "hook", "other"]);
/** Attachments that are part of what the user gave, or of what a command said. It adds all others again by itself. */
const GIVEN = new Set(["file", "edited_text_file", "nested_memory", "invoked_skills", "queued_command"]);

export const claudeCodeTarget: ResumeTarget = {
  tool: "claude-code",
  home: { variable: "CLAUDE_CONFIG_DIR", folder: ".claude" },
  path: ({ id }, { cwd }) => join("projects", cwd.replaceAll(/[^A-Za-z0-9-]/g, "-"), `${id}.jsonl`),
  others: { folders: ["projects"], matches: (name, id) => name.endsWith(`/${id}.jsonl`) },
  lines: (session, place) => new ClaudeLines(session, place).all(),
  command: (id) => `claude --resume ${id}`,
};

class ClaudeLines {
  readonly #session: WrittenSession;
  readonly #envelope: JsonObject;
  readonly #times = new RisingTimes();
  readonly #blocksOf = groupWriter();
  /** The lines that each entry became, by its position. */
  readonly #written = new Map<number, readonly string[]>();
  readonly #used = new Set<string>();
  #parent: string | null = null;
  #last: string | null = null;

  constructor(session: WrittenSession, { cwd }: ResumePlace) {
    this.#session = session;
    const { version, git_branch } = session.conversation;
    this.#envelope = {
      isSidechain: false,
      userType: "external",
      entrypoint: "cli",
      cwd,
      sessionId: session.id,
      version: session.is_own && version !== "" ? version : VERSION,
      gitBranch: git_branch,
    };
  }

  *all(): Generator<JsonObject> {
    const { conversation, id } = this.#session;
    const { steps } = conversation;
    for (let at = 0; at < steps.length; ) {
      const pieces = this.#piecesAt(steps, at);
      if (pieces.length > 1) yield this.#pieced(pieces);
      else yield* this.#step(itemAt(steps, at));
      at += Math.max(1, pieces.length);
    }
    if (conversation.title !== "") yield { type: "custom-title", customTitle: conversation.title, sessionId: id };
  }

  *#step(step: ConversationStep): Generator<JsonObject> {
    if (step.is === "compaction") yield* this.#compaction(step);
    else if (step.is === "system") this.#session.conversation.left_out.system += 1;
    else if (step.group.type === "assistant") yield* this.#answer(step);
    else yield* this.#user(step);
  }

  /** A prompt with text that was glued to it: one line of the tool became several messages. */
  #piecesAt(steps: readonly ConversationStep[], at: number): readonly SaidStep[] {
    const lineOf = (step: ConversationStep | undefined): string | undefined => {
      if (step?.is !== "said" || step.group.type !== "user") return undefined;
      return this.#native(step.entry)?.split(":", 1)[0];
    };
    const line = lineOf(steps[at]);
    if (!isUuid(line)) return [];
    const end = steps.findIndex((step, nth) => nth > at && lineOf(step) !== line);
    return steps.slice(at, end === -1 ? undefined : end) as readonly SaidStep[];
  }

  #pieced(pieces: readonly SaidStep[]): JsonObject {
    const natives = pieces.map(({ entry }) => this.#native(entry));
    const typed = pieces.find((_, nth) => isUuid(natives[nth]));
    const own = typed ?? itemAt(pieces, 0);
    const uuid = this.#uuid(natives.map((native) => native?.split(":", 1)[0]).find(isUuid), [own.entry.id, "line"]);
    for (const { entry } of pieces) this.#note(entry.position, uuid);
    const content = pieces.flatMap(({ group, entry }): readonly JsonObject[] => {
      const text = typedText(entry.extra);
      return text === undefined ? this.#blocksOf(group).said : [{ type: "text", text }];
    });
    return this.#line(uuid, own.entry.created_at, { type: "user", message: { role: "user", content } });
  }

  *#user({ group, entry, shell }: SaidStep): Generator<JsonObject> {
    const injected = entry.kind === "message" ? entry.injected : "";
    if (injected !== "" && !this.#keeps(injected, entry.extra)) {
      this.#session.conversation.left_out.injected += 1;
      return;
    }
    const { said } = this.#blocksOf(group);
    const [only] = said;
    const text = said.length === 1 && only?.type === "text" ? String(only.text) : undefined;
    const meta = injected === "" || isShellText(text) ? {} : { isMeta: true };
    const content = typedText(entry.extra) ?? text ?? said;
    const parts = shellLines(content);
    for (const [nth, part] of parts.entries()) {
      const of = nth === parts.length - 1 ? entry : shell;
      const uuid = this.#uuid(of === undefined ? undefined : this.#native(of), [entry.id, String(nth)]);
      this.#note(entry.position, uuid);
      yield this.#line(uuid, entry.created_at, { type: "user", message: { role: "user", content: part }, ...meta });
    }
  }

  #keeps(injected: string, extra: JsonObject): boolean {
    const { attachment } = extra;
    if (isJsonObject(attachment)) return this.#session.is_own && GIVEN.has(String(attachment.type));
    return this.#session.is_own || !ADDED_BY_OTHERS.has(injected);
  }

  /** A line for each block, as the tool writes them while they come. */
  *#answer({ group, entry, results }: SaidStep): Generator<JsonObject> {
    const { said, results: answers } = this.#blocksOf(group);
    const { extra } = entry;
    const blocks = [...this.#thoughts(extra), ...said];
    const natives = this.#session.is_own && Array.isArray(extra.native_ids) ? extra.native_ids.map(String) : [];
    const id = typeof extra.message_id === "string" ? extra.message_id : uuidOf(["message", entry.id]);
    // One line where it is unknown which block had which.
    const parts = natives.length === blocks.length ? blocks.map((block) => [block]) : [blocks];
    const model = entry.kind === "interaction" ? entry.model : extra.model;
    const calls = group.calls.length > 0;
    for (const [nth, content] of parts.entries()) {
      const uuid = this.#uuid(natives[nth], [entry.id, "said", String(nth)]);
      this.#note(entry.position, uuid);
      yield this.#line(uuid, entry.created_at, {
        type: "assistant",
        message: {
          ...{
            id,
            type: "message",
            role: "assistant",
            model: typeof model === "string" && model !== "" ? model : "unknown",
          },
          ...{ content, stop_reason: calls ? "tool_use" : "end_turn", stop_sequence: null },
          usage: this.#usage(extra.usage),
        },
        ...(typeof extra.request_id === "string" ? { requestId: extra.request_id } : {}),
      });
    }
    for (const [nth, block] of answers.entries()) {
      const result = results[nth];
      const native = result?.kind === "tool_call" ? result.extra.uuid : undefined;
      const of = typeof native === "string" && this.#session.is_own ? native : undefined;
      const uuid = this.#uuid(of, [entry.id, "result", String(nth)]);
      if (result !== undefined) this.#note(result.position, uuid);
      const at = result?.created_at ?? entry.created_at;
      yield this.#line(uuid, at, { type: "user", message: { role: "user", content: [block] } });
    }
  }

  /** Only with a signature that the provider gave to this tool. */
  #thoughts({ thinking_blocks: blocks }: JsonObject): readonly JsonObject[] {
    if (!this.#session.is_own || !Array.isArray(blocks)) return [];
    return blocks.filter(isJsonObject).filter(({ type, thinking, signature, data }) => {
      if (type === "redacted_thinking") return typeof data === "string" && data !== "";
      return type === "thinking" && typeof thinking === "string" && typeof signature === "string" && signature !== "";
    });
  }

  /** What another tool spent is not spent again. */
  #usage(usage: JsonValue | undefined): JsonObject {
    const known = this.#session.is_own && isJsonObject(usage) ? usage : {};
    return {
      input_tokens: known.input_tokens ?? 0,
      cache_creation_input_tokens: known.cache_write_tokens ?? 0,
      cache_read_input_tokens: known.cache_read_tokens ?? 0,
      output_tokens: known.output_tokens ?? 0,
    };
  }

  /** A boundary, behind it the summary; what stays hangs on the summary. */
  *#compaction({ entry }: CompactionStep): Generator<JsonObject> {
    if (entry.summary.trim() === "") return;
    const boundary = this.#uuid(this.#native(entry), [entry.id, "boundary"]);
    const summary = this.#uuid(undefined, [entry.id, "summary"]);
    const uuids = entry.kept.flatMap((position) => this.#written.get(position) ?? []);
    const [head, tail] = [uuids[0], uuids.at(-1)];
    const kept =
      head === undefined || tail === undefined
        ? {}
        : {
            preservedSegment: { headUuid: head, anchorUuid: summary, tailUuid: tail },
            preservedMessages: { anchorUuid: summary, uuids, allUuids: uuids },
          };
    const before = this.#last;
    this.#parent = null;
    yield this.#line(boundary, entry.created_at, {
      ...(before === null ? {} : { logicalParentUuid: before }),
      ...{
        type: "system",
        subtype: "compact_boundary",
        content: "Conversation compacted",
        isMeta: false,
        level: "info",
      },
      compactMetadata: { trigger: entry.trigger || "manual", preTokens: entry.tokens_before ?? 0, ...kept },
    });
    yield this.#line(summary, entry.created_at, {
      type: "user",
      message: { role: "user", content: entry.summary },
      ...{ isCompactSummary: true, isVisibleInTranscriptOnly: true },
    });
  }

  #line(uuid: string, created_at: string, fields: JsonObject): JsonObject {
    const parentUuid = this.#parent;
    this.#parent = uuid;
    this.#last = uuid;
    return { parentUuid, ...this.#envelope, ...fields, uuid, timestamp: this.#times.of(created_at).iso };
  }

  #native(entry: { readonly id: string }): string | undefined {
    return this.#session.is_own ? nativeId("claude-code", entry) : undefined;
  }

  /** The tool's own id where it was one, else one that follows from the entry; each once. */
  #uuid(native: string | undefined, parts: readonly string[]): string {
    const id = isUuid(native) && !this.#used.has(native) ? native : uuidOf(["line", this.#session.id, ...parts]);
    this.#used.add(id);
    return id;
  }

  #note(position: number, uuid: string): void {
    this.#written.set(position, [...(this.#written.get(position) ?? []), uuid]);
  }
}

/** A slash command as the tool wrote it down. */
function typedText({ command }: JsonObject): string | undefined {
  return isJsonObject(command) && typeof command.text === "string" ? command.text : undefined;
}

function isShellText(text: string | undefined): boolean {
  return text?.startsWith("<bash-") === true;
}

/** The user's command and its output are two lines. */
function shellLines(content: JsonValue): readonly JsonValue[] {
  if (typeof content !== "string" || !content.startsWith("<bash-input>")) return [content];
  const at = content.indexOf("\n<bash-std");
  return at === -1 ? [content] : [content.slice(0, at), content.slice(at + 1)];
}
