// What spans and log records mean, in one form for all dialects.
import type { JsonObject, JsonValue } from "../model/json.js";
import type { LogItem, SpanItem } from "./telemetry-items.js";

/** A call to a model. */
export interface CallMeaning {
  readonly is: "call";
  /** All messages that were sent, in OpenAI's shape; empty where the sender left them out. */
  readonly messages: readonly JsonObject[];
  /** What the user said last, where it is known otherwise. */
  readonly prompt?: string | undefined;
  readonly system?: JsonValue | undefined;
  readonly tools?: JsonValue | undefined;
  /** The text of the answer; undefined where the sender left it out. */
  readonly response?: string | undefined;
  readonly tool_calls?: readonly JsonObject[];
  readonly reasoning?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  /** The provider's ids of the answer and of the request. */
  readonly message_id?: string | undefined;
  readonly request_id?: string | undefined;
  readonly usage?: JsonObject | undefined;
  readonly finish_reason?: string | undefined;
  readonly settings?: JsonObject | undefined;
  readonly first_token_ms?: number | undefined;
  readonly latency_ms?: number | undefined;
  readonly chunks?: readonly string[];
  readonly memories?: readonly string[];
  readonly error?: string | undefined;
  /** What nothing but this call has, where several spans and records tell of it. */
  readonly unique?: string | undefined;
}

/** A run of a tool. */
export interface ToolMeaning {
  readonly is: "tool";
  readonly tool: string;
  readonly args?: JsonValue | undefined;
  readonly result?: JsonValue | undefined;
  readonly call_id?: string | undefined;
  readonly is_error?: boolean | undefined;
  readonly duration_ms?: number | undefined;
  /** What nothing but this run has, where several spans and records tell of it. */
  readonly unique?: string | undefined;
  readonly extra?: JsonObject;
}

/** Documents that were looked up for a model. */
export interface RetrievalMeaning {
  readonly is: "retrieval";
  readonly documents: readonly string[];
}

/** Memories that were looked up or written. */
interface MemoryMeaning {
  readonly is: "memory";
  readonly records: readonly string[];
  /** Only what was looked up was given to a model. */
  readonly is_read: boolean;
}

/** An agent, a chain, a workflow: what others are part of. */
interface StepMeaning {
  readonly is: "step";
  /** What it would be if nothing inside of it is a call. */
  readonly alone?: CallMeaning | undefined;
}

/** Something said, as coding agents log it. */
export interface MessageMeaning {
  readonly is: "message";
  readonly role: "user" | "assistant";
  readonly content: string;
  readonly extra?: JsonObject;
}

interface ErrorMeaning {
  readonly is: "error";
  readonly error: string;
  readonly context?: string;
}

export type SpanMeaning = CallMeaning | ToolMeaning | RetrievalMeaning | MemoryMeaning | StepMeaning;

export type LogMeaning = CallMeaning | ToolMeaning | MessageMeaning | ErrorMeaning;

/** A log record, and what it means. */
export interface LogReading {
  readonly log: LogItem;
  readonly meaning: LogMeaning;
}

export interface Dialect {
  readonly name: string;
  /** What a span of this dialect means; undefined for spans of others. */
  readonly span?: (span: SpanItem) => SpanMeaning | undefined;
  /** What this dialect's records mean, of those that came together. */
  readonly logs?: (logs: readonly LogItem[], spans: readonly SpanItem[]) => readonly LogReading[];
}
