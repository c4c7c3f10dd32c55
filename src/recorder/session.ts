// One session of an open recorder: recording, history and timeline.

import { hash } from "node:crypto";
import type { Captured } from "../log/capture/capture.js";
import type {
  CaptureKind,
  DecisionFields,
  EntryInput,
  ErrorFields,
  InputEnvelope,
  Interaction,
  InteractionInput,
  MessageInput,
} from "../model/entry.js";
import { parseEntryId, parseLabel, parseTags } from "../model/ids.js";
import { itemAt } from "../model/item-at.js";
import { isJsonObject } from "../model/json.js";
import { kindRules } from "../model/kinds.js";
import { knownOptions, optionNames } from "../model/options.js";
import { orThrow, RecorderError, type Rejection, reject } from "../model/rejection.js";
import type { Calls } from "../operations/calls.js";
import type { OperationMethods, Operations } from "../operations/index.js";
import type { OptionsOf } from "../search/filters.js";
import { consolidatedFurther, throughElsewhere, throughInvalid } from "../sessions/history/history-refusals.js";
import type { AnthropicHistory, OpenAiMessage } from "../sessions/history/model-input.js";
import type { SessionOutline } from "../sessions/session-outline.js";
import type { SessionSummary, Timeline } from "../sessions/session-summary.js";
import type { SessionTree } from "../sessions/session-tree.js";

/** Labels, id and time; the session is given already. */
export type SessionEnvelope = Omit<InputEnvelope, "session_id">;

type InputOf<K extends EntryInput["kind"]> = Omit<Extract<EntryInput, { kind: K }>, "kind" | "session_id">;

/** What a session needs of its recorder. */
export interface SessionRecorder {
  readonly calls: () => Calls;
  readonly operations: OperationMethods;
  append(input: EntryInput): Promise<{ readonly entries: readonly Captured[] }>;
  recordInteraction(input: InteractionInput): Promise<Interaction>;
  /** Consolidates elsewhere; if undefined, it is planned and recorded here. */
  readonly consolidate?:
    | ((
        request: { readonly session_id: string; readonly through: number } & ConsolidationOptions,
      ) => Promise<{ readonly through: number }>)
    | undefined;
}

/** What a consolidation says besides its end. */
export interface ConsolidationOptions {
  /** What the consolidated part said: history gives it to the model instead. */
  readonly summary?: string | null | undefined;
  /** Why it is consolidated. */
  readonly trigger?: string | null | undefined;
  /** How many tokens the context had before. */
  readonly tokens_before?: number | null | undefined;
}

/** What a session's entries are listed with. */
export type TimelineOptions = Omit<OptionsOf<Operations["listSessionEntries"]["input"]>, "id">;

/** How much of a session a model is given, and in which form. */
export type HistoryOptions = Omit<OptionsOf<Operations["getHistory"]["input"]>, "id">;

/** Labels of everything recorded through a session, unless an entry has its own. */
export interface SessionLabels {
  readonly project?: string | undefined;
  readonly client?: string | undefined;
  readonly user_id?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** The entry that everything in this session was made for. */
  readonly parent_id?: string | undefined;
}

const labelNames = optionNames<SessionLabels>({
  project: true,
  client: true,
  user_id: true,
  tags: true,
  parent_id: true,
});
const consolidationNames = optionNames<ConsolidationOptions>({ summary: true, trigger: true, tokens_before: true });

export class Session {
  readonly #recorder: SessionRecorder;
  readonly #labels: SessionLabels;

