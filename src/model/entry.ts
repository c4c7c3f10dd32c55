// The nouns of the log: what each kind of entry carries, as it is read back and as callers give it.
import type { Content } from "./content.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { kindRules } from "./kinds.js";
import type { MemoryFieldsByKind, MemoryKind } from "./memory.js";
import type { GivenRole, Injection } from "./roles.js";

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
  /** How long the first token took. */
  readonly first_token_ms?: number;
  /** Why the call failed; such an interaction counts as answered. */
  readonly error: string;
}

/** Completes an interaction that was recorded before its answer was known. */
interface ResponseFields {
  readonly interaction_id: string;
  readonly response: string;
  readonly response_summary: string;
  readonly memories_used: readonly string[];
  readonly chunks_used: readonly string[];
  readonly model: string;
  readonly usage: JsonObject;
  readonly latency_ms?: number;
  /** How long the first token took. */
  readonly first_token_ms?: number;
  /** Why the call failed. */
  readonly error: string;
}

interface MessageFields {
  readonly role: string;
  /** Text or content parts; null only with `tool_calls`. */
  readonly content: Content;
  readonly confidence?: number;
  readonly tool_calls: readonly JsonObject[];
  readonly tool_call_id: string;
  readonly name: string;
  /** What a tool put into the conversation, in the words of `injections`; empty for what was said. */
  readonly injected: string;
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
  /** 0 if nothing was dropped. */
  readonly through: number;
  readonly summary: string;
  /** Positions up to `through` that history keeps. */
  readonly kept: readonly number[];
  /** Why it happened, in the words of the tool. */
  readonly trigger: string;
  /** Tokens in the context before. */
  readonly tokens_before?: number;
}

/** A clear marker has only its envelope. */
type ClearFields = { readonly [none in never]: never };

/** Withdraws a message: history leaves it out, the log keeps it. */
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

/** A record from an importer or a trace that fits no other kind. */
interface RawFields {
  readonly source: string;
  readonly record: JsonObject;
}

/** An accountable action: a key created or revoked, a verdict, a forgetting, an export. */
interface AuditFields {
  readonly action: string;
  readonly actor: string;
  readonly target: string;
}

