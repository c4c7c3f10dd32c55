// What can be captured, as the server takes it; docs/reference/entries.md says what each field means.

type Reference = string | number | boolean;

/** Any object that JSON can have; an interface as well as a literal. */
type Json = object;

export type Role = "user" | "assistant" | "system" | "tool" | "developer" | "function" | "model" | "timmy";
export type Injection = "command" | "summary" | "reminder" | "environment" | "hook" | "file" | "output" | "other";

/** What every entry may carry; what a kind does not know is kept in `extra`. */
export interface EntryEnvelope {
  /** Makes capture idempotent; one is made when it is left out. */
  readonly id?: string | undefined;
  /** When it happened, now by default. */
  readonly created_at?: string | undefined;
  readonly session_id?: string | undefined;
  readonly project?: string | undefined;
  readonly client?: string | undefined;
  /** Whom it was done for. */
  readonly user_id?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** The id of the entry that this one was made for: a tool run inside of an agent's step, a nested model call. */
  readonly parent_id?: string | undefined;
  readonly extra?: Json | undefined;
}

export interface AnswerFields {
  readonly response?: string | undefined;
  readonly response_summary?: string | undefined;
  readonly memories_used?: readonly Reference[] | undefined;
  readonly chunks_used?: readonly Reference[] | undefined;
  readonly model?: string | undefined;
  readonly usage?: Json | undefined;
  readonly latency_ms?: number | undefined;
  /** How long the first token took. */
  readonly first_token_ms?: number | undefined;
  /** Why the call failed. */
  readonly error?: string | undefined;
}

export interface InteractionInput extends EntryEnvelope, AnswerFields {
  readonly prompt: string;
  readonly context_pack?: Json | undefined;
}

export type CompletionInput = Pick<EntryEnvelope, "id" | "created_at" | "extra"> & AnswerFields;

export interface MessageInput extends EntryEnvelope {
  readonly role: Role;
  /** Text or content parts; may be null with tool calls. */
  readonly content?: string | readonly unknown[] | null | undefined;
  readonly confidence?: number | undefined;
  readonly tool_calls?: readonly object[] | undefined;
  readonly tool_call_id?: string | undefined;
  readonly name?: string | undefined;
  /** What a program put into the conversation, if nobody said it. */
  readonly injected?: Injection | undefined;
}

export interface ToolCallInput extends EntryEnvelope {
  readonly tool: string;
  readonly args?: Json | undefined;
  /** Text or JSON, whole. */
  readonly result?: unknown;
  readonly is_error?: boolean | undefined;
  readonly duration_ms?: number | undefined;
  readonly tool_call_id?: string | undefined;
}

export interface ErrorInput extends EntryEnvelope {
  readonly error: string;
  readonly context?: string | undefined;
}

export interface DecisionInput extends EntryEnvelope {
  readonly decision: string;
  readonly rationale?: string | undefined;
  readonly confidence?: number | undefined;
}

/** What a consolidation says besides where it ends. */
export interface ConsolidationInput {
  /** What the consolidated part said: history gives it to the model in its place. */
  readonly summary?: string | undefined;
  /** Positions up to there that history keeps. */
  readonly kept?: readonly number[] | undefined;
  /** Why it is consolidated. */
  readonly trigger?: string | undefined;
  /** How many tokens the context had before. */
  readonly tokens_before?: number | undefined;
}

export interface SessionInfoInput extends EntryEnvelope {
  readonly title?: string | undefined;
  readonly metadata?: Json | undefined;
  readonly parent?: string | undefined;
}

export interface FeedbackInput extends Pick<EntryEnvelope, "id" | "created_at" | "extra"> {
  readonly entry_id: string;
  readonly score?: number | undefined;
  readonly label?: string | undefined;
  readonly comment?: string | undefined;
}

interface InSession {
  readonly session_id: string;
}

/** An entry of any kind. */
export type EntryInput =
  | ({ readonly kind: "interaction" } & InteractionInput)
  | ({ readonly kind: "response"; readonly interaction_id: string } & CompletionInput)
  | ({ readonly kind: "message" } & MessageInput & InSession)
  | ({ readonly kind: "tool_call" } & ToolCallInput)
  | ({ readonly kind: "error" } & ErrorInput)
  | ({ readonly kind: "decision" } & DecisionInput)
  | ({ readonly kind: "consolidation"; readonly through: number } & ConsolidationInput & EntryEnvelope & InSession)
  | ({ readonly kind: "clear" } & EntryEnvelope & InSession)
  | ({ readonly kind: "withdrawal"; readonly withdraws: number } & EntryEnvelope & InSession)
  | ({ readonly kind: "feedback" } & FeedbackInput)
  | ({ readonly kind: "session_info" } & SessionInfoInput & InSession)
  | ({ readonly kind: "raw"; readonly source: string; readonly record: Json } & EntryEnvelope);
