// What a model must be able to do that proposes memories: read a text, and answer.

export interface ModelQuestion {
  /** What it is to do; a document of the project. */
  readonly prompt: string;
  /** A part of a session, masked. */
  readonly text: string;
}

export type ModelReply =
  | { readonly text: string }
  /** It cannot read so much at once. */
  | { readonly too_long: true }
  /** Why its answer is none: it was asked, and would hardly answer better if it were asked the same again. */
  | { readonly unusable: string }
  /** Why it does not answer this very question, such as a filter; asked something else, it may answer. */
  | { readonly refused: string }
  /** Why there is no answer; asking again may help, after so long where a time is named, else in a later pass. */
  | {
      readonly failed: string;
      readonly retry_ms?: number /** Nothing of the question went out. */;
      readonly unsent?: true;
    };

/** An `AbortSignal`, also for programs that are compiled without the types of a platform that has one. */
export type Ending = typeof globalThis extends { AbortSignal: { prototype: infer Signal } } ? Signal : unknown;

export interface Extractor {
  /** Which model it is, as its user calls it: another one is another generation. */
  readonly model: string;
  /** The same for the audit, without what only its user should read. */
  readonly name: string;
  /** Sends the question once. After the signal nobody waits for the answer any more. */
  ask(question: ModelQuestion, signal?: Ending): Promise<ModelReply>;
}

/** Where the model is: an endpoint that speaks as OpenAI's does, or a command. */
export type ExtractorSettings =
  | { readonly url: string; readonly model: string; readonly key?: string | undefined }
  | { readonly via: string };
