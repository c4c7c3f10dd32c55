// The interface of a model that proposes memories.
import type { AbortSignalLike } from "../../model/abort-signal.js";
import type { JsonObject } from "../../model/json.js";

export interface ModelRequest {
  /** The instructions: docs/EXTRACTION_PROMPT.md. */
  readonly prompt: string;
  /** The digest of a session or a part of it, masked. */
  readonly text: string;
  /** The JSON Schema of the answer. */
  readonly schema?: JsonObject;
}

export type ModelReply =
  | { readonly text: string }
  /** The text is too long for it. */
  | { readonly too_long: true }
  /** Why the answer is unusable; asking the same again would hardly help. */
  | { readonly unusable: string }
  /** Why it refuses this text, such as a content filter; it may answer other texts. */
  | { readonly refused: string }
  /** Why there is no answer; retrying may help, after `retry_ms` or else in a later pass. */
  | {
      readonly failed: string;
      readonly retry_ms?: number;
      /** Whether nothing was sent. */
      readonly unsent?: true;
    };

export interface Extractor {
  /** The model's name as its user writes it; another name is another generation. */
  readonly model: string;
  /** The name for audit entries, without anything secret. */
  readonly name: string;
  /** Sends the request once; the signal aborts it. */
  ask(request: ModelRequest, signal?: AbortSignalLike): Promise<ModelReply>;
}

/** Where the model is: an OpenAI-compatible endpoint, or a command. */
export type ExtractorSettings =
  | { readonly url: string; readonly model: string; readonly key?: string | undefined }
  | { readonly via: string };
