// Codex CLI's rollouts: items are what went to and came from the model, events are what the screen showed.
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { openAiUsage, toUsage } from "../../model/usage.js";
import type { ImportSource, ImportStep, LineImporter, Opening, SourceRecord } from "../importer.js";
import { numberAt, objectAt, textAt } from "../transcript/fields.js";
import { type Origin, Transcript, type TranscriptState } from "../transcript/transcript.js";
import { CodexItems, type ItemsState } from "./items.js";

const tool = { format: "codex", lacks: ["system prompt", "tool definitions"] };
/** What newer rollouts lack, which hold the system prompt. */
const LACKS_WITH_INSTRUCTIONS = ["tool definitions"];

const LINE_TYPES = ["session_meta", "turn_context", "response_item", "event_msg", "compacted"];
const ITEM_TYPES = ["message", "reasoning", "function_call", "function_call_output", "local_shell_call"];
/** A fork's copies are written at once; records later than this belong to the fork. */
const COPYING_PAUSE_MS = 1_000;

export const codexImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some((record) => isLine(record) || isOldHeader(record)),
  read,
};

function isLine(record: JsonObject): boolean {
  return LINE_TYPES.includes(String(record.type)) && isJsonObject(record.payload);
}

/** The oldest files have a header line and then bare items, without times. */
function isOldHeader(record: JsonObject): boolean {
  return !("type" in record) && !("role" in record) && "instructions" in record && textAt(record, "id") !== undefined;
}

async function* read(source: ImportSource): AsyncGenerator<Iterable<ImportStep>> {
  const rollout = new Rollout(source, source.resume.state as RolloutState | undefined);
  source.resume.onSave(() => rollout.state());
  for await (const records of source.records()) yield rollout.takeAll(records);
  yield rollout.isUnsaid && source.isGrowing() ? rollout.pause() : rollout.end();
}

interface RolloutState {
  readonly transcript: TranscriptState;
  readonly own: ItemsState | undefined;
  readonly own_key: string | undefined;
  readonly copied: ItemsState | undefined;
  readonly copied_at: number;
  readonly totals: string;
  readonly counted: string;
  readonly has_records: boolean;
  readonly own_from: number | undefined;
}

class Rollout {
  readonly #transcript: Transcript;
  readonly #clock: ImportSource["clock"];
  readonly #stem: string;
  #own: CodexItems | undefined;
  #ownKey: string | undefined;
  /** Records of the session that this one was forked from, while they are being copied. */
  #copied: CodexItems | undefined;
  #copiedAt: number;
  /** The number of its first own line, if stated. */
  #ownFrom: number | undefined;
  #totals: string;
  /** The last call that was counted, and whether calls have their own records. */
  #counted: string;
  #hasRecords: boolean;

  constructor(source: ImportSource, known?: RolloutState) {
    const transcript = new Transcript(tool, source, known?.transcript);
    const revived = (note: ItemsState | undefined) =>
      note === undefined ? undefined : new CodexItems(transcript.revive(note.session), note);
    this.#transcript = transcript;
    this.#own = revived(known?.own);
    this.#ownKey = known?.own_key;
    this.#copied = revived(known?.copied);
    this.#copiedAt = known?.copied_at ?? 0;
    this.#totals = known?.totals ?? "";
    this.#counted = known?.counted ?? "";
    this.#hasRecords = known?.has_records ?? false;
    this.#ownFrom = known?.own_from;
    this.#clock = source.clock;
    this.#stem = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/.exec(source.stem)?.[1] ?? source.stem;
  }

  state(): RolloutState {
    return {
      transcript: this.#transcript.state(),
      own: this.#own?.state(),
      own_key: this.#ownKey,
      copied: this.#copied?.state(),
      copied_at: this.#copiedAt,
      totals: this.#totals,
      counted: this.#counted,
      has_records: this.#hasRecords,
      own_from: this.#ownFrom,
    };
  }

  *takeAll(records: Iterable<SourceRecord>): Generator<ImportStep> {
    for (const item of records) {
      if ("reason" in item) yield item;
      else yield* this.#take(item.line, item.record);
    }
  }