  constructor(
    recorder: SessionRecorder,
    /** Kept exactly as given. */
    readonly id: string,
    labels: SessionLabels = {},
  ) {
    this.#recorder = recorder;
    const { project, client, user_id, tags, parent_id } = knownOptions(labels, labelNames);
    this.#labels = {
      project: orThrow(parseLabel("project", project)),
      client: orThrow(parseLabel("client", client)),
      user_id: orThrow(parseLabel("user_id", user_id)),
      tags: orThrow(parseTags(tags)),
      parent_id: orThrow(parseEntryId(parent_id, "parent_id")),
    };
  }

  /** Records a message of the conversation. */
  message(message: SessionEnvelope & MessageInput): Promise<Captured> {
    return this.#append(message, { kind: "message" });
  }

  /** Records a tool that was run, with its whole result. */
  toolCall(call: InputOf<"tool_call">): Promise<Captured> {
    return this.#append(call, { kind: "tool_call" });
  }

  error(error: SessionEnvelope & Pick<ErrorFields, "error"> & Partial<ErrorFields>): Promise<Captured> {
    return this.#append(error, { kind: "error" });
  }

  decision(decision: SessionEnvelope & Pick<DecisionFields, "decision"> & Partial<DecisionFields>): Promise<Captured> {
    return this.#append(decision, { kind: "decision" });
  }

  /** Records one round-trip with a model in this session, and returns the whole interaction. */
  async interaction(interaction: Omit<InteractionInput, "session_id">): Promise<Interaction> {
    return this.#recorder.recordInteraction(this.#labelled({ ...interaction, session_id: this.id }));
  }

  /** Records what is known about the session as a whole; later ones win, key by key. */
  info(info: InputOf<"session_info">): Promise<Captured> {
    return this.#append(info, { kind: "session_info" });
  }

  /** The session as model input, valid for the provider whatever was recorded. */
  history(options: HistoryOptions & { readonly format: "anthropic" }): Promise<AnthropicHistory>;
  history(options?: HistoryOptions & { readonly format?: "openai" | undefined }): Promise<OpenAiMessage[]>;
  history(options: HistoryOptions): Promise<OpenAiMessage[] | AnthropicHistory>;
  async history(options: HistoryOptions = {}): Promise<unknown> {
    const history = await this.#recorder.operations.getHistory(this.id, options);
    return "system" in history ? history : history.messages;
  }

  /** Leaves everything up to this position out of history from now on; returns where the turn actually ended. */
  async consolidate(through: number, options: ConsolidationOptions = {}): Promise<{ readonly through: number }> {
    if (!Number.isSafeInteger(through) || through < 1) throw new RecorderError(throughInvalid());
    const given = parseConsolidation(knownOptions(options, consolidationNames));
    const session_id = this.id;
    if (this.#recorder.consolidate !== undefined) return this.#recorder.consolidate({ session_id, through, ...given });
    const plan = await this.#recorder.calls().planConsolidation({ session_id, through });
    if (plan.outcome === "not_in_session") throw new RecorderError(throughElsewhere(through));
    if (plan.outcome === "backwards") throw new RecorderError(consolidatedFurther(plan.present));
    if (plan.outcome === "unmoved") return { through: plan.present };
    // The same place is consolidated once, however many callers ask at the same time.
    const id = `consolidated:${hash("sha256", session_id, "hex").slice(0, 32)}:${plan.through}`;
    const entry = { kind: "consolidation", id, through: plan.through } as const;
    await this.#append(given, entry).catch((error: unknown) => {
      if (!(error instanceof RecorderError) || error.code !== "id_conflict") throw error;
    });
    return { through: plan.through };
  }

  /** Starts a new history; everything before stays in the log. */
  clear(envelope: SessionEnvelope = {}): Promise<Captured> {
    return this.#append(envelope, { kind: "clear" });
  }

  /** Withdraws a message, by its position: history leaves it out from now on, and the log keeps it. */
  withdraw(position: number, envelope: SessionEnvelope = {}): Promise<Captured> {
    return this.#append(envelope, { kind: "withdrawal", withdraws: position });
  }

  /** Counts, times and labels; undefined for a session without entries. */
  async summary(): Promise<SessionSummary | undefined> {
    return this.#recorder.operations.getSession(this.id);
  }

  /** Its turns, compactions, children and files, without its entries; undefined for a session without entries. */
  async outline(): Promise<SessionOutline | undefined> {
    return this.#recorder.operations.getOutline(this.id);
  }

  /** Its calls, tools and subagents, each inside of what it was made for; undefined for a session without entries. */
  async tree(): Promise<SessionTree | undefined> {
    return this.#recorder.operations.getTree(this.id);
  }

  /** The session's entries by position. */
  async entries(options: TimelineOptions = {}): Promise<Timeline> {
    return this.#recorder.operations.listSessionEntries(this.id, options);
  }

  async #append(
    given: object,
    known: { readonly kind: CaptureKind; readonly [field: string]: unknown },
  ): Promise<Captured> {
    // Spread, a text or an Error would look like an object that lacks its fields.
    if (!isJsonObject(given) || given instanceof Error) throw new RecorderError(notFields(known.kind));
    const input = { ...given, ...known, session_id: this.id } as object as EntryInput;
    const { entries } = await this.#recorder.append(this.#labelled(input));
    return itemAt(entries, 0);
  }

  /** An entry's own values take precedence; the session's labels apply to all others. */
  #labelled<T extends Pick<InputEnvelope, keyof SessionLabels>>(input: T): T {
    const missing = Object.entries(this.#labels).filter(
      ([name, value]) => value.length > 0 && (input[name as keyof SessionLabels] ?? undefined) === undefined,
    );
    return missing.length === 0 ? input : { ...input, ...Object.fromEntries(missing) };
  }
}

/** Refused before it is known whether there is anything to record. */
function parseConsolidation(options: ConsolidationOptions): ConsolidationOptions {
  const { fields } = kindRules.consolidation;
  const given = Object.entries(options).filter(([, value]) => value !== undefined && value !== null);
  for (const [name, value] of given) orThrow(fields[name as keyof ConsolidationOptions].parse(value, name));
  return Object.fromEntries(given);
}

function notFields(kind: CaptureKind): Rejection {
  const needed = Object.entries(kindRules[kind].fields).find(([, field]) => field.required)?.[0];
  return reject({
    code: "field_invalid",
    field: "entry",
    message: `the fields of ${kind} must be given as an object`,
    ...(needed === undefined ? {} : { hint: `For example { ${needed}: "…" }; for an Error, give its message.` }),
  });
}
