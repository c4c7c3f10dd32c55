// What a model was given for an answer, and whether a text was among it.
import type { JsonValue } from "./json.js";

/** An entry by its names. */
export interface EntryPlace {
  readonly entry_id: string;
  readonly position: number;
}

/** A message as it lay before the model; every other field that was recorded lies beside these. */
export interface GivenMessage {
  readonly role: string;
  readonly content?: JsonValue;
  /** The entry that says it, where the session has one. */
  readonly entry_id?: string;
  readonly [field: string]: JsonValue | undefined;
}

/**
 * Where a context is known from: what the caller recorded with the interaction, a provider's request that was recorded
 * whole, or, where nobody recorded it, the session's history as it was then.
 */
export type ContextSource = "context_pack" | "request" | "history";

export interface Context {
  /** The answer whose context it is: of a tool call, what made the call; of an error, what came before it. */
  readonly answer: EntryPlace;
  /** Whether somebody recorded what was sent; otherwise it is put together from the session. */
  readonly exact: boolean;
  readonly source: ContextSource;
  readonly messages: readonly GivenMessage[];
  readonly system?: JsonValue;
  readonly tools?: JsonValue;
  /** Whatever else the context pack holds. */
  readonly pack?: { readonly [name: string]: JsonValue };
  readonly memories: readonly string[];
  readonly chunks: readonly string[];
  /** Counted as history counts them. */
  readonly tokens: number;
  /** How it differs from what was given for the answer before; absent where there was none. */
  readonly previous?: ContextChange;
  readonly led_to: LedTo;
}

/** What came of an answer. Texts are the first 200 characters. */
export interface LedTo {
  /** Up to the next answer. */
  readonly tool_calls: readonly (EntryPlace & { readonly tool: string; readonly is_error: boolean })[];
  readonly errors: readonly (EntryPlace & { readonly error: string })[];
  readonly feedback: readonly (EntryPlace & {
    readonly score?: number;
    readonly label: string;
    readonly comment: string;
  })[];
  /** What the user said next. */
  readonly next?: EntryPlace & { readonly text: string };
}

export interface ContextChange {
  readonly entry_id: string;
  /** How many messages were given then, too. */
  readonly kept: number;
  /** Places in `messages` of those that were not. */
  readonly added: readonly number[];
  /** Messages that were given then and no longer. */
  readonly removed: readonly GivenMessage[];
}

/** `given`: it lay before the model. `fell_out`: it had, for an earlier answer of the session. `never`: for none. */
type ToldVerdict = "given" | "fell_out" | "never";

/** What took a text away: a marker of the session, the length of history, or whoever put the context together. */
export type FallReason = "clear" | "consolidation" | "window" | "removed";

export interface Told {
  readonly verdict: ToldVerdict;
  readonly exact: boolean;
  /** The answer that is meant. */
  readonly answer: EntryPlace;
  /** Where it stands, in the order in which it was given; those nearest to the end where there are many. */
  readonly given: readonly GivenPlace[];
  /** The newest earlier answer that was given it, where it fell out. */
  readonly last_given?: EntryPlace;
  /** The first answer of the session that was given it. */
  readonly first_given?: EntryPlace;
  readonly why?: FallReason;
}

export interface GivenPlace {
  readonly entry_id?: string;
  /** Of the message; `system`, `tools` and `context_pack` for what lies beside the messages. */
  readonly role: string;
  readonly snippet: string;
  /** How many tokens followed it. */
  readonly tokens_from_end: number;
}

/** What is asked of an entry's answer, or why it cannot be asked of this one. */
export type OfAnswer<T> =
  | { readonly outcome: "found"; readonly found: T }
  | { readonly outcome: "erased" }
  | { readonly outcome: "no_answer"; readonly kind: string };