/** Names the entries whose bodies were erased; it contains none of their text. */
interface RedactionFields {
  readonly positions: readonly number[];
  readonly reason: string;
  /** What was to be forgotten: an entry, a session, a project, or what a rule selected. */
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

/** A client's sequence number: a gap shows that something was lost. */
export interface CommonFields {
  /** The run of the program that recorded it. */
  readonly client_run?: string;
  /** 1, 2, 3 … within that run. */
  readonly client_seq?: number;
  /** Whom it was done for. */
  readonly user_id?: string;
  readonly tags?: readonly string[];
  /** The entry that this one was made for: a tool run inside of an agent's step, a nested model call. */
  readonly parent_id?: string;
}

/** What every entry has, whatever its kind. */
interface Envelope<K extends Kind = Kind> extends CommonFields {
  /** `""` when absent. */
  readonly user_id: string;
  /** `[]` when absent. */
  readonly tags: readonly string[];
  /** `""` when absent. */
  readonly parent_id: string;
  /** Assigned by the log: 1, 2, 3 …, without gaps. */
  readonly position: number;
  readonly id: string;
  readonly kind: K;
  /** When it happened. */
  readonly created_at: string;
  /** When the log stored it. */
  readonly recorded_at: string;
  /** The id of the key it came with; `""` without keys, and in entries of the first format. */
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

/** An entry as it is read back: envelope and fields of its kind in one object. */
export type Entry = { [K in Kind]: EntryOf<K> }[Kind];

/** An interaction; once completed it carries its response, and the response's entry id. */
export type Interaction = EntryOf<"interaction"> & { readonly response_id?: string };

/** What is left of an interaction that was erased; its fields are gone. */
export type ErasedInteraction = ErasedEntry & {
  readonly [Field in Exclude<keyof Interaction, keyof ErasedEntry>]?: undefined;
};

/** An item of a list: without the response and the context pack, but with the length of the response. */
export type InteractionSummary = Omit<Interaction, "response" | "context_pack"> & {
  /** Length of the response in code points. */
  readonly response_chars: number;
  /** Its beginning, if that was requested. */
  readonly response_excerpt?: string;
};

export type EntrySummary =
  | InteractionSummary
  | (Omit<EntryOf<"response">, "response"> & Pick<InteractionSummary, "response_chars" | "response_excerpt">)
  | { [K in Exclude<Kind, "interaction" | "response">]: EntryOf<K> }[Exclude<Kind, "interaction" | "response">];

/** What is left of an entry whose body was erased. */
export type ErasedEntry = Envelope & { readonly erased: true };

/**
 * What lists show of an entry whose body, or whose response's body, does not match its hash. Id and labels are in the
 * body too: they are `""`, and `created_at` is the time of recording.
 */
export type AlteredEntry = Envelope & { readonly altered: true };

/** The same in a list of interactions, without their fields. */
export type AlteredInteraction = AlteredEntry & {
  readonly [Field in Exclude<keyof InteractionSummary, keyof AlteredEntry>]?: undefined;
};

/** An item of any list. */
export type ListedEntry = EntrySummary | AlteredEntry;

/** Envelope fields that callers may give. */
export interface InputEnvelope {
  /** Makes capture idempotent; generated (UUIDv7) if left out. */
  readonly id?: string | null | undefined;
  /** Any ISO 8601 time; the time of recording if left out. */
  readonly created_at?: string | null | undefined;
  readonly session_id?: string | null | undefined;
  readonly project?: string | null | undefined;
  readonly client?: string | null | undefined;
  readonly user_id?: string | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  /** The id of the entry that this one was made for. */
  readonly parent_id?: string | null | undefined;
  readonly client_run?: string | null | undefined;
  readonly client_seq?: number | null | undefined;
  readonly extra?: object | null | undefined;
}

/** The type of a JSON value in inputs: the compiler does not accept providers' own types as JSON. */
type Lenient<T> = [T, Content] extends [Content, T] ? string | readonly unknown[] : LenientJson<T>;

type LenientJson<T> = T extends readonly string[]
  ? readonly (string | number | boolean)[]
  : T extends JsonObject
    ? object
    : T extends readonly JsonObject[]
      ? readonly object[]
      : T;

type InputFields<F, Required extends keyof F> = { readonly [N in Required]: Lenient<F[N]> } & {
  readonly [N in Exclude<keyof F, Required>]?: Lenient<F[N]> | null | undefined;
};

type RuleOf<K extends CaptureKind> = (typeof kindRules)[K];

/** The required fields of this kind, from the table of kinds. */
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
export type CompletionInput = Omit<InputEnvelope, InheritedLabel> & Omit<FieldsInput<"response">, "interaction_id">;
export type MessageInput = Omit<FieldsInput<"message">, "role" | "injected"> & {
  readonly role: GivenRole;
  readonly injected?: Injection | "" | null | undefined;
};
/** Its labels are those of the entry that it is about. */
export type FeedbackInput = Omit<InputEnvelope, InheritedLabel> & FieldsInput<"feedback">;

/** What a response and feedback inherit. */
type InheritedLabel = "session_id" | "project" | "client" | "user_id" | "tags" | "parent_id";

/** The label of an entry whose body is not the one that was recorded. Its text is never shown. */
export const ALTERED_WORDS = "altered: does not match its hash";

/** Whether a list item is an altered entry, which has only its envelope. */
export function isAltered<R extends object>(row: R): row is Extract<R, AlteredEntry> {
  return "altered" in row && row.altered === true;
}

/** A function for each kind of entry; a table without one of them does not compile. `More` are further arguments. */
export type ByKind<E extends { readonly kind: Kind }, Said, More extends readonly unknown[] = []> = {
  readonly [K in Kind]: (entry: Extract<E, { readonly kind: K }>, ...more: More) => Said;
};

/** Calls the function for this entry's kind; undefined if this version does not know the kind. */
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