  *#take(line: number, record: JsonObject): Generator<ImportStep> {
    const isBare = !isJsonObject(record.payload);
    const payload = isBare ? record : (record.payload as JsonObject);
    const at = record.timestamp ?? payload.timestamp;
    if (record.type === "session_meta" || isOldHeader(record)) {
      yield* this.#begin(line, at, payload);
      return;
    }
    const items = this.#itemsAt(at, record.ordinal);
    const origin = { line, at, is_restamped: true, identity: [record.type ?? "", payload] };
    const isItem = isBare ? ITEM_TYPES.includes(String(record.type)) : record.type === "response_item";
    if (!isBare && payload.type === "token_count") yield* this.#tokens(items, origin, payload);
    else if (record.type === "token_usage_record") yield* this.#record(items, origin, payload);
    else if (isItem) yield* items.item(origin, payload);
    else if (record.type === "event_msg") yield* items.event(origin, payload);
    else if (record.type === "turn_context") yield* items.turn(origin, payload, record);
    else if (record.type === "compacted") yield* items.compacted(origin, payload, record);
    else yield* items.raw(origin, record);
  }

  /** Whether there are thoughts or tokens without a text so far. */
  get isUnsaid(): boolean {
    return [this.#copied, this.#own].some((items) => items?.isUnsaid === true);
  }

  *pause(): Generator<ImportStep> {
    for (const items of [this.#copied, this.#own]) if (items !== undefined) yield* items.pause();
  }

  *end(): Generator<ImportStep> {
    for (const items of [this.#copied, this.#own]) if (items !== undefined) yield* items.end();
  }

  *#begin(line: number, at: JsonValue | undefined, meta: JsonObject): Generator<ImportStep> {
    const id = textAt(meta, "id") ?? this.#stem;
    if (id === this.#ownKey) {
      // The whole file is repeated, as in a restored copy.
      yield* this.end();
      this.#transcript.restart();
      this.#totals = "";
      return;
    }
    if (this.#own !== undefined) {
      yield* this.#own.end();
      this.#copied ??= new CodexItems(this.#transcript.session(id));
      this.#copiedAt = this.#clock.parse(at) ?? 0;
      return;
    }
    const spawn = objectAt(objectAt(objectAt(meta, "source"), "subagent"), "thread_spawn");
    const parent = textAt(spawn, "parent_thread_id") ?? textAt(meta, "parent_thread_id");
    // Newer forks name the file whose beginning they share; older ones copy it.
    const shared = textAt(objectAt(meta, "history_base"), "thread_id");
    const main = this.#transcript.session(parent ?? id);
    const session = parent === undefined ? main : main.child(`agent-${id}`);
    this.#ownKey = id;
    this.#ownFrom = numberAt(meta, "subagent_history_start_ordinal");
    this.#own = new CodexItems(session);
    const origin = { line, at: at ?? meta.timestamp };
    const instructions = textAt(objectAt(meta, "base_instructions"), "text") ?? textAt(meta, "base_instructions");
    yield* session.about(origin, {
      lacks: instructions === undefined ? undefined : LACKS_WITH_INSTRUCTIONS,
      cwd: textAt(meta, "cwd"),
      git_branch: textAt(objectAt(meta, "git"), "branch"),
      version: textAt(meta, "cli_version"),
      metadata: Object.fromEntries([
        ...(shared === undefined ? [] : [["forked_from", shared]]),
        ...["originator", "model_provider", "forked_from_id"].flatMap((name) =>
          textAt(meta, name) === undefined ? [] : [[name.replace(/_id$/, ""), meta[name] ?? ""]],
        ),
      ]),
    });
    yield session.raw({ ...origin, identity: [meta], is_once: true }, meta);
    if (instructions === undefined) return;
    const of = { ...origin, identity: ["instructions", instructions], is_once: true, is_restamped: true };
    yield session.message(of, { role: "system", content: instructions });
  }

  #itemsAt(at: JsonValue | undefined, ordinal: JsonValue | undefined): CodexItems {
    this.#own ??= new CodexItems(this.#transcript.session(this.#stem));
    if (this.#copied === undefined) return this.#own;
    if (this.#ownFrom !== undefined && typeof ordinal === "number") {
      return ordinal < this.#ownFrom ? this.#copied : this.#own;
    }
    const ms = this.#clock.parse(at) ?? this.#copiedAt;
    if (this.#copiedAt !== 0 && ms - this.#copiedAt > COPYING_PAUSE_MS) {
      this.#copiedAt = 0;
    } else if (this.#copiedAt !== 0) this.#copiedAt = ms;
    return this.#copiedAt === 0 ? this.#own : this.#copied;
  }

  /** Totals are repeated; only a changed total means another call. */
  *#tokens(items: CodexItems, origin: Origin, payload: JsonObject): Generator<ImportStep> {
    const info = objectAt(payload, "info");
    const last = toUsage(info.last_token_usage ?? payload, openAiUsage);
    const totals = JSON.stringify(info.total_token_usage ?? null);
    if (last === undefined || this.#hasRecords || (totals !== "null" && totals === this.#totals)) return;
    this.#totals = totals;
    // After a compaction it begins to count again.
    if (Object.values(last).every((count) => count === 0)) return;
    this.#counted = JSON.stringify(last);
    yield* items.spend(origin, last, textAt(info, "model"));
  }

  /** Newer versions record each call, and totals as well; the first call may already be counted by a total. */
  *#record(items: CodexItems, origin: Origin, payload: JsonObject): Generator<ImportStep> {
    const usage = toUsage(payload.usage, openAiUsage);
    const isCounted = !this.#hasRecords && JSON.stringify(usage) === this.#counted;
    this.#hasRecords = true;
    if (usage !== undefined && !isCounted) yield* items.spend(origin, usage, undefined);
  }
}
