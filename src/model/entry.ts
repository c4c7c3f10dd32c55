// The nouns of the log: what each kind of entry carries, as it is read back and as it is given.
import type { Content } from "./content.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { kindRules } from "./kinds.js";
import type { MemoryFieldsByKind, MemoryKind } from "./memory.js";

interface InteractionFields {
  readonly prompt: string;
  readonly response: string;
  readonly response_summary: string;
  readonly memories_used: readonly string[];
  readonly chunks_used: readonly string[];
  readonly context_pack: JsonObject;
  readonly model: string;
  readonly usage: JsonObject;
  readonly latency_ms?: number;
  /** Why the call failed; such an interaction is answered. */
  readonly error: string;
}

/** Completes an interaction that was captured before its answer was there. */
interface ResponseFields {
  readonly interaction_id: string;
  readonly response: string;
  readonly response_summary: string;
  readonly memories_used: readonly string[];
  readonly chunks_used: readonly string[];
  readonly model: string;
  readonly usage: JsonObject;
  readonly latency_ms?: number;
  /** Why the call failed. */
  readonly error: string;
}

interface MessageFields {
  readonly role: string;
  /** Text or content parts; when it is given, null only beside `tool_calls`. */
  readonly content: Content;
  readonly confidence?: number;
  readonly tool_calls: readonly JsonObject[];
  readonly tool_call_id: string;
  readonly name: string;
}

interface ToolCallFields {
  readonly tool: string;
  readonly args: JsonObject;
  readonly result: JsonValue;
  readonly is_error?: boolean;
  readonly duration_ms?: number;
  readonly tool_call_id: string;
}

export interface ErrorFields {
  readonly error: string;
  readonly context: string;
}

export interface DecisionFields {
  readonly decision: string;
  readonly rationale: string;
  readonly confidence?: number;
}

interface ConsolidationFields {
  /** 0 where nothing was dropped. */
  readonly through: number;
  readonly summary: string;
  /** Positions up to `through` that history keeps. */
  readonly kept: readonly number[];
  /** Why it was made, in the words of the tool that made it. */
  readonly trigger: string;
  /** How many tokens the context had before. */
  readonly tokens_before?: number;
}

/** A clear marker carries nothing but its envelope. */
type ClearFields = { readonly [none in never]: never };

/** Takes a message back: history leaves it out, the log keeps it. */
interface WithdrawalFields {
  readonly withdraws: number;
}

/** A rating of an entry. */
interface FeedbackFields {
  readonly entry_id: string;
  /** From -1 to 1. */
  readonly score?: number;
  readonly label: string;
  readonly comment: string;
}

interface SessionInfoFields {
  readonly title: string;
  readonly metadata: JsonObject;
  readonly parent: string;
}

/** What an importer or a trace brought and no kind fits. */
interface RawFields {
  readonly source: string;
  readonly record: JsonObject;
}

/** An action that has to be accounted for: a key made or revoked, a verdict, a forgetting, an export. */
interface AuditFields {
  readonly action: string;
  readonly actor: string;
  readonly target: string;
}

/** Names the entries whose bodies were erased; it says nothing of what they held. */
interface RedactionFields {
  readonly positions: readonly number[];
  readonly reason: string;
  /** What was to be forgotten: an entry, a session, a project, or what a rule chose. */
  readonly scope: string;
}

/** Kinds that only the log itself writes; capture refuses them. */
export interface ReservedFieldsByKind extends MemoryFieldsByKind {
  readonly audit: AuditFields;
  readonly redaction: RedactionFields;
}
export type ReservedKind = keyof ReservedFieldsByKind;

export interface FieldsByKind {
  readonly interaction: InteractionFields;
  readonly response: ResponseFields;
  readonly message: MessageFields;
  readonly tool_call: ToolCallFields;
  readonly error: ErrorFields;
  readonly decision: DecisionFields;
  readonly consolidation: ConsolidationFields;
  readonly clear: ClearFields;
  readonly withdrawal: WithdrawalFields;
  readonly feedback: FeedbackFields;
  readonly session_info: SessionInfoFields;
  readonly raw: RawFields;
}

/** The kinds that callers may capture. */
export type CaptureKind = keyof FieldsByKind;

/** The kinds that memories are made of. */
export const memoryKinds = [
  "memory_proposed",
  "memory_edited",
  "memory_promoted",
  "memory_rejected",
  "memory_superseded",
  "memory_reinforced",
] as const satisfies readonly MemoryKind[];

export function isMemoryKind(kind: string): boolean {
  return (memoryKinds as readonly string[]).includes(kind);
}

export type Kind = CaptureKind | ReservedKind;

/** A client's numbering of what it captured: what never arrived shows as a gap. */
export interface CommonFields {
  /** The run of the program that captured it. */
  readonly client_run?: string;
  /** 1, 2, 3 … within that run. */
  readonly client_seq?: number;
}

/** What every entry carries, whatever its kind. */
interface Envelope<K extends Kind = Kind> extends CommonFields {
  /** Given by the log: 1, 2, 3 …, without gaps. */
  readonly position: number;
  readonly id: string;
  readonly kind: K;
  /** When it happened. */
  readonly created_at: string;
  /** When the log took it. */
  readonly recorded_at: string;
  /** The id of the key it came in with; `""` without keys, and in entries of the first format. */
  readonly recorded_by: string;
  readonly session_id: string;
  readonly project: string;
  readonly client: string;
  /** SHA-256 over the previous entry's hash and this entry, in hexadecimal. */
  readonly hash: string;
}

export type EntryOf<K extends Kind> = Envelope<K> &
  (FieldsByKind & ReservedFieldsByKind)[K] & { readonly extra: JsonObject };

/** Every field of every kind. */
export type FieldName = { [K in Kind]: keyof (FieldsByKind & ReservedFieldsByKind)[K] }[Kind];

/** An entry as it is read back: envelope and fields of its kind, flat. */
export type Entry = { [K in Kind]: EntryOf<K> }[Kind];

/** An interaction; once completed it carries its response, and the id of the entry that brought it. */
export type Interaction = EntryOf<"interaction"> & { readonly response_id?: string };

/** What is left of an interaction that was erased; its fields are gone. */
export type ErasedInteraction = ErasedEntry & {
  readonly [Field in Exclude<keyof Interaction, keyof ErasedEntry>]?: undefined;
};

/** A row of a list: everything but the response and the context pack, and how long the response is. */
export type InteractionSummary = Omit<Interaction, "response" | "context_pack"> & {
  /** Length of the response in code points. */
  readonly response_chars: number;
  /** Its beginning, where that was asked for. */
  readonly response_excerpt?: string;
};

export type EntrySummary =
  | InteractionSummary
  | (Omit<EntryOf<"response">, "response"> & Pick<InteractionSummary, "response_chars" | "response_excerpt">)
  | { [K in Exclude<Kind, "interaction" | "response">]: EntryOf<K> }[Exclude<Kind, "interaction" | "response">];

/** What is left of an entry whose body was erased. */
export type ErasedEntry = Envelope & { readonly erased: true };

/**
 * What lists show of an entry whose body, or whose response's body, does not match its hash. Id and labels are in the body
 * too: they are `""`, and `created_at` is the time of recording.
 */
export type AlteredEntry = Envelope & { readonly altered: true };

/** The same in a list of interactions; the fields of those are not there. */
export type AlteredInteraction = AlteredEntry & {
  readonly [Field in Exclude<keyof InteractionSummary, keyof AlteredEntry>]?: undefined;
};

/** A row of any list. */
export type ListedEntry = EntrySummary | AlteredEntry;

/** Envelope fields that the caller may give. */
export interface InputEnvelope {
  /** Makes capture idempotent; a UUIDv7 is made when it is left out. */
  readonly id?: string | null | undefined;
  /** Any ISO 8601 time; the time of recording when it is left out. */
  readonly created_at?: string | null | undefined;
  readonly session_id?: string | null | undefined;
  readonly project?: string | null | undefined;
  readonly client?: string | null | undefined;
  readonly client_run?: string | null | undefined;
  readonly client_seq?: number | null | undefined;
  readonly extra?: { readonly [key: string]: unknown } | null | undefined;
}

/** What may be given for a value: parts and objects of a provider's own types are no JSON to the compiler. */
type Lenient<T> = [T, Content] extends [Content, T] ? string | readonly unknown[] : LenientJson<T>;

type LenientJson<T> = T extends readonly string[]
  ? readonly (string | number | boolean)[]
  : T extends JsonObject
    ? { readonly [key: string]: unknown }
    : T extends readonly JsonObject[]
      ? readonly object[]
      : T;

type InputFields<F, Required extends keyof F> = { readonly [N in Required]: Lenient<F[N]> } & {
  readonly [N in Exclude<keyof F, Required>]?: Lenient<F[N]> | null | undefined;
};

type RuleOf<K extends CaptureKind> = (typeof kindRules)[K];

/** The fields without which there is no entry of this kind, by the table of kinds. */
type RequiredOf<K extends CaptureKind> = keyof FieldsByKind[K] &
  {
    [N in keyof RuleOf<K>["fields"]]: RuleOf<K>["fields"][N] extends { readonly required: true } ? N : never;
  }[keyof RuleOf<K>["fields"]];

type EnvelopeInput<K extends CaptureKind> = RuleOf<K>["needs_session"] extends true
  ? Omit<InputEnvelope, "session_id"> & { readonly session_id: string }
  : InputEnvelope;

/** The fields of a kind as callers give them. */
type FieldsInput<K extends CaptureKind> = InputFields<FieldsByKind[K], RequiredOf<K>>;

export type EntryInput = {
  [K in CaptureKind]: { readonly kind: K } & EnvelopeInput<K> & FieldsInput<K>;
}[CaptureKind];

export type InteractionInput = InputEnvelope & FieldsInput<"interaction">;
export type CompletionInput = Omit<InputEnvelope, "session_id" | "project" | "client"> &
  Omit<FieldsInput<"response">, "interaction_id">;
export type MessageInput = FieldsInput<"message">;
/** Session, project and client are those of the entry that it is about. */
export type FeedbackInput = Omit<InputEnvelope, "session_id" | "project" | "client"> & FieldsInput<"feedback">;

/** How every surface names an entry whose body is not the one that was recorded. Its text is never shown. */
export const ALTERED_WORDS = "altered: does not match its hash";

/** Whether a row of a list is an altered entry, which has nothing but its envelope. */
export function isAltered<R extends object>(row: R): row is Extract<R, AlteredEntry> {
  return "altered" in row && row.altered === true;
}

/** A function for each kind of entry; a table that lacks a kind does not compile. `More` are further arguments. */
export type ByKind<E extends { readonly kind: Kind }, Said, More extends readonly unknown[] = []> = {
  readonly [K in Kind]: (entry: Extract<E, { readonly kind: K }>, ...more: More) => Said;
};

/** Calls the function for this entry's kind; undefined where a store holds a kind that this version does not know. */
export function applyByKind<E extends { readonly kind: Kind }, Said, More extends readonly unknown[]>(
  table: ByKind<E, Said, More>,
  entry: E,
  ...more: More
): Said | undefined {
  const say = Object.hasOwn(table, entry.kind)
    ? (table[entry.kind] as unknown as (entry: E, ...more: More) => Said)
    : undefined;
  return say?.(entry, ...more);
}
